"""Curves: thinning hides no spike, special values have lanes, colours can be told apart."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from tapeviz.analysis.magnitude import OK, Special
from tapeviz.analysis.series import Series
from tapeviz.gui.plots.lines import Lines, lines_of
from tapeviz.gui.plots.palette import DASHES, curve_colours, curve_style
from tapeviz.gui.theme import DARK, LIGHT, PROJECTOR, Theme


def series(name: str, y: np.ndarray, first: int = 0, **specials: int) -> Series:
    """A line; `specials`: NAN=3 makes the fourth value NaN."""
    y = np.array(y, float)
    state = np.zeros(len(y), np.uint8)
    for kind, at in specials.items():
        state[at], y[at] = Special[kind].value, np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        return Series(name, np.arange(first, first + len(y)), y, state, np.log10(y), None)


def spiky(count: int, at: int) -> Lines:
    y = np.ones((2, count))
    y[1, at] = 1e6
    return lines_of([series("flat", y[0]), series("spike", y[1])], log=True)


@pytest.mark.parametrize("at", [0, 1, 49_999, 77_777, 99_999])
@pytest.mark.parametrize("width", [100, 1777])
def test_one_spike_of_a_hundred_thousand_iterations_survives(at: int, width: int) -> None:
    lines = spiky(100_000, at)
    x, low, high = lines.envelope(0, 100_000, width)
    assert high.shape == (2, len(x))
    assert len(x) <= width
    assert np.nanmax(high[1]) == pytest.approx(6.0)
    assert np.nanmin(low[1]) == 0.0
    assert abs(x[int(np.nanargmax(high[1]))] - at) <= 100_000 / width + 64


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3000), st.integers(2, 400), st.integers(0, 2**32 - 1))
def test_an_envelope_has_the_extremes_of_what_it_shows(count: int, width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = 10 ** rng.normal(0, 3, count)
    holes = rng.random(count) < 0.1
    line = series("w", y)
    line.state[holes] = Special.NAN.value
    lines = lines_of([line], log=True)
    _, low, high = lines.envelope(0, count, width)
    if holes.all():
        assert np.isnan(low).all()
        return
    good = np.log10(y[~holes])
    assert np.nanmin(low) == good.min()
    assert np.nanmax(high) == good.max()
    assert lines.range(0, count) == (good.min(), good.max())


def test_few_points_are_shown_as_they_are() -> None:
    x, low, high = spiky(50, 7).envelope(10, 20, 400)
    assert x.tolist() == list(range(10, 20))
    np.testing.assert_array_equal(low, high)


def test_lines_of_different_iterations_stand_side_by_side() -> None:
    lines = lines_of([series("a", np.array([1.0, 2, 3])), series("b", np.array([5.0, 6]), first=2)], log=False)
    assert lines.x.tolist() == [0, 1, 2, 3]
    np.testing.assert_array_equal(lines.y[1], [np.nan, np.nan, 5, 6])
    assert lines.state[1, 0] == Special.NOT_CAPTURED.value
    assert lines.state[1, 2] == OK
    assert lines.column_of(2) == 2
    assert lines.column_of(9) is None


def test_special_values_are_found_and_not_drawn_as_numbers() -> None:
    lines = lines_of([series("a", np.ones(9), NAN=3, ZERO=5), series("b", np.ones(9), NAN=4)], log=True)
    found = lines.specials()
    assert set(found) == {Special.NAN, Special.ZERO}
    assert np.flatnonzero(found[Special.NAN]).tolist() == [3, 4]
    assert np.isnan(lines.shown[0, [3, 5]]).all()


def luminance(colour: str) -> float:
    parts = np.array([int(colour[i:i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", [DARK, LIGHT, PROJECTOR])
def test_curves_stand_out_from_the_surface(theme: Theme) -> None:
    ground = luminance(theme.surface)
    for colour in curve_colours(theme):
        brighter, darker = sorted((luminance(colour), ground), reverse=True)
        assert (brighter + 0.05) / (darker + 0.05) >= 3.0


# Machado, Oliveira, Fernandes (2009), severity 1: protanopia, deuteranopia, tritanopia.
DEFICIENCIES = np.array([
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]])


def lab(colour: str, seen_by: np.ndarray) -> np.ndarray:
    parts = np.array([int(colour[i:i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    linear = np.clip(seen_by @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = to_xyz @ linear / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("theme", [DARK, LIGHT, PROJECTOR])
def test_colour_blind_people_can_tell_the_colours_apart(theme: Theme) -> None:
    for seen_by in DEFICIENCIES:
        for one, other in combinations(curve_colours(theme), 2):
            assert float(np.linalg.norm(lab(one, seen_by) - lab(other, seen_by))) >= 26


def test_the_first_two_dozen_curves_differ_in_colour_or_dashes() -> None:
    styles = {curve_style(i, DARK) for i in range(len(curve_colours(DARK)) * len(DASHES))}
    assert len(styles) == 24
