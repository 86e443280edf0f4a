"""The focus: its parts agree with each other, whatever is chosen."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tapeviz.analysis.focus import Focus, move
from tapeviz.analysis.index import main_pass, pass_index
from tapeviz.recording.reader import Recording, open_recording
from tapeviz.recording.schema import NONE
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import Training


def agrees(recording: Recording, focus: Focus) -> None:
    assert 0 <= focus.iteration < len(recording.iterations)
    if focus.op is not None:
        assert recording.iteration_of(focus.op) == focus.iteration
    if focus.pass_ is not None:
        assert focus.pass_ in recording.passes_of(focus.iteration)
    if focus.step is not None:
        assert focus.pass_ is not None
        assert focus.op == int(pass_index(recording, focus.pass_).rows["op"][focus.step])
    if focus.element is not None:
        shape = recording.shape(int(recording.tensors["shape"][focus.tensor]))
        assert len(shape) == len(focus.element)


CHANGES = st.one_of(
    st.fixed_dictionaries({"iteration": st.integers(-3, 20)}),
    st.fixed_dictionaries({"op": st.one_of(st.none(), st.integers(-2, 500))}),
    st.fixed_dictionaries({"step": st.one_of(st.none(), st.integers(-2, 40))}),
    st.fixed_dictionaries({"pass_": st.one_of(st.none(), st.integers(-1, 14))}),
    st.fixed_dictionaries({"tensor": st.one_of(st.none(), st.integers(-1, 900))}),
    st.fixed_dictionaries({"element": st.one_of(st.none(), st.tuples(st.integers(0, 9), st.integers(0, 9)))}),
    st.fixed_dictionaries({"iteration": st.integers(0, 12), "step": st.integers(0, 30)}),
    st.fixed_dictionaries({"iteration": st.integers(0, 12), "tensor": st.integers(0, 500)}),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(CHANGES, max_size=8))
def test_the_parts_agree_after_any_sequence_of_choices(trained, changes):
    focus = Focus()
    for change in changes:
        focus = move(trained, focus, **change)
        agrees(trained, focus)


def test_a_step_brings_its_operation_and_an_operation_its_step(trained):
    by_step = move(trained, Focus(iteration=3), step=4)
    assert by_step.pass_ == 3
    rows = pass_index(trained, 3).rows
    assert by_step.op == int(rows["op"][4])
    assert by_step.tensor == int(trained.ops["output"][by_step.op])
    assert move(trained, Focus(iteration=3), op=by_step.op) == by_step


def test_an_operation_that_the_pass_does_not_undo_has_no_step(trained):
    update = trained.ops_of(3).stop - 1
    focus = move(trained, Focus(iteration=3, step=2), op=update)
    assert (focus.op, focus.step, focus.iteration) == (update, None, 3)


def test_another_iteration_keeps_the_place(trained):
    focus = move(trained, Focus(), step=5)
    later = move(trained, focus, iteration=9)
    assert later.op - trained.ops_of(9).start == focus.op - trained.ops_of(0).start
    assert (later.step, later.pass_) == (5, 9)
    assert later.tensor == int(trained.ops["output"][later.op])
    assert move(trained, later, iteration=0) == focus


def test_a_variable_follows_into_its_version_of_the_other_iteration(trained):
    tensor = next(t for t in trained.op_inputs(0) if trained.tensors["variable"][t] == 0)
    focus = move(trained, Focus(), op=0)
    focus = move(trained, focus, tensor=tensor)
    later = move(trained, focus, iteration=6)
    row = trained.tensors[later.tensor]
    assert (int(row["variable"]), int(row["version"])) == (0, 6)


def test_iterations_are_clamped(trained):
    assert move(trained, Focus(), iteration=99).iteration == 11
    assert move(trained, Focus(iteration=5), iteration=-4).iteration == 0
    assert move(trained, Focus(iteration=2), step=1000).step == len(pass_index(trained, 2).rows) - 1


def test_an_element_stays_chosen_while_its_tensor_means_the_same(trained):
    focus = move(trained, Focus(), step=5)
    focus = move(trained, focus, element=(1, 2))
    assert focus.element == (1, 2)
    assert move(trained, focus, iteration=3).element in ((1, 2), None)
    assert move(trained, focus, step=6).element is None
    assert move(trained, focus, element=(100, 0)).element is None


def test_unknown_parts_are_refused(trained):
    with pytest.raises(TypeError, match="focus has no operation"):
        move(trained, Focus(), operation=3)


def test_an_empty_recording_has_no_focus(tmp_path):
    Writer(tmp_path / "empty.tapeviz", {}).close()
    with open_recording(tmp_path / "empty.tapeviz") as recording:
        assert move(recording, Focus(iteration=3, op=5), step=2) == Focus()


def test_a_growing_recording_is_followed(tmp_path):
    with Writer(tmp_path / "live.tapeviz", {}) as writer:
        training = Training(writer, 2, 4, 0.1, None, True, False)
        training.iterate()
        writer.flush()
        with open_recording(tmp_path / "live.tapeviz") as recording:
            first = move(recording, Focus(), step=3)
            assert move(recording, first, iteration=1) == first
            training.iterate()
            writer.flush()
            assert recording.poll()
            later = move(recording, first, iteration=1)
            assert (later.iteration, later.step) == (1, 3)
            agrees(recording, later)


def test_an_iteration_without_a_pass_has_operations_but_no_step(tmp_path):
    with Writer(tmp_path / "forward.tapeviz", {}) as writer:
        training = Training(writer, 2, 4, 0.1, None, True, False)
        writer.iteration(0, 0, 0, 0, 0, 0)
        training._forward(NONE)
        writer.close()
    with open_recording(tmp_path / "forward.tapeviz") as recording:
        assert main_pass(recording, 0) is None
        focus = move(recording, Focus(), op=3)
        assert (focus.op, focus.pass_, focus.step) == (3, None, None)
        assert move(recording, focus, step=2).step is None
