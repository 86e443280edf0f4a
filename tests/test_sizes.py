"""No file outgrows its one job: 500 lines at most."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [
    path
    for folder in ("engine", "tapeviz", "tests", "resources/examples")
    for path in sorted((ROOT / folder).rglob("*.py"))
    if "data" not in path.parts
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_file_has_at_most_500_lines(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= 500, f"{path.name} has {lines} lines: split it"


def test_the_guard_sees_files() -> None:
    assert len(FILES) > 50
