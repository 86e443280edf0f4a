"""The one door to the files that ship with the program: icons, fonts, examples, data."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_PLACES = (_PACKAGE / "_resources", _PACKAGE.parent / "resources")   # in a wheel, in a checkout


def resource(*parts: str) -> Path:
    """Path of a shipped file or folder, e.g. `resource("examples", "chain_rule.py")`.

    Raises FileNotFoundError that names every place looked at.
    """
    for place in _PLACES:
        path = place.joinpath(*parts)
        if path.exists():
            return path
    looked = " and ".join(str(place.joinpath(*parts)) for place in _PLACES)
    raise FileNotFoundError(f"tapeviz misses one of its own files: looked for {looked}")
