"""Health map, gradient lines and loss, live and finished."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis.magnitude import OK, Special, log_ratio_bin
from tapeviz.analysis.reference import reference_of
from tapeviz.analysis.series import gradient_lines, health, loss_series
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import What
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import Training, make_recording


def test_rows_are_in_network_order_closest_to_the_loss_on_top(trained):
    shown = health(trained)
    assert shown.names == ("b5", "W5", "b4", "W4", "b3", "W3", "b2", "W2", "b1", "W1", "unused")
    assert shown.shapes[1] == "[8,3]"
    assert [trained.variable(v).name for v in shown.variables] == list(shown.names)


def test_cells_are_the_gradients_that_were_returned(trained):
    shown = health(trained)
    for iteration in (0, 7, 11):
        for row, variable in enumerate(shown.variables[:-1]):
            stat = next(s for s in trained.stats_of(What.GRADIENT, pass_=iteration)
                        if trained.tensors["variable"][s["tensor"]] == variable)
            assert shown.l2[row, iteration] == stat["l2"]
            assert shown.state[row, iteration] == OK


def test_none_is_a_state_of_its_own(trained):
    shown = health(trained)
    assert set(shown.state[-1].tolist()) == {Special.NONE.value}
    assert np.isnan(shown.l2[-1]).all()


def test_bins_are_relative_to_the_median_of_the_iteration(trained):
    shown = health(trained)
    for iteration in range(len(shown.iterations)):
        median = np.exp(np.median(np.log(shown.l2[:-1, iteration])))
        assert shown.median[iteration] == pytest.approx(median)
        assert shown.median[iteration] == reference_of(trained, iteration)
        assert shown.bins[:-1, iteration].tolist() == [log_ratio_bin(x, median) for x in shown.l2[:-1, iteration]]


def test_a_nan_stays_a_nan(broken):
    shown = health(broken)
    assert (shown.state[:, :4] == OK).all()
    assert (shown.state[:, 4:] == Special.NAN.value).any(axis=0).all()
    line = gradient_lines(broken)[0]
    assert np.isnan(line.y[4:]).all()
    assert np.isfinite(line.log10[:4]).all()
    loss = loss_series(broken)
    assert loss.state.tolist() == [0] * 4 + [Special.NAN.value] * 4


def test_the_loss_is_the_target_of_each_iteration(trained):
    loss = loss_series(trained)
    assert len(loss.y) == 12
    for iteration in (0, 11):
        assert loss.y[iteration] == trained.value(int(trained.passes["target"][iteration]))
    assert loss.y[-1] < loss.y[0]


def test_lines_are_the_rows_of_the_map(trained):
    lines = gradient_lines(trained)
    assert [line.name for line in lines] == list(health(trained).names)
    np.testing.assert_allclose(10.0 ** lines[0].log10, lines[0].y)


def test_what_grows_live_ends_as_what_is_read_at_once(tmp_path):
    path = tmp_path / "live.tapeviz"
    with Writer(path, {}) as writer:
        training = Training(writer, 3, 4, 0.1, 6, True, True)
        with open_recording(path) as recording:
            for _ in range(9):
                training.iterate()
                writer.flush()
                recording.poll()
                live, loss = health(recording), loss_series(recording)
                assert len(live.iterations) == len(loss.y) == training.iteration
            writer.close()
            with open_recording(path) as again:
                fresh = health(again)
                for name in ("l2", "state", "bins", "median"):
                    np.testing.assert_array_equal(getattr(live, name), getattr(fresh, name))
                assert live.names == fresh.names
                np.testing.assert_array_equal(loss.y, loss_series(again).y)


def test_a_map_that_a_view_holds_does_not_change_under_it(tmp_path):
    path = tmp_path / "live.tapeviz"
    with Writer(path, {}) as writer, open_recording(path) as recording:
        training = Training(writer, 2, 4, 0.1, None, True, False)
        training.iterate()
        writer.flush()
        recording.poll()
        held = health(recording)
        before = held.l2.copy()
        training.iterate()
        writer.flush()
        recording.poll()
        assert health(recording).l2.shape[1] == 2
        np.testing.assert_array_equal(held.l2, before)
        with pytest.raises(ValueError, match="read-only"):
            held.l2[0, 0] = 1.0


def test_of_several_passes_the_last_one_that_delivered_counts(tmp_path):
    path = tmp_path / "two.tapeviz"
    with Writer(path, {}) as writer:
        training = Training(writer, 2, 4, 0.1, None, True, True)
        writer.iteration(0, 0, 0, 0, 0, 0)
        for scale in (1.0, 3.0):
            training.nodes = []
            training.data = training.data * scale
            loss, _ = training._forward(0)
            gradients = training._backward(0, 0, loss)
        writer.close()
    assert gradients[0] is not None
    with open_recording(path) as recording:
        shown = health(recording)
        assert shown.l2.shape == (5, 1)
        row = shown.names.index("W1")
        assert shown.l2[row, 0] == pytest.approx(np.linalg.norm(gradients[0].astype("f8")))


def test_equal_names_are_told_apart(tmp_path):
    path = tmp_path / "twins.tapeviz"
    with Writer(path, {}) as writer:
        training = Training(writer, 2, 4, 0.1, None, True, False)
        training._variable("W1", np.ones(3, "f4"))
        training.iterate()
        writer.close()
    with open_recording(path) as recording:
        assert {"W1", "W1 (2)"} <= set(health(recording).names)


def test_a_recording_without_passes_has_an_empty_map(tmp_path):
    Writer(tmp_path / "empty.tapeviz", {}).close()
    with open_recording(tmp_path / "empty.tapeviz") as recording:
        assert health(recording).l2.shape == (0, 0)
        assert len(loss_series(recording).y) == 0
        assert gradient_lines(recording) == []
        assert np.isnan(reference_of(recording, 0))


def test_without_statistics_cells_are_not_captured_rather_than_zero(tmp_path):
    path = make_recording(tmp_path / "some.tapeviz", iterations=3, layers=2)
    with open_recording(path) as recording:
        recording.stats = recording.stats[recording.stats["what"] != What.GRADIENT]
        shown = health(recording)
        assert (shown.state == Special.NOT_CAPTURED.value).all()
        assert np.isnan(shown.l2).all()
