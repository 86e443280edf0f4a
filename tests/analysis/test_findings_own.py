"""Programs of our own, from another seed than they were written with: mistakes, and trainings that only look so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.networks import marked
from tests.analysis.recorded import CASES, findings_of, problems_of

FAULTY = sorted((CASES / "own" / "faulty").glob("*.py"))
HEALTHY = sorted((CASES / "own" / "healthy").glob("*.py"))


def with_seed(path: Path, seed: int) -> str:
    """The program, started from another random state."""
    return path.read_text(encoding="utf-8").replace("default_rng(0)", f"default_rng({seed})")


def test_programs_are_there() -> None:
    assert len(FAULTY) > 15
    assert len(HEALTHY) > 20


@pytest.mark.parametrize("path", FAULTY, ids=lambda path: path.stem)
def test_mistake_is_named(path: Path) -> None:
    """The first line says which diagnosis is right, "# here" marks the lines that may be named."""
    text = with_seed(path, 7)
    first = findings_of(text)[0]
    assert first.id in text.splitlines()[0].removeprefix("# expect: ").split(" or ")
    assert first.severity != "info"
    if marked(text):
        assert first.line in marked(text)


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_no_alarm(path: Path) -> None:
    assert not problems_of(with_seed(path, 7))
