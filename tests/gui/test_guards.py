"""Every override of a Qt virtual in the GUI is guarded: on Python 3.11 an exception leaving one ends the process."""

from __future__ import annotations

import ast
import importlib
import types
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget

import tapeviz.gui
from tapeviz.gui.painting import guarded

ROOT = Path(tapeviz.gui.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))


def unguarded(tree: ast.Module, module: types.ModuleType) -> list[str]:
    """Methods without the guard whose name a Qt class among the bases has too."""
    found = []
    for node in tree.body:
        cls = getattr(module, node.name, None) if isinstance(node, ast.ClassDef) else None
        if not isinstance(node, ast.ClassDef) or not isinstance(cls, type):
            continue
        qt = [base for base in cls.__mro__[1:] if base.__module__.startswith("PySide6.")]
        for method in node.body:
            overrides = isinstance(method, ast.FunctionDef) and not method.name.startswith("__") and any(
                hasattr(base, method.name) for base in qt)
            if overrides and isinstance(method, ast.FunctionDef) and not _is_guarded(method):
                found.append(f"{node.name}.{method.name}, line {method.lineno}")
    return found


def _is_guarded(method: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Call) and isinstance(d.func, ast.Name) and d.func.id == "guarded"
               for d in method.decorator_list)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_overrides_are_guarded(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    name = ".".join(("tapeviz", "gui", *(part for part in parts if part != "__init__")))
    assert unguarded(ast.parse(path.read_text(encoding="utf-8")), importlib.import_module(name)) == []


SEEDED = """
class Careless(QWidget):
    def paintEvent(self, event): pass
    @guarded()
    def event(self, event): return False
    def own_method(self): pass
"""


def test_the_lint_sees_an_unguarded_override() -> None:
    module = types.ModuleType("seeded")
    module.__dict__.update(QWidget=QWidget, guarded=guarded)
    exec(SEEDED, module.__dict__)
    assert unguarded(ast.parse(SEEDED), module) == ["Careless.paintEvent, line 3"]
    assert len(FILES) > 30
