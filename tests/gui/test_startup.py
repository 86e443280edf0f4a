"""The window is there quickly: what is slow to import is imported when it is first drawn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys, time
start = time.perf_counter()
from tapeviz.gui.app import make_application, make_window
from tapeviz.gui.session import Session
application = make_application()
session = Session()
window = make_window(session)
window.show()
application.processEvents()
took = time.perf_counter() - start
slow = [name for name in ("pyqtgraph", "ziamath", "scipy", "matplotlib", "networkx", "pandas", "gradtape",
                          "PySide6.QtTest", "PySide6.QtOpenGL") if name in sys.modules]
print(took, *slow)
window.close()
session.close()
"""


def test_first_show_imports_nothing_slow() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    took, *slow = done.stdout.split()
    assert slow == []
    assert float(took) < 8      # 0.8 s is the aim; the machines that run this are shared
