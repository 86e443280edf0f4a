"""What a backward step puts on the boxes: states, colours, words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tapeviz.analysis.graph import Graph, StepState
from tapeviz.analysis.magnitude import BINS, NO_GRADIENT, NOT_CAPTURED, Magnitude, Special, of_norm
from tapeviz.gui.graph.dress import HOLLOW, SEVERITY, Direction, code_of, dress, special_of_code
from tests.gui.test_graph_geometry import graph_of

FAN_IN = graph_of("ooooo", [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4)])     # box 1 is used twice; steps 4 3 2 1 0


def with_gradient(graph: Graph, box: int, size: Magnitude, **more: object) -> Graph:
    nodes = list(graph.nodes)
    nodes[box] = replace(nodes[box], gradient=size, **more)   # type: ignore[arg-type]
    return replace(graph, nodes=tuple(nodes))


def test_codes_name_bins_and_special_values() -> None:
    assert [code_of(of_norm(10.0**b)) for b in BINS] == list(range(9))
    for special in Special:
        if special is not Special.NOT_CAPTURED:
            assert special_of_code(code_of(Magnitude(float("nan"), None, special))) is special
    assert code_of(NOT_CAPTURED) == HOLLOW
    assert special_of_code(HOLLOW) is None


def test_worse_is_painted_later() -> None:
    def rank(size: Magnitude) -> int:
        return int(SEVERITY[code_of(size) + 1])

    assert rank(Magnitude(0, None, Special.NAN)) > rank(of_norm(1e4)) > rank(of_norm(1.0)) > rank(NOT_CAPTURED)


def test_states_at_a_step() -> None:
    clothes = dress(FAN_IN, 1, Direction.BOTH)
    assert clothes.state.tolist() == [StepState[s].value for s in ("PENDING", "NEXT", "NEXT", "CURRENT", "DONE")]
    assert clothes.current == 3
    assert clothes.side_text(1) == "1 of 2"
    assert clothes.band_text(0) == "pending"
    assert clothes.band_text(4) == "grad 1.0e-2"
    # of two contributions only one is there: the gradient is not known yet
    assert clothes.code[1] == HOLLOW
    assert clothes.band_text(1) == "arriving"


def test_the_whole_pass_when_no_step_is_given() -> None:
    clothes = dress(FAN_IN, None, Direction.BOTH)
    assert set(clothes.state.tolist()) == {StepState.DONE.value}
    assert clothes.current == -1
    assert (clothes.code == len(BINS) // 2).all()
    assert clothes.side_text(1) == "2 of 2"


def test_pills_stand_on_contributions_that_have_arrived_at_a_fan_in() -> None:
    assert dress(FAN_IN, 1, Direction.BOTH).pills == {2}
    assert dress(FAN_IN, None, Direction.BOTH).pills == {1, 2}
    assert dress(FAN_IN, None, Direction.FORWARD).pills == frozenset()


def test_a_contribution_against_the_others_has_a_minus() -> None:
    edges = list(FAN_IN.edges)
    edges[1] = replace(edges[1], sign=-1)
    clothes = dress(replace(FAN_IN, edges=tuple(edges)), None, Direction.BOTH)
    assert clothes.pill_text(1) == "\u2212 1.0e-2"
    assert clothes.pill_text(2) == "+ 1.0e-2"
    assert clothes.negative.tolist() == [False, True, False, False, False]


def test_cancellation_is_named_from_one_half_on() -> None:
    assert dress(with_gradient(FAN_IN, 1, of_norm(1e-2), cancelled=0.63), None, Direction.BOTH).cancelled_text(1) == \
        "cancelled 63 %"
    assert dress(with_gradient(FAN_IN, 1, of_norm(1e-2), cancelled=0.4), None, Direction.BOTH).cancelled_text(1) == ""


def test_backward_edges_are_wider_for_larger_contributions() -> None:
    widths = [float(dress(graph_of("oo", [(0, 1)], norm), None, Direction.BOTH).edge_width[0])
              for norm in (1e-9, 1e-3, 1e-1, 1e3)]
    assert widths == pytest.approx([1.5, 1.5, 3.7, 6.0])


def test_forward_direction_shows_values_only() -> None:
    clothes = dress(FAN_IN, None, Direction.FORWARD)
    assert (clothes.code == HOLLOW).all()
    assert clothes.band_text(2) == "norm 1.0e0"


@pytest.mark.parametrize(("size", "words"), [
    (NO_GRADIENT, "gradient norm None"), (Magnitude(0.0, None, Special.ZERO), "gradient norm 0"),
    (of_norm(2e-5), "gradient norm 2.0e-5")])
def test_the_tooltip_says_it_in_words(size: Magnitude, words: str) -> None:
    assert words in dress(with_gradient(FAN_IN, 2, size), None, Direction.BOTH).describe(2)


def test_arrays_have_one_entry_per_box_and_edge() -> None:
    clothes = dress(FAN_IN, 2, Direction.BOTH)
    assert len(clothes.code) == len(clothes.state) == len(clothes.arrived) == len(FAN_IN.nodes)
    assert len(clothes.edge_code) == len(clothes.edge_state) == len(FAN_IN.edges)
    assert np.isfinite(clothes.edge_width).all()


def test_a_parameter_without_gradient_says_none_and_data_fade() -> None:
    graph = graph_of("vcoo", [(0, 2), (1, 2), (2, 3)])
    for box in (0, 1):
        graph = with_gradient(graph, box, NO_GRADIENT, reachable=False, arrival_steps=())
    clothes = dress(graph, None, Direction.BOTH)
    assert clothes.band_text(0) == "None"
    assert not clothes.faded(0)
    assert clothes.band_text(1) == "no gradient"
    assert clothes.faded(1)


def test_a_parameter_that_waits_for_more_counts_what_has_come() -> None:
    clothes = dress(graph_of("vooo", [(0, 1), (0, 2), (1, 3), (2, 3)]), 1, Direction.BOTH)
    assert clothes.band_text(0) == "1 of 2"
