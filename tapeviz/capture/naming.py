"""Names for variables and tensors that were given none: what the user's program calls them."""

from __future__ import annotations

from collections.abc import Iterator
from types import FrameType, FunctionType, ModuleType

import numpy as np

_DEEPEST = 3          # model.blocks[0].w
_MOST_OBJECTS = 20_000
_LONGEST = 400        # elements of one container that are looked at
_ATOMS = (str, bytes, int, float, complex, bool, type(None), type, ModuleType, FunctionType, np.ndarray, np.generic)
_PLAIN, _PATH, _PASSED_PATH, _PASSED = range(4)   # how much a name is worth, best first


def names_in(frames: list[FrameType], loops: frozenset[str]) -> dict[int, str]:
    """The best name of every object that the frames can reach, by id(); valid while nothing is freed.

    A variable's own name is best (`W`), then the container that holds it (`params[3]`, `model.w1`), then what a
    function received it as or a loop happens to call it.  `loops`: names that only loops bind.
    """
    best: dict[int, tuple[int, int, str]] = {}
    seen = 0
    for scope, passed in _scopes(frames):
        for name, value in list(scope.items()):
            if name.startswith("__") or not name.isidentifier() or isinstance(value, _ATOMS):
                continue
            weak = name in passed or name in loops or name == "self"
            for depth, path, found in _walk(value, name):
                seen += 1
                if seen > _MOST_OBJECTS:
                    return {key: text for key, (_, _, text) in best.items()}
                rank = (_PASSED if weak else _PLAIN) if depth == 0 else (_PASSED_PATH if weak else _PATH)
                offer = (rank, depth, path)
                if id(found) not in best or offer[:2] < best[id(found)][:2]:
                    best[id(found)] = offer
    return {key: text for key, (_, _, text) in best.items()}


def _scopes(frames: list[FrameType]) -> Iterator[tuple[dict[str, object], frozenset[str]]]:
    """Locals of each function, then globals of each module, with the names that are parameters."""
    modules: dict[int, dict[str, object]] = {}
    for frame in frames:
        code = frame.f_code
        if frame.f_locals is not frame.f_globals:
            count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
            yield frame.f_locals, frozenset(code.co_varnames[:count])
        modules[id(frame.f_globals)] = frame.f_globals
    for scope in modules.values():
        yield scope, frozenset()


def _walk(value: object, path: str) -> Iterator[tuple[int, str, object]]:
    """The object and what it holds, breadth first: depth, path, object."""
    level: list[tuple[str, object]] = [(path, value)]
    for depth in range(_DEEPEST + 1):
        following: list[tuple[str, object]] = []
        for at, thing in level:
            yield depth, at, thing
            if depth < _DEEPEST:
                following.extend(_members(at, thing))
        level = following


def _members(path: str, thing: object) -> list[tuple[str, object]]:
    if isinstance(thing, (list, tuple)):
        named = getattr(thing, "_fields", None)
        pairs = [(f"{path}.{named[i]}" if named else f"{path}[{i}]", part) for i, part in enumerate(thing[:_LONGEST])]
    elif isinstance(thing, dict):
        keys = [key for key in list(thing)[:_LONGEST] if isinstance(key, (str, int))]
        pairs = [(f'{path}["{key}"]' if isinstance(key, str) else f"{path}[{key}]", thing[key]) for key in keys]
    elif type(thing).__module__.partition(".")[0] in ("gradtape", "builtins", "numpy"):
        pairs = []    # what a tape or an optimizer holds is named elsewhere
    else:
        attributes = getattr(thing, "__dict__", None)
        if not isinstance(attributes, dict):
            return []
        pairs = [(f"{path}.{key}", part) for key, part in list(attributes.items())[:_LONGEST]]
    return [(at, part) for at, part in pairs if not isinstance(part, _ATOMS)]
