"""The editor's gutter, the navigator's rows, and the map along time."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.series import health
from tapeviz.analysis.source import op_on_line, source_lines
from tapeviz.analysis.structure import cell, structure_rows
from tapeviz.analysis.timemap import time_map
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import Role, What
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import Training


def test_lines_count_what_ran_on_them(trained):
    lines = source_lines(trained, 0, 3).lines
    assert {line: info.executed for line, info in lines.items()} == {12: 5, 13: 5, 14: 5, 21: 1, 22: 4}
    assert all(trained.op_line(op)[1] == line for line, info in lines.items() for op in info.ops)


def test_a_line_is_pending_until_the_pass_reaches_it(trained):
    early = source_lines(trained, 0, 3, step=1).lines
    assert not early[22].pending
    assert early[12].pending
    assert early[12].worst.special is Special.NOT_CAPTURED
    late = source_lines(trained, 0, 3).lines
    assert not late[12].pending
    sizes = [trained.stat(trained.op_outputs(op)[0], What.COTANGENT, pass_=3)["l2"] for op in late[12].ops]
    assert late[12].worst.norm == min(sizes)


def test_the_focused_operation_marks_its_line(trained):
    op = trained.ops_of(3).start + 1
    assert source_lines(trained, 0, 3, op=op).current == 13
    assert source_lines(trained, 0, 3).current is None
    assert source_lines(trained, 7, 3, op=op).lines == {}


def test_a_click_on_a_line_finds_its_first_operation(trained):
    assert op_on_line(trained, 0, 12, 3) == trained.ops_of(3).start
    assert op_on_line(trained, 0, 1, 3) is None


def test_the_navigator_lists_variables_in_network_order_and_then_the_loss(trained):
    rows = structure_rows(trained, 5)
    assert [row.name for row in rows] == [*health(trained).names, "loss"]
    assert rows[1].shape == "[8,3]"
    assert rows[-2].size.special is Special.NONE
    assert len(rows[0].spark) == 6
    np.testing.assert_allclose(10 ** rows[0].spark[-1], rows[0].value)
    assert rows[-1].value == rows[-1].spark[-1] > 0


def test_cells_outside_the_map_are_not_captured(trained):
    assert cell(health(trained), 0, 99).special is Special.NOT_CAPTURED


def test_a_site_that_ran_often_is_a_row_of_layers(trained):
    sites = time_map(trained, 3)
    assert [site.name for site in sites] == ["matmul x @ W1, line 12", "add, line 13", "sigmoid, line 14"]
    for site in sites:
        assert not site.recurrent
        assert set(site.state.tolist()) == {OK}
        assert site.l2[0] < 1e-2 * site.l2[-1]      # it vanishes towards the input
        assert site.bins[0] < site.bins[-1]


@pytest.fixture
def recurrent(tmp_path):
    with Writer(tmp_path / "time.tapeviz", {}) as writer:
        training = Training(writer, 1, 3, 0.1, None, True, False)
        writer.iteration(0, 0, 0, 0, 0, 0)
        w, h = training.tensor_of[0], training._leaf(training.data, Role.CONSTANT, "h")
        value = training.data
        for _ in range(6):
            h, value = training.op("matmul", value @ training.params[0], (h, w), (value, training.params[0]), tape=0)
        loss, _ = training.op("mean", value.mean(), (h,), (value,), tape=0)
        training._backward(0, 0, loss)
        writer.close()
    with open_recording(tmp_path / "time.tapeviz") as recording:
        yield recording


def test_steps_that_one_variable_feeds_are_time(recurrent):
    (site,) = time_map(recurrent, 0)
    assert site.recurrent
    assert len(site.ops) == 6
    assert site.line == 12


def test_without_a_pass_there_is_no_map(tmp_path):
    Writer(tmp_path / "empty.tapeviz", {}).close()
    with open_recording(tmp_path / "empty.tapeviz") as recording:
        assert time_map(recording, 0) == ()
        assert structure_rows(recording, 0) == []
