"""Large graphs folded to what fits a screen."""

from __future__ import annotations

import pytest

from tapeviz.analysis.arrange import layout_of
from tapeviz.analysis.folding import fold
from tapeviz.analysis.graph import Graph, NodeKind, StepState, step_states
from tests.analysis.graphs import graph_of
from tests.analysis.shapes import mlp, recurrent, scattered, transformer
from tests.analysis.test_layout import overlapping

LARGE = {"transformer": transformer(40), "recurrent": recurrent(250), "scattered": scattered(3000, 5)}


def groups(graph: Graph) -> list[int]:
    return [i for i, node in enumerate(graph.nodes) if node.kind is NodeKind.GROUP]


@pytest.mark.parametrize("shape", LARGE.values(), ids=LARGE.keys())
@pytest.mark.parametrize("limit", [40, 200, 1000])
def test_a_folded_graph_fits_and_has_no_cycle(shape, limit):
    whole = graph_of(shape)
    graph = fold(whole, limit)
    joined = {end for edge in graph.edges for end in (edge.source, edge.target)}
    assert len(joined) <= 1.25 * limit
    assert all(edge.source < edge.target for edge in graph.edges)
    assert overlapping(layout_of(graph)) == []


@pytest.mark.parametrize("shape", LARGE.values(), ids=LARGE.keys())
def test_every_operation_is_in_exactly_one_box(shape):
    whole = graph_of(shape)
    graph = fold(whole, 200)
    inside = [op for i in groups(graph) for op in graph.nodes[i].members]
    alone = [node.op for node in graph.nodes if node.kind is NodeKind.OP and node.op is not None]
    assert sorted(inside + alone) == sorted(whole.node_of_op)
    for op, box in graph.node_of_op.items():
        node = graph.nodes[box]
        assert op in node.members or op == node.op


def test_every_edge_between_boxes_is_kept_or_bundled():
    whole = graph_of(LARGE["transformer"])
    graph = fold(whole, 200)
    boxes = [graph.node_of_tensor[node.tensor] for node in whole.nodes if node.tensor is not None]
    hidden = [e for e in whole.edges if whole.nodes[e.source].kind is NodeKind.VARIABLE
              and graph.nodes[boxes[e.source]].kind is NodeKind.GROUP]
    crossing = sum(boxes[e.source] != boxes[e.target] for e in whole.edges
                   if e not in hidden)
    assert sum(edge.count for edge in graph.edges) == crossing


def test_a_small_graph_is_left_as_it_is():
    graph = graph_of(mlp(5))
    assert fold(graph) is graph


def test_the_tail_is_open_and_a_group_opens_on_request():
    whole = graph_of(LARGE["transformer"])
    graph = fold(whole, 300)
    assert graph.nodes[-1].kind is NodeKind.OP
    first = graph.nodes[groups(graph)[0]]
    opened = fold(whole, 300, [first.key])
    assert first.key not in {node.key for node in opened.nodes}
    assert all(opened.nodes[opened.node_of_op[op]].kind is NodeKind.OP for op in first.members)


def test_what_surrounds_the_focus_is_open():
    whole = graph_of(LARGE["recurrent"])
    op = sorted(whole.node_of_op)[50]
    assert fold(whole, 300).nodes[fold(whole, 300).node_of_op[op]].kind is NodeKind.GROUP
    around = fold(whole, 300, around=op)
    assert around.nodes[around.node_of_op[op]].op == op


def test_a_group_is_current_while_the_pass_is_inside_it():
    whole = graph_of(LARGE["transformer"])
    graph = fold(whole, 100)
    group = graph.nodes[groups(graph)[1]]
    assert group.first_step is not None
    assert group.step is not None

    def state(step: int) -> StepState:
        return step_states(graph, step)[0][groups(graph)[1]]

    assert state(group.first_step) is StepState.CURRENT
    assert state(group.step) is StepState.CURRENT
    assert state(group.step + 1) is StepState.DONE
    assert state(group.first_step - 1) in (StepState.NEXT, StepState.PENDING)
