"""The graph of an iteration: boxes, edges, what flowed back and where the pass stands."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis.graph import NodeKind, StepState, build_graph, cancellation, step_states
from tapeviz.analysis.index import pass_index
from tapeviz.analysis.magnitude import Special
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE, Role, What
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import Training, make_recording


@pytest.fixture
def graph(trained):
    return build_graph(trained, 3)


def by_label(graph):
    return {node.label: node for node in graph.nodes}


def test_operations_variables_and_named_constants_have_boxes(graph):
    kinds = [node.kind for node in graph.nodes]
    assert kinds.count(NodeKind.OP) == 20          # the updates after the gradient call are left out
    assert kinds.count(NodeKind.VARIABLE) == 10
    assert {"x", "y", "W1", "b5", "scale"} <= by_label(graph).keys()
    assert by_label(graph)["W1"].shape == "[8,8]"


def test_boxes_are_in_topological_order_and_edges_join_what_the_operations_read(trained, graph):
    for edge in graph.edges:
        assert edge.source < edge.target
        reader = graph.nodes[edge.target].op
        assert trained.op_inputs(reader)[edge.slot] == edge.tensor


def test_gradients_of_boxes_are_those_of_the_recording(trained, graph):
    for node in graph.nodes:
        if node.kind is NodeKind.OP and node.step is not None:
            assert node.gradient.norm == trained.stat(node.tensor, What.COTANGENT, pass_=3)["l2"]
        if node.kind is NodeKind.VARIABLE:
            assert node.gradient.norm == trained.stat(node.tensor, What.GRADIENT, pass_=3)["l2"]


def test_steps_number_the_boxes_from_the_loss(graph):
    losses = [node for node in graph.nodes if node.loss]
    assert [node.step for node in losses] == [0]
    steps = [node.step for node in graph.nodes if node.step is not None]
    assert sorted(steps) == list(range(graph.steps))


def test_contributions_of_edges_sum_to_the_gradient_of_their_source(trained, graph):
    """Every box with one outgoing edge has exactly that contribution as its gradient."""
    for i, node in enumerate(graph.nodes):
        out = [edge for edge in graph.edges if edge.source == i and edge.step is not None]
        assert len(out) == node.arrivals
        if len(out) == 1:
            assert out[0].contribution.norm == pytest.approx(node.gradient.norm, rel=1e-6)


def test_what_takes_no_part_in_the_pass_is_unreachable_and_has_no_gradient(graph):
    nodes = by_label(graph)
    for label in ("x", "y", "scale", "sqrt"):
        assert not nodes[label].reachable
        assert nodes[label].gradient.special is Special.NONE


def test_fan_ins_know_how_much_cancels(graph):
    difference = by_label(graph)["subtract"]
    assert difference.arrivals == 2
    assert difference.cancelled == pytest.approx(0.0, abs=1e-6)
    assert cancellation(0.37, [0.5, 0.5]) == pytest.approx(0.63)
    assert cancellation(0.5, [0.5]) is None
    assert cancellation(float("nan"), [1.0, 1.0]) is None


def test_iterations_of_one_training_have_one_structure_and_equal_keys(trained):
    first, later = build_graph(trained, 0), build_graph(trained, 7)
    assert first.structure == later.structure
    assert [node.key for node in first.nodes] == [node.key for node in later.nodes]


def test_while_stepping_boxes_go_from_pending_to_done(graph):
    before = {node.key: StepState.PENDING for node in graph.nodes}
    rank = {StepState.PENDING: 0, StepState.NEXT: 1, StepState.CURRENT: 2, StepState.DONE: 3}
    for step in range(graph.steps):
        states, arrived = step_states(graph, step)
        assert [s for s in states if s is StepState.CURRENT] == [StepState.CURRENT]
        for node, state, n in zip(graph.nodes, states, arrived, strict=True):
            if node.reachable:
                assert rank[state] >= rank[before[node.key]]
                before[node.key] = state
            assert n <= node.arrivals
    assert all(state is StepState.DONE for node, state in zip(graph.nodes, step_states(graph, None)[0], strict=True)
               if node.reachable)


def test_a_variable_with_many_consumers_has_a_box_for_each(tmp_path):
    with Writer(tmp_path / "hub.tapeviz", {}) as writer:
        training = Training(writer, 1, 4, 0.1, None, True, False)
        writer.iteration(0, 0, 0, 0, 0, 0)
        w = training.tensor_of[0]
        a, value = training._leaf(training.data, Role.CONSTANT, "x"), training.data
        for _ in range(6):
            a, value = training.op("matmul", value[:, :3] @ training.params[0].T, (a, w), tape=0)
        writer.close()
    with open_recording(tmp_path / "hub.tapeviz") as recording:
        graph = build_graph(recording, 0)
        chips = [i for i, node in enumerate(graph.nodes) if node.variable == 0]
        assert len(chips) == 6
        assert {graph.nodes[i].tensor for i in chips} == {w}
        assert sorted(edge.target for edge in graph.edges if edge.source in chips) == [
            i for i, node in enumerate(graph.nodes) if node.kind is NodeKind.OP]


def test_before_any_gradient_call_nothing_is_unreachable(tmp_path):
    with Writer(tmp_path / "forward.tapeviz", {}) as writer:
        training = Training(writer, 2, 4, 0.1, None, True, False)
        writer.iteration(0, 0, 0, 0, 0, 0)
        training._forward(0)
        writer.flush()
        with open_recording(tmp_path / "forward.tapeviz") as recording:
            graph = build_graph(recording, 0)
            assert graph.pass_ is None
            assert all(node.reachable and not node.gradient.known for node in graph.nodes)
            assert not graph.complete
            assert all(state is StepState.PENDING for state in step_states(graph, None)[0])


def test_a_growing_iteration_only_adds_boxes(tmp_path):
    with Writer(tmp_path / "live.tapeviz", {}) as writer:
        training = Training(writer, 3, 4, 0.1, None, True, False)
        writer.iteration(0, 0, 0, 0, 0, 0)
        seen: list[tuple[object, ...]] = []
        with open_recording(tmp_path / "live.tapeviz") as recording:
            x, value = training._leaf(training.data, Role.CONSTANT, "x"), training.data
            for layer in range(3):
                w = training.tensor_of[2 * layer]
                x, value = training.op("matmul", value @ training.params[2 * layer], (x, w), tape=0)
                writer.flush()
                recording.poll()
                keys = [node.key for node in build_graph(recording, 0).nodes]
                assert keys[:len(seen)] == seen
                assert len(keys) > len(seen)
                seen = keys


def test_a_nan_is_a_nan(broken):
    graph = build_graph(broken, 4)
    assert any(node.gradient.special is Special.NAN for node in graph.nodes)
    assert not any(node.gradient.special is Special.NAN for node in build_graph(broken, 3).nodes)


def test_an_iteration_that_does_not_exist_is_empty(trained):
    assert build_graph(trained, 99).nodes == ()


def test_without_contributions_the_flow_is_known_from_the_steps(tmp_path):
    path = make_recording(tmp_path / "bulk.tapeviz", iterations=2, ops_per_iteration=40)
    with open_recording(path) as recording:
        graph = build_graph(recording, 1)
        assert graph.steps > 0
        assert sum(edge.step is not None for edge in graph.edges) > 0
        assert all(np.isfinite(edge.contribution.norm) or edge.contribution.special for edge in graph.edges)


def test_contributions_sum_to_the_cotangent_with_elements(trained):
    """The invariant of every recording, element by element."""
    index = pass_index(trained, 5)
    checked = 0
    for tensor, flows in index.received.items():
        parts = [trained.value(tensor, What.CONTRIBUTION, 5, op, slot) for op, slot in flows]
        variable = int(trained.tensors["variable"][tensor]) != NONE
        whole = trained.value(tensor, What.GRADIENT if variable else What.COTANGENT, 5)
        np.testing.assert_allclose(np.sum(parts, axis=0), whole, rtol=1e-6)
        checked += 1
    assert checked > 20
