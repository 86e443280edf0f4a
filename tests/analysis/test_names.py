"""Names in text and in LaTeX, and formulas in which they stand."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from tapeviz.analysis.names import barred, latex_name, own_name, substitute, tensor_text, tidy_bars


@pytest.mark.parametrize(("name", "latex"), [
    ("h8", "h_{8}"), ("W9", "W_{9}"), ("w", "w"), ("sigma", r"\sigma"), ("beta_1", r"\beta_{1}"), ("Wx", "W_{x}"),
    ("loss", r"\mathrm{loss}"), ("dense_1/kernel:0", r"\mathrm{kernel}"), ("params[3]", r"\mathrm{params}_{3}"),
    ("hidden_state", r"\mathrm{hidden\_state}"), ("0.5", "0.5"), ("W_12", "W_{12}"),
])
def test_names_become_letters_with_indices(name, latex):
    assert latex_name(name) == latex


@pytest.mark.parametrize(("formula", "names", "result"), [
    (r"\bar{y}\,b^\top", {"y": "z", "b": "W_{9}"}, r"\bar{z}\,W_{9}^\top"),
    (r"\bar y \, b^{\mathsf T}", {"y": "h_{8}", "b": "W"}, r"\bar{h_{8}} \, W^{\mathsf T}"),
    (r"\max(a, b)", {"a": "x", "m": "q"}, r"\max(x, b)"),
    (r"e^x", {"x": "h_{8}"}, r"e^{h_{8}}"),
    (r"\sum_k x_k", {"x": "h_{8}"}, r"\sum_k h_{8,k}"),
    (r"\operatorname{softmax} x", {"x": "z", "s": "q"}, r"\operatorname{softmax} z"),
    (r"\ln x", {"x": "z"}, r"\ln z"),
    (r"\mathrm{not}\ c", {"n": "q", "c": r"\gamma"}, r"\mathrm{not}\ \gamma"),
    ("xy", {"x": "a", "y": "b"}, "ab"),
    ("x1 + x2", {"x1": "u", "x2": "v"}, "u + v"),
    (r"\sin" + "x", {"x": "q"}, r"\sin" + "x"),
])
def test_operands_take_the_place_of_arguments(formula, names, result):
    assert substitute(formula, names) == result


@given(st.text(alphabet=r"\abcxy{}^_ ()+,", max_size=30))
def test_without_names_a_formula_stays_as_it_is(formula):
    assert substitute(formula, {}).replace(" ", "") == formula.replace(" ", "") or "_" in formula


def test_the_bar_stands_over_the_letter():
    assert barred("h_{8}") == r"\bar{h}_{8}"
    assert barred(r"\mathrm{loss}") == r"\bar{\mathrm{loss}}"
    assert tidy_bars(r"\bar{W_{9}} x") == r"\bar{W}_{9} x"


def test_what_has_no_name_is_called_by_its_operation(trained):
    op = trained.ops_of(3).start + 1
    output = trained.op_outputs(op)[0]
    assert own_name(trained, output) == ""
    assert tensor_text(trained, output) == "add 2"
    weight = trained.op_inputs(trained.ops_of(3).start)[1]
    assert (own_name(trained, weight), tensor_text(trained, weight)) == ("W1", "W1")
    assert tensor_text(trained, 10**7) == "?"
