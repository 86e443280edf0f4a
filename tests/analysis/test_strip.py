"""The time strip: no spike and no NaN is lost, whatever the number of columns."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest

from tapeviz.analysis import strip as module
from tapeviz.analysis.magnitude import OK, Special, severity
from tapeviz.analysis.series import HealthMap, Series, health, loss_series
from tapeviz.analysis.strip import make_strip
from tapeviz.recording.reader import Recording, open_recording
from tests.recording.synthetic import make_recording


def test_every_iteration_has_its_column_while_there_is_room(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=9, layers=3)) as recording:
        strip = make_strip(recording, 500)
        loss = loss_series(recording)
        assert strip.count == 9
        assert strip.first.tolist() == list(range(9))
        assert np.allclose(strip.low, loss.y)
        assert np.array_equal(strip.low, strip.high)
        assert strip.loss_at(4) == pytest.approx(float(loss.y[4]))
        bins = health(recording).bins
        worst = [max(bins[:, i].tolist(), key=lambda b: severity(int(b))) for i in range(9)]
        assert strip.bin.tolist() == worst
        assert set(strip.special.tolist()) == {OK}


def test_few_columns_keep_the_extremes(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=20, layers=2)) as recording:
        strip = make_strip(recording, 3)
        loss = loss_series(recording).y
        assert strip.first.tolist() == [0, 6, 13]
        assert strip.low.min() == loss.min()
        assert strip.high.max() == loss.max()


def test_a_single_nan_among_a_hundred_thousand_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    count = 100_000
    x = np.arange(count)
    y = np.ones(count)
    y[77_777] = 1e6
    state = np.zeros((2, count), np.uint8)
    state[1, 4_321] = Special.NAN.value
    nothing = np.zeros((2, count))
    monkeypatch.setattr(module, "iteration_count", lambda recording: count)
    monkeypatch.setattr(module, "loss_series", lambda recording: Series("loss", x, y, np.zeros(count), np.log10(y)))
    monkeypatch.setattr(module, "health", lambda recording: HealthMap(
        (0, 1), ("a", "b"), ("", ""), x, nothing + 1, state, nothing.astype(np.int8), np.ones(count)))
    strip = make_strip(cast("Recording", None), 1000)
    assert len(strip.first) == 1000
    assert strip.special.tolist().count(Special.NAN.value) == 1
    assert strip.special[43] == Special.NAN.value
    assert strip.high.max() == 1e6


def test_a_nan_in_the_recording(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=6, layers=2, nan_at=3)) as recording:
        strip = make_strip(recording, 100)
        assert Special(int(strip.special[3])) is Special.NAN


def test_one_iteration_and_none(tmp_path: Path) -> None:
    with open_recording(make_recording(tmp_path / "a.tapeviz", iterations=1, layers=1)) as recording:
        strip = make_strip(recording, 800)
        assert (strip.count, len(strip.first)) == (1, 1)
        assert strip.has_loss(0)
        assert not strip.has_loss(1)


def test_no_loss_is_not_a_loss_of_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    x, nothing = np.arange(4), np.full((1, 4), np.nan)
    state = np.array([OK, Special.NAN.value, Special.NOT_CAPTURED.value, Special.ZERO.value], np.uint8)
    y = np.array([2.0, np.nan, np.nan, np.nan])
    monkeypatch.setattr(module, "iteration_count", lambda recording: 4)
    monkeypatch.setattr(module, "loss_series", lambda recording: Series("loss", x, y, state, y))
    monkeypatch.setattr(module, "health", lambda recording: HealthMap(
        (0,), ("a",), ("",), x, nothing, np.full((1, 4), Special.NOT_CAPTURED.value, np.uint8),
        np.zeros((1, 4), np.int8), x * np.nan))
    strip = make_strip(cast("Recording", None), 10)
    assert [strip.has_loss(i) for i in range(4)] == [True, True, False, True]
    assert np.isnan(strip.loss_at(1))
    assert strip.loss_at(3) == 0
    assert np.isnan(strip.low[[1, 2]]).all()
