"""Formulas of real operations with the user's names can be set by the renderer that the window uses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from tapeviz.analysis.formulas import letters, result_symbol, rule, title
from tapeviz.analysis.names import barred, substitute, tidy_bars
from tapeviz.analysis.steps import step_card, steps_of
from tapeviz.recording.rows import Kind

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)      # ziamath 0.13 finds its font in a deprecated way
    from ziamath import zmath

ROOT = Path(__file__).parents[2]
NAMES = ("h_{8}", r"\mathrm{hidden\_state}")


@pytest.mark.parametrize(("formula", "arguments", "symbol"), [
    (r"Y = A\,B", ("a", "b"), "Y"), (r"a \, b", ("a", "b"), "y"), ("a = b", ("a", "b"), "y"),
    (r"y_i = \prod_{k \leq i} x_k", ("x",), "y"), ("", ("x",), "y"),
])
def test_the_letter_of_the_result(formula, arguments, symbol):
    assert result_symbol(Kind(0, "op", formula, arguments, (), 0)) == symbol


def test_titles_and_rules_of_a_training(trained):
    op = trained.ops_of(3).start
    assert title(trained, op) == "matmul  x @ W1"
    assert title(trained, op + 2) == "sigmoid  add 2"
    assert rule(trained, op, 1).shapes == "[8,8] += [8,6] · [6,8]"
    assert letters(trained, op).operands == ("x", "W_{1}")


def test_every_formula_of_a_training_can_be_set(trained):
    for step in range(len(steps_of(trained, 3))):
        card = step_card(trained, 3, step)
        for latex in (card.formula, *(r.latex for r in card.rules), *(barred(o.latex) for o in card.operands)):
            assert "<svg" in zmath.Latex(latex, size=20).svg()


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_the_engine_can_be_set_with_any_name(engine_table, name):
    broken = []
    for kind in engine_table:
        names = {argument: name for argument in kind["arguments"] if len(argument) == 1} | {"y": "h_{3}"}
        for latex in (kind["formula"], *kind["vjps"]):
            if latex:
                text = tidy_bars(substitute(latex, names))
                try:
                    zmath.Latex(text, size=20).svg()
                except Exception as error:      # noqa: BLE001 - whatever it raises, the formula is to be named
                    broken.append(f"{kind['name']}: {latex} became {text}: {error!r}")
    assert broken == []


@pytest.fixture(scope="module")
def engine_table():
    """The formulas of all ops, asked of the engine in a process of its own: the analysis does not know it."""
    code = ("import json, gradtape.ops.registry as r, gradtape\n"
            "print(json.dumps([dict(name=o.name, formula=o.formula, arguments=o.arguments, vjps=o.vjp_formulas) "
            "for o in r.OPS.values()]))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "engine")})
    return json.loads(done.stdout)
