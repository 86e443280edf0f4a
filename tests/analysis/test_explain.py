"""Explanations of elements: the products are of recorded numbers and add up, for the ops of the real engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tapeviz.analysis.explain import Term, explain_element, terms_text
from tapeviz.analysis.graph import StepState, build_graph, step_states
from tapeviz.analysis.steps import step_card, steps_of
from tapeviz.capture.launcher import RunConfig, run_headless
from tapeviz.recording.reader import Recording, open_recording
from tests.recording.synthetic import make_recording

SCRIPT = '''
import numpy as np
import gradtape as gt

rng = np.random.default_rng(0)
def variable(name, *shape):
    return gt.Variable(rng.uniform(0.3, 0.9, shape), name=name)

a, b, c = variable("a", 3, 4), variable("b", 4, 2), variable("c", 4)
v, t = variable("v", 4), variable("t", 2, 3, 4)
unary = [gt.sin, gt.cos, gt.tan, gt.exp, gt.log, gt.sqrt, gt.square, gt.tanh, gt.sigmoid, gt.relu, gt.softplus,
         gt.negative, gt.reciprocal, gt.arctan, gt.arcsin, gt.sinh, gt.cosh, gt.log1p, gt.expm1, gt.abs, gt.erf]
with gt.GradientTape() as tape:
    total = gt.sum(a @ b) + gt.sum(a @ v) + gt.sum(v @ b) + gt.sum((v @ c)) + gt.sum(t @ b)
    total = total + gt.sum(a @ gt.transpose(t, (0, 2, 1)))
    for f in unary:
        total = total + gt.sum(f(a) * c)
    total = total + gt.sum(a / c - c * a + a ** 2.0) + gt.sum(gt.maximum(a, 0.6) + gt.minimum(c, a) + gt.hypot(a, c))
    total = total + gt.mean(a * a, axis=0)[1] + gt.sum(gt.mean(t, axis=(0, 2)) ** 2.0)
    total = total + gt.mean(t, axis=1, keepdims=True)[0, 0, 2]
    total = total + gt.sum(gt.softmax(a) * c) + gt.sum(gt.where(a > 0.5, a * a, c))
    total = total + gt.sum(gt.reshape(a, (2, 6)) ** 3.0) + gt.sum(gt.leaky_relu(a - 0.6) * c)
    total = total + gt.sum(gt.clip(a, 0.4, 0.7) * c)
    labels = np.eye(4)[[0, 2, 1]]
    total = total + gt.sum(gt.nn.softmax_cross_entropy(labels, a) * variable("k", 3)) + gt.sum(gt.cumsum(a, axis=1) * a)
grads = tape.gradient(total, [a, b, c, v, t])
'''
MIXING = {"cumsum"}     # its explanation is a sentence


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    script = Path(folder / "many_ops.py")
    script.write_text(SCRIPT)
    assert run_headless(RunConfig(script=script, recording=folder / "ops.tapeviz", level="values"), echo=False) == 0
    with open_recording(folder / "ops.tapeviz") as opened:
        yield opened


def explanations(recording: Recording) -> Iterator[Any]:
    for step in range(len(steps_of(recording, 0))):
        card = step_card(recording, 0, step)
        for entry in card.contributions:
            assert entry.target.value is not None
            for index in np.ndindex(entry.target.value.shape):
                yield card, entry, index, explain_element(card, entry.slot, index)


def test_terms_add_up_to_the_number_that_is_shown(recording):
    explained = set()
    for card, entry, index, why in explanations(recording):
        assert why is not None
        assert why.value == entry.target.value[index]
        if why.terms:
            explained.add(card.op_name)
            size = max(abs(term.value) for term in why.terms)
            assert why.total == pytest.approx(why.value, rel=1e-6, abs=1e-6 * size)
        elif card.op_name not in MIXING:
            pytest.fail(f"{card.op_name} slot {entry.slot} {index} has no explanation")
    assert {"matmul", "softmax", "mean", "sum", "where", "divide", "power", "transpose", "getitem", "reshape",
            "softmax_cross_entropy", "clip", "leaky_relu"} <= explained


def test_terms_are_elements_of_what_is_shown(recording):
    """Their indices lead to the incoming gradient and the local derivative beside it."""
    for card, _, _, why in explanations(recording):
        cotangent = card.cotangents[0].value
        for term in why.terms:
            assert cotangent[term.incoming] == pytest.approx(term.cotangent)
            if term.local is not None and why.local is not None and card.op_name != "matmul":
                assert why.local[term.local] == pytest.approx(term.factor)


def test_a_matrix_product_is_shown_with_the_other_operand_transposed(recording):
    for card, entry, index, why in explanations(recording):
        left, right = card.operands[0].shape, card.operands[1].shape if len(card.operands) > 1 else ()
        if card.op_name == "matmul" and len(left) == len(right) == 2:
            other = card.operands[1 - entry.slot].value.T
            np.testing.assert_array_equal(why.local, other)
            whole = card.cotangents[0].value @ other if entry.slot == 0 else other @ card.cotangents[0].value
            np.testing.assert_allclose(whole, entry.target.value)
            assert why.local_first == (entry.slot == 1)
            for term in why.terms:
                assert why.local[term.local] == term.factor
                assert (term.incoming[0] == index[0]) if entry.slot == 0 else (term.incoming[1] == index[1])


def test_mixing_operations_get_a_sentence(recording):
    texts = {why.text for card, _, _, why in explanations(recording) if card.op_name == "cumsum" and not why.terms}
    assert texts == {"cumsum mixes many elements here; its rule as a whole gives [3,4] += [3,4]."}


def test_the_graph_of_a_real_recording_has_every_contribution(recording):
    graph = build_graph(recording, 0)
    assert graph.steps == len(steps_of(recording, 0))
    for i, node in enumerate(graph.nodes):
        flows = [edge for edge in graph.edges if edge.source == i and edge.step is not None]
        if len(flows) == node.arrivals == 1 and node.gradient.special is None:
            assert flows[0].contribution.norm == pytest.approx(node.gradient.norm, rel=1e-6)
    used = [node for node in graph.nodes if node.label == "a"]
    assert len(used) > 20
    flowing = [edge for edge in graph.edges if edge.step is not None and edge.tensor == used[0].tensor]
    assert {node.arrivals for node in used} == {len(flowing)}
    states, _ = step_states(graph, graph.steps - 1)
    assert {states[i] for i, node in enumerate(graph.nodes) if node.label == "a"} == {StepState.DONE}


def test_without_elements_there_is_nothing_to_explain(tmp_path):
    path = make_recording(tmp_path / "stats.tapeviz", iterations=1, layers=2, values=False)
    with open_recording(path) as opened:
        assert explain_element(step_card(opened, 0, 4), 0, (0, 0)) is None


def test_an_element_that_does_not_exist_is_an_index_error(trained):
    with pytest.raises(IndexError):
        explain_element(step_card(trained, 3, 4), 0, (1000, 0))


@pytest.mark.parametrize(("terms", "first", "text"), [
    ([(-0.194, 0.486), (0.059, -0.236)], False, "\u22120.194·0.486 + 0.059·(\u22120.236)"),
    ([(0.5, 1.0), (-0.25, 1.0)], False, "0.5 \u2212 0.25"),
    ([(-0.5, 2.0)], True, "2·(\u22120.5)"),
    ([(1e-9, 2.0)], False, "1.00e\u22129·2"),
    ([(1.0, 2.0)] * 10, False, " + ".join(["1·2"] * 8) + " + (2 more terms: 4)"),
])
def test_how_terms_are_written(terms, first, text):
    assert terms_text([Term(g, f, (), None) for g, f in terms], factor_first=first) == text
