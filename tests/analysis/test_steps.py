"""The table of steps and the card of one step."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.steps import size_of, step_card, steps_of
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE, Role, What
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import Node, Training, contributions_of, make_recording


def cards(recording, pass_=3):
    return [step_card(recording, pass_, step) for step in range(len(steps_of(recording, pass_)))]


def test_the_table_has_a_row_per_step_from_the_loss_on(trained):
    table = steps_of(trained, 3)
    assert len(table) == 19
    assert table.iteration == 3
    assert table.name[:3] == ("multiply", "mean", "multiply")
    assert table.norm[0] == 1.0
    assert set(table.code.tolist()) == {OK}
    assert table.line[1] == 22
    assert table.bin[0] > table.bin[-1]


def test_the_card_says_which_operation_was_undone_and_where(trained):
    card = next(c for c in cards(trained) if "W5" in c.title)
    assert card.title == "matmul  sigmoid 12 @ W5"
    assert (card.op_name, card.iteration, card.line, card.count) == ("matmul", 3, 12, 19)
    assert card.file.endswith("train.py")


def test_rules_carry_the_users_names_and_shapes(trained):
    card = next(c for c in cards(trained) if "W5" in c.title)
    assert card.formula == r"Y = A\,W_{5}"
    assert [rule.latex for rule in card.rules] == [
        r"\bar{A} += \bar{Y}\,W_{5}^\top", r"\bar{W}_{5} += A^\top\,\bar{Y}"]
    assert [rule.shapes for rule in card.rules] == ["[6,8] += [6,3] · [3,8]", "[8,3] += [8,6] · [6,3]"]


def test_only_arguments_that_receive_something_have_rules(trained):
    card = next(c for c in cards(trained) if c.op_name == "subtract")
    assert [c.slot for c in card.contributions] == [0]
    assert [operand.name for operand in card.operands] == ["sigmoid 15", "y"]


def test_a_letter_is_never_used_for_two_things(trained):
    """The user's y is an operand: the result gets another letter."""
    card = next(c for c in cards(trained) if c.op_name == "subtract")
    assert card.formula == "u = a - y"
    assert card.rules[0].latex == r"\bar{a} += \bar{u}"


def test_elements_are_there(trained):
    for card in cards(trained):
        for quantity in (*card.cotangents, *card.operands, *card.outputs):
            assert quantity.value is not None
            assert quantity.value.shape == quantity.shape
            assert not quantity.missing


def test_contributions_are_those_of_the_rule(trained):
    """An independent computation from the operands gives the recorded contributions."""
    for card in cards(trained):
        values = tuple(operand.value for operand in card.operands)
        undone = Node(card.op, card.op_name, (), values, 0, card.outputs[0].value)
        expected = contributions_of(undone, card.cotangents[0].value)
        for entry in card.contributions:
            np.testing.assert_allclose(entry.target.value, expected[entry.slot], rtol=1e-5, atol=1e-12)


def test_gradients_add_up_as_the_pass_goes_on(trained):
    seen = 0
    for card in cards(trained):
        for total in card.accumulations:
            seen += 1
            assert total.arrived <= total.total == len(total.contributions)
            np.testing.assert_allclose(
                total.running.value, np.sum([c.target.value for c in total.contributions[:total.arrived]], axis=0))
            if total.arrived == total.total:
                np.testing.assert_allclose(total.running.value, total.complete.value, rtol=1e-6)
            assert math.fsum(c.share for c in total.contributions) == pytest.approx(1.0)
            assert [c.order for c in total.contributions] == list(range(1, total.total + 1))
    assert seen > 20


def test_two_arguments_that_are_one_tensor_are_two_contributions(trained):
    card = next(c for c in cards(trained) if c.op_name == "multiply" and c.cotangents[0].shape)
    (total,) = card.accumulations
    assert (total.arrived, total.total) == (2, 2)
    assert [c.slot for c in total.contributions] == [0, 1]
    assert card.title == "multiply  subtract 16 * subtract 16"


@pytest.fixture
def cancelling(tmp_path):
    """d = a - b with a = b = x: two contributions that cancel exactly; and one that comes two steps later."""
    with Writer(tmp_path / "cancel.tapeviz", {"level": "values"}) as writer:
        training = Training(writer, 1, 4, 0.1, None, True, False)
        writer.iteration(0, 0, 0, 0, 0, 0)
        x = training._leaf(np.array([1.0, 2.0], "f4"), Role.VARIABLE, "x", variable=0)
        s, sv = training.op("subtract", np.zeros(2), (x, x), tape=0)
        m, _ = training.op("multiply", sv * np.array([1.0, 2.0]), (s, x), line="square", tape=0)
        g = np.array([1.0, 1.0], "f4")
        for op, tensor, slot, value in [
                (1, s, 0, g * [1.0, 2.0]), (1, x, 1, g * sv), (0, x, 0, g * [1.0, 2.0]), (0, x, 1, -g * [1.0, 2.0])]:
            training._quantity(tensor, What.CONTRIBUTION, np.asarray(value, "f4"), op, 0, slot)
        training._quantity(m, What.COTANGENT, g, 1, 0)
        training._quantity(s, What.COTANGENT, np.asarray(g * [1.0, 2.0], "f4"), 0, 0)
        writer.pass_(0, 0, NONE, 1, 0, 0, 1, m, 1, 1, 0, 2, NONE, 2, 0, 1)
        writer.step(0, 0, 1, 0, 1, 1, 2)
        writer.step(0, 1, 0, 0, 1, 1, 2)
        writer.close()
    with open_recording(tmp_path / "cancel.tapeviz") as recording:
        yield recording


def test_cancellation_and_signs(cancelling):
    first, second = step_card(cancelling, 0, 0), step_card(cancelling, 0, 1)
    x_first = next(a for a in first.accumulations if a.name == "x")
    assert (x_first.arrived, x_first.total, x_first.cancelled) == (1, 3, None)
    (x_second,) = second.accumulations
    assert (x_second.arrived, x_second.total) == (3, 3)
    assert x_second.cancelled == pytest.approx(1.0)
    assert [c.sign for c in x_second.contributions] == [1, 1, -1]
    assert x_second.running.size.special is Special.ZERO


def test_without_elements_the_card_says_why(tmp_path):
    path = make_recording(tmp_path / "stats.tapeviz", iterations=2, layers=2, values=False)
    with open_recording(path) as recording:
        card = step_card(recording, 1, 4)
        for quantity in (card.cotangents[0], card.operands[0], card.accumulations[0].running):
            assert quantity.value is None
            assert quantity.missing.startswith("The elements were not captured")
        assert card.cotangents[0].size.norm > 0
        assert card.accumulations[0].running.size.norm > 0


def test_a_step_that_does_not_exist_is_an_index_error(trained):
    with pytest.raises(IndexError, match="pass 3 has 19 steps, there is no step 19"):
        step_card(trained, 3, 19)


def test_the_size_of_elements_at_hand():
    assert size_of(np.array([3.0, 4.0]), 1.0).norm == 5.0
    assert size_of(np.array([1.0, np.inf]), 1.0).special is Special.POSINF
    assert size_of(np.array([np.nan, np.inf]), 1.0).special is Special.NAN
    assert size_of(np.zeros(3), 1.0).special is Special.ZERO
