"""Iterations, and which values of them are kept."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.capture.iterations import Iterations
from tapeviz.capture.values import FIRST_ITERATIONS, SMALL_COUNT, ValueKeeper
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE, BoundaryBy, What
from tapeviz.recording.writer import Writer

TAPE, OTHER = 5, 6     # locations of tapes


@pytest.fixture
def writer(tmp_path):
    with Writer(tmp_path / "run.tapeviz", {}) as opened:
        yield opened


class Training:
    """Tapes, gradient calls and assignments of one variable, with a count of operations."""

    def __init__(self, writer):
        self.iterations = Iterations(writer, 0)
        self.ops = self.passes = 0

    def tape(self, place=TAPE):
        self.iterations.tape_opened(place, self.ops, self.passes, 0)
        self.ops += 10

    def gradient(self, place=TAPE):
        self.passes += 1
        self.iterations.gradient_taken(place, {0})

    def assign(self, variable=0):
        self.iterations.assigned(variable)


def records(writer):
    writer.close()
    with open_recording(writer.path) as recording:
        rows = recording.iterations
        return [(int(r["first_op"]), int(r["first_pass"]), BoundaryBy(int(r["by"])).name) for r in rows]


def test_training_steps(writer):
    t = Training(writer)
    for _ in range(3):
        t.tape()
        t.gradient()
        t.assign()
    assert records(writer) == [(0, 0, "START"), (10, 1, "ASSIGN"), (20, 2, "ASSIGN")]


def test_a_script_that_never_assigns(writer):
    t = Training(writer)
    for _ in range(3):
        t.tape()
        t.gradient()
    t.tape(OTHER)   # another place: belongs to what runs
    assert records(writer) == [(0, 0, "START"), (10, 1, "GRADIENT"), (20, 2, "GRADIENT")]


def test_a_tape_for_validation_belongs_to_its_iteration(writer):
    t = Training(writer)
    for _ in range(2):
        t.tape(OTHER)
        t.tape()
        t.gradient()
        t.assign(7)     # a counter, not a source
        t.assign()
    assert records(writer) == [(0, 0, "START"), (20, 1, "ASSIGN")]


def test_micro_batches_are_one_iteration(writer):
    t = Training(writer)
    for _ in range(3):
        for _ in range(4):
            t.tape()
            t.gradient()
        t.assign()
    assert t.iterations.current == 2
    assert records(writer) == [(0, 0, "START"), (40, 4, "ASSIGN"), (80, 8, "ASSIGN")]


def test_superfluous_iterations_are_not_read(writer):
    t = Training(writer)
    for _ in range(4):
        t.tape()
        t.gradient()
    t.assign()
    assert records(writer) == [(0, 0, "START")]


def test_demonstrations_before_the_training_stay_iterations_of_their_own(writer):
    t = Training(writer)
    for _ in range(2):
        t.tape(OTHER)
        t.gradient(OTHER)
    for _ in range(2):
        for _ in range(2):
            t.tape()
            t.gradient()
        t.assign()
    assert [row[0] for row in records(writer)] == [0, 10, 20, 40]


# --- values -------------------------------------------------------------------------------------------------------

def offer(keeper, tensor, size):
    keeper.offer(tensor, What.VALUE, np.full(size, float(tensor)), NONE, NONE, 0)


def kept(writer):
    writer.close()
    with open_recording(writer.path) as recording:
        return [int(row["tensor"]) for row in recording.values]


def test_large_values_of_first_due_and_newest_iterations_are_kept(writer):
    keeper = ValueKeeper(writer, 64 << 20)
    for iteration in range(30):
        if iteration:
            keeper.begin(iteration)
        offer(keeper, iteration, 1000)
        keeper.settle()
    keeper.freeze()
    assert sorted(kept(writer)) == [0, 1, 2, 4, 8, 10, 16, 20, 28, 29]
    assert FIRST_ITERATIONS == 3


def test_small_values_are_kept_everywhere_at_first(writer):
    keeper = ValueKeeper(writer, 64 << 20)
    for iteration in range(1, 8):
        keeper.begin(iteration)
        offer(keeper, iteration, 64)
    assert kept(writer) == list(range(1, 8))
    assert SMALL_COUNT > 1000


def test_a_pause_writes_the_current_iteration_and_keeps_the_rest_of_it(writer):
    keeper = ValueKeeper(writer, 64 << 20)
    for iteration in (6, 7):
        keeper.begin(iteration)
        offer(keeper, 10 * iteration, 1000)
    keeper.freeze(since=7)
    offer(keeper, 71, 1000)
    keeper.begin(9)
    offer(keeper, 90, 1000)
    assert kept(writer) == [70, 71]


def test_the_budget_holds(writer):
    budget = 1 << 20
    keeper = ValueKeeper(writer, budget)
    for iteration in range(3000):
        keeper.begin(iteration)
        for k in range(3):
            offer(keeper, 3 * iteration + k, 1000)
        keeper.settle()
    assert keeper._left > -24_000
    assert len(kept(writer)) * 8000 <= budget + 24_000


def test_a_single_iteration_cannot_use_up_the_budget(writer):
    keeper = ValueKeeper(writer, 1 << 20)
    for tensor in range(200):
        offer(keeper, tensor, 1000)
    assert len(kept(writer)) == (1 << 18) // 8000


def test_everything_until_the_budget_is_used_up(writer):
    keeper = ValueKeeper(writer, 80_000, everything=True)
    for iteration in range(20):
        keeper.begin(iteration)
        offer(keeper, iteration, 1000)
    assert kept(writer) == list(range(10))
    assert "used up" in keeper.degraded
