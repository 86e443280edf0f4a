"""The dependency rule, seen from fresh interpreters: what an import of each part drags in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAVY = ("PySide6", "pyqtgraph", "ziamath", "cupy", "torch", "tensorflow", "matplotlib", "scipy")


def loaded_after(statement: str) -> set[str]:
    """Top-level packages in `sys.modules` after a statement in a fresh interpreter."""
    code = f"{statement}\nimport sys; print(*{{name.partition('.')[0] for name in sys.modules}})"
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environ, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "forbidden"),
    [
        ("import gradtape", {"tapeviz", *HEAVY}),
        ("import tapeviz.recording.reader, tapeviz.recording.writer", {"gradtape", *HEAVY}),
        ("import tapeviz.analysis.findings, tapeviz.analysis.steps, tapeviz.analysis.series", {"gradtape", *HEAVY}),
        ("import tapeviz.capture.launcher", {"gradtape", *HEAVY}),
        ("import tapeviz.capture.worker", set(HEAVY)),
        ("import tapeviz.cli.commands", {"gradtape", *HEAVY}),
    ],
)
def test_import_stays_light(statement: str, forbidden: set[str]) -> None:
    assert not loaded_after(statement) & forbidden
