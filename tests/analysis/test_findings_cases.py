"""The case programs, rewritten from public reports: right diagnosis first, right line, iteration; no false alarm."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.analysis.recorded import CASES, findings_of, problems_of


def rows() -> list[tuple[Path, dict[str, str]]]:
    """Every case: its folder and its row of the table."""
    return [(folder, row) for folder in (CASES, CASES / "extra")
            for row in csv.DictReader((folder / "cases.csv").read_text(encoding="utf-8").splitlines())]


FAULTY = [(folder, row) for folder, row in rows() if row["expected_diagnosis"] != "healthy"]
HEALTHY = [folder / row["file"] for folder, row in rows() if row["expected_diagnosis"] == "healthy"]
REPAIRED = [folder / row["fixed_variant"] for folder, row in FAULTY]


def test_the_table_is_complete() -> None:
    assert len(FAULTY) == 26
    assert len(HEALTHY) == 10
    assert all(path.exists() for path in REPAIRED)


@pytest.mark.parametrize(("folder", "row"), FAULTY, ids=lambda x: x["id"] if isinstance(x, dict) else None)
def test_faulty(folder: Path, row: dict[str, str]) -> None:
    findings = findings_of((folder / row["file"]).read_text(encoding="utf-8"))
    assert findings
    first = findings[0]
    assert first.id == row["expected_diagnosis"]
    assert first.severity in ("error", "warning")
    assert first.line in (int(row["guilty_line"]), int(row["op_line"]))
    if row["first_bad_iteration"]:
        assert abs(first.iteration - int(row["first_bad_iteration"])) <= 1
    assert first.message
    assert first.fix


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_healthy(path: Path) -> None:
    assert not problems_of(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", REPAIRED, ids=lambda path: path.stem)
def test_repaired(path: Path) -> None:
    assert not problems_of(path.read_text(encoding="utf-8"))
