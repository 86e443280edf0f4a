"""`make bench`: measure every figure beside its reference and write the table of docs/performance.md."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

# One BLAS thread: the figures are ratios on one core.  Set before NumPy is imported; the two OPENBLAS_* switches name
# an older kernel on some machines and slow the reference and gradtape alike.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)
os.environ["QT_QPA_PLATFORM"] = "offscreen"

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "engine")]
if TYPE_CHECKING:
    from tests.benchmarks.figures import Figure
MODULES = ("engine", "recorder", "file", "window")   # each has figures() -> list[Figure]
PAGE = ROOT / "docs" / "performance.md"
BEGIN, END = "<!-- figures: written by `make bench` -->", "<!-- end of figures -->"


def main(chosen: list[str]) -> int:
    """Measure the modules named (default: all), print, and write the page when all were measured."""
    figures: list[Figure] = []
    for name in chosen or MODULES:
        measure: Callable[[], list[Figure]] = importlib.import_module(f"tests.benchmarks.{name}").figures
        for figure in measure():
            figures.append(figure)
            print(f"{figure.name:58} {figure.value:10.3g} {figure.unit:8} goal {figure.goal:22} "
                  f"{'met' if figure.met else 'MISSED':7} {figure.reference}", flush=True)
    if not chosen:
        page = PAGE.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        PAGE.write_text(head + BEGIN + "\n" + table(figures) + END + rest.partition(END)[2], encoding="utf-8")
        print(f"written to {PAGE.relative_to(ROOT)}")
    return 0


def table(figures: list[Figure]) -> str:
    """The figures as a Markdown table."""
    rows = [f"Python {platform.python_version()}, {os.cpu_count()} cores, `make bench`.", "",
            "| what | measured | goal | | beside |", "|---|---:|---|---|---|"]
    rows += [f"| {f.name} | {f.value:.3g} {f.unit} | {f.goal} | {'met' if f.met else 'missed'} | {f.reference} |"
             for f in figures]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
