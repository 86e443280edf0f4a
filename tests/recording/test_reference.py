"""The page about the format says what the code does: its tables, its records, its example."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from tapeviz.recording.reference import updated
from tapeviz.recording.schema import RECORDS, SCHEMA
from tests.recording.synthetic import make_recording

PAGE = Path(__file__).parents[2] / "docs" / "recording-format.md"


@pytest.fixture(scope="module")
def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_the_reference_is_that_of_the_code(page: str) -> None:
    assert page == updated(page), "write updated(page) into docs/recording-format.md"
    for kind, layout in RECORDS.items():
        assert f"### `{kind}` " in page
        assert all(f"| `{field}` |" in page for field in layout.names or ())


def test_every_table_and_column_is_there(page: str) -> None:
    database = sqlite3.connect(":memory:")
    database.executescript(SCHEMA)
    for (table,) in database.execute("SELECT name FROM sqlite_master").fetchall():
        columns = [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
        assert f"| `{table}` | {', '.join(columns)} |" in page
    database.close()


def test_the_example_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                          capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(code.splitlines()) <= 11   # ten lines and a blank one
    make_recording(tmp_path / "run.tapeviz", iterations=2)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(code, names)   # it is what a reader of the page would type
    names["db"].close()   # type: ignore[attr-defined]  # the example's connection
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 10
    assert lines[2].split()[:2] == ["2", "sigmoid"]
