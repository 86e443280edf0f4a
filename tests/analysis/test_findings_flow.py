"""Signals that vanish or explode through layers and time steps, in nets of many styles, and nets where they do not."""

from __future__ import annotations

import pytest

from tapeviz.analysis.findings import Finding
from tests.analysis.networks import STYLES, deep, marked, recurrent
from tests.analysis.recorded import findings_of, problems_of

LAYERS = [(style, depth, optimizer) for style, depth, optimizer in zip(
    STYLES, (6, 9, 14, 7, 11), ("manual", "sgd", "momentum", "adam", "manual"), strict=True)]


def assert_first(findings: list[Finding], id: str, text: str, mark: str = "here") -> Finding:
    first = findings[0]
    assert (first.id, first.iteration) == (id, 0)
    assert first.line in marked(text, mark)
    return first


@pytest.mark.parametrize(("style", "depth", "optimizer"), LAYERS)
def test_sigmoid_layers_vanish(style: str, depth: int, optimizer: str) -> None:
    text = deep(style, "sigmoid", depth, seed=depth, optimizer=optimizer, rate=0.01)
    first = assert_first(findings_of(text), "vanishing-depth", text)
    assert first.op == "sigmoid"
    assert first.severity != "info"
    ratio, threshold = first.evidence["ratio"], first.evidence["threshold"]
    assert isinstance(ratio, float)
    assert isinstance(threshold, float)
    assert ratio < threshold
    assert first.affected


@pytest.mark.parametrize(("style", "depth", "optimizer"), LAYERS[:4])
def test_small_weights_vanish(style: str, depth: int, optimizer: str) -> None:
    """All gradients of the weights are alike, those of the activations are not."""
    text = deep(style, "tanh", depth, 20, gain=0.1, seed=3, optimizer=optimizer, rate=0.001)
    first = assert_first(findings_of(text), "vanishing-depth", text, "weights")
    assert first.op == "matmul"


@pytest.mark.parametrize(("style", "depth", "optimizer"), LAYERS)
@pytest.mark.parametrize(("activation", "gain"), [("relu", 1.41), ("tanh", 1.1), ("elu", 1.2)])
def test_well_started_nets_are_healthy(style: str, depth: int, optimizer: str, activation: str, gain: float) -> None:
    rate = 0.003 if optimizer == "adam" else 0.01
    assert not problems_of(deep(style, activation, depth, 24, gain, depth, optimizer, rate, 60))


@pytest.mark.parametrize(("style", "depth", "optimizer"), LAYERS)
def test_large_weights_explode(style: str, depth: int, optimizer: str) -> None:
    text = deep(style, "relu", depth, 24, gain={6: 8, 7: 8, 9: 6}.get(depth, 5), seed=1, optimizer=optimizer,
                rate=0.001, steps=8)
    first = assert_first(findings_of(text), "exploding-depth", text, "weights")
    assert first.op in ("matmul", "dense")


def test_double_precision_makes_no_difference() -> None:
    text = deep("lines", "sigmoid", 8, dtype="float64")
    assert_first(findings_of(text), "vanishing-depth", text)


@pytest.mark.parametrize(("style", "steps", "width"), [("loop", 40, 6), ("function", 60, 20), ("class", 30, 12)])
def test_recurrent_nets_vanish_in_time(style: str, steps: int, width: int) -> None:
    text = recurrent(style, "tanh", steps, width, radius=0.4, rate=0.02)
    first = assert_first(findings_of(text), "vanishing-time", text)
    assert "Wh" in first.affected


@pytest.mark.parametrize(("style", "steps", "width"), [("loop", 40, 6), ("function", 15, 20), ("class", 40, 12)])
def test_orthogonal_recurrent_nets_are_healthy(style: str, steps: int, width: int) -> None:
    assert not problems_of(recurrent(style, "tanh", steps, width, radius=1.0, rate=0.01, iterations=25))


@pytest.mark.parametrize(("style", "activation", "steps"), [
    ("loop", "none", 40), ("function", "leaky_relu", 40), ("class", "none", 30)])
def test_recurrent_nets_explode_in_time(style: str, activation: str, steps: int) -> None:
    text = recurrent(style, activation, steps, radius=1.9, rate=1e-4, iterations=8)
    first = assert_first(findings_of(text), "exploding-time", text)
    assert first.affected == ("Wh",)


def test_a_training_that_finds_its_way_out_is_only_noted() -> None:
    text = deep("lines", "relu", 6, 24, gain=0.15, seed=11, optimizer="adam", rate=0.01)
    assert all(finding.severity == "info" for finding in findings_of(text))


def test_sequences_of_different_length_are_judged_together() -> None:
    text = recurrent(steps=40, radius=0.4, iterations=12, rate=0.001).replace(
        "        h = np.zeros", "        T = int(rng.integers(25, 40))\n        h = np.zeros")
    assert_first(findings_of(text), "vanishing-time", text)
