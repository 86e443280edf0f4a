"""Repeated iterations are recorded in one go; the recording must be the same as if they had gone event by event."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

import gradtape as gt
from tapeviz.capture import replay
from tapeviz.capture.control import Control
from tapeviz.capture.observer import Capture
from tapeviz.capture.pace import Pace
from tapeviz.capture.recorder import Recorder
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE, RECORDS, What
from tapeviz.recording.writer import Writer

TIMES = {"t", "dur", "t0", "t1"}


def perceptron(steps=40):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(8, 3)).astype("f4"), rng.normal(size=(8, 1)).astype("f4")
    W = [gt.Variable(rng.normal(size=s).astype("f4")) for s in ((3, 4), (4, 4), (4, 1))]
    b = [gt.Variable(np.zeros(s, "f4")) for s in (4, 4, 1)]
    unused = gt.Variable(np.zeros(2), name="unused")
    for step in range(steps):
        rows = rng.integers(0, 8, 5)
        with gt.GradientTape() as tape:
            h = x[rows]
            for Wi, bi in zip(W, b, strict=True):
                h = gt.tanh(h @ Wi + bi)
            loss = gt.mean(gt.square(h - y[rows]))
        gradients = tape.gradient(loss, [*W, *b, unused])
        for v, g in zip(W + b, gradients, strict=False):
            v.assign_sub(0.1 * g)
        if step % 7 == 3:
            print(float(loss))


def recurrent(steps=25):
    rng = np.random.default_rng(1)
    Wx, Wh = gt.Variable(rng.normal(size=(2, 4)), name="Wx"), gt.Variable(np.eye(4) * 0.7, name="Wh")
    carried = gt.constant(np.zeros((3, 4)))
    for _ in range(steps):
        with gt.GradientTape() as tape:
            h = carried
            for _ in range(4):
                h = gt.nn.relu(rng.normal(size=(3, 2)) @ Wx + h @ Wh)
            loss = gt.sum(h)
        for v, g in zip((Wx, Wh), tape.gradient(loss, [Wx, Wh]), strict=True):
            v.assign_add(-0.01 * g)
        carried = gt.stop_gradient(h)


def optimizer(steps=20):
    w = gt.Variable(np.linspace(-1, 1, 700), name="w")
    adam = gt.optimizers.Adam(0.01)
    for _ in range(steps):
        with gt.GradientTape() as tape:
            loss = gt.sum(gt.square(w))
        adam.apply_gradients([(tape.gradient(loss, w), w)])


def changing(steps=40):
    """Structures alternate, shapes change, once a NaN appears, and an operation fails."""
    w = gt.Variable(np.ones(5), name="w")
    for step in range(steps):
        with np.errstate(all="ignore"), gt.GradientTape() as tape:
            h = w * float(step)
            if step % 10 == 9:
                h = gt.sin(h)
            if step == 25:
                h = h + np.log(np.array([-1.0, 1, 1, 1, 1]))
            loss = gt.sum(h * np.ones((1 + (step > 15), 5)))
        if step == 30:
            with pytest.raises(ValueError, match="fit"):
                w + np.ones(4)
        w.assign(w.numpy() - 0.1 * tape.gradient(loss, w).numpy())


def micro_batches(steps=20):
    w = gt.Variable(np.ones(3), name="w")
    for _ in range(steps):
        total = 0.0
        for k in range(3):
            with gt.GradientTape() as tape:
                loss = gt.sum(w * w * (k + 1.0))
            total = tape.gradient(loss, w) + total
        w.assign_sub(0.01 * total)


def nested(steps=12):
    x = gt.Variable(2.0, name="x")
    for _ in range(steps):
        with gt.GradientTape() as outer:
            with gt.GradientTape() as inner:
                y = x * x * x
            first = inner.gradient(y, x)
        x.assign_sub(0.01 * outer.gradient(first, x))


PROGRAMS = [perceptron, recurrent, optimizer, changing, micro_batches, nested]


def record(path, program, level, templates, monkeypatch):
    monkeypatch.setattr(replay, "MOST_TEMPLATES", templates)
    writer = Writer(path, {"level": level})
    capture = Capture(Recorder(writer, level, 64 << 20), Control())
    with gt.observe(capture):
        capture._due = 1 << 62       # all in one batch, whatever the machine is doing
        program()
    capture.close()
    capture.recorder.finish()
    writer.close()
    return capture._replay.replayed


@pytest.mark.parametrize("level", ["params", "tape", "stats"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_the_recording_is_the_same(tmp_path, monkeypatch, program, level):
    ordinary, quick = tmp_path / "ordinary.tapeviz", tmp_path / "quick.tapeviz"
    assert record(ordinary, program, level, 0, monkeypatch) == 0
    replayed = record(quick, program, level, 6, monkeypatch)
    if program in (perceptron, recurrent, optimizer):
        assert replayed > 10
    with open_recording(ordinary) as one, open_recording(quick) as other:
        for kind in RECORDS:
            if kind in ("stat", "value"):
                continue
            a, b = one.records(kind), other.records(kind)
            assert len(a) == len(b), kind
            for field in set(RECORDS[kind].names or ()) - TIMES:
                np.testing.assert_array_equal(a[field], b[field], err_msg=f"{kind}.{field}")
        a, b = by_key(one.stats), by_key(other.stats)
        for field in RECORDS["stat"].names or ():
            np.testing.assert_allclose(a[field], b[field], rtol=1e-5, atol=1e-7, err_msg=field)
        kept_a, kept_b = ({tuple(r) for r in v[["tensor", "what", "pass", "op", "slot"]].tolist()}
                          for v in (one.values, other.values))
        assert kept_a == kept_b
        assert [(e.kind, e.op) for e in one.events] == [(e.kind, e.op) for e in other.events]
        assert [v.name for v in one.variables] == [v.name for v in other.variables]
        for row in other.values[::7]:
            key = (int(row["tensor"]), int(row["what"]), int(row["pass"]), int(row["op"]), int(row["slot"]))
            np.testing.assert_array_equal(one.value(*key), other.value(*key))


def by_key(stats):
    return stats[np.lexsort([stats[f] for f in ("slot", "op", "pass", "what", "tensor")])]


def test_times_of_replayed_operations_are_their_own(tmp_path, monkeypatch):
    path = tmp_path / "run.tapeviz"
    record(path, perceptron, "stats", 6, monkeypatch)
    with open_recording(path) as recording:
        assert (np.diff(recording.ops["t"].astype(np.int64)) > 0).all()
        assert (np.diff(recording.steps["t"].astype(np.int64)) > 0).all()
        assert (recording.passes["t1"] > recording.passes["t0"]).all()
        for p in range(len(recording.passes)):
            steps = recording.steps_of(p)
            assert recording.passes["t0"][p] <= steps["t"][0]
            assert steps["t"][-1] <= recording.passes["t1"][p]


# --- thinning -----------------------------------------------------------------------------------------------------

class EveryTenth(Pace):
    """Over its part nine times out of ten, whatever the clock says."""

    def __init__(self):
        super().__init__()
        self.asked = count(1)

    def is_over(self):
        return next(self.asked) % 10 != 0

    def allow(self, seconds):
        self.is_over = lambda: False   # type: ignore[method-assign]  # from now on everything


def thinned(path, program):
    writer = Writer(path, {})
    capture = Capture(Recorder(writer, "stats", 64 << 20), Control(), pace=EveryTenth())
    with gt.observe(capture):
        capture._due = 1 << 62
        program(capture)
    capture.close()
    capture.recorder.finish()
    writer.close()
    return capture


def descent(capture, steps=95, nan_at=None):
    w = gt.Variable(np.linspace(1, 2, 4), name="w")
    for step in range(steps):
        with np.errstate(all="ignore"), gt.GradientTape() as tape:
            loss = gt.sum(gt.sqrt(w * (-1.0 if step == nan_at else 1.0)))
        w.assign_sub(0.001 * tape.gradient(loss, w))
        if step % 20 == 5:
            capture.text("stdout", f"{step}\n")
    capture.process()
    return w


def test_left_out_iterations_are_counted_and_the_newest_are_there(tmp_path):
    final = []
    capture = thinned(tmp_path / "run.tapeviz", lambda capture: final.append(descent(capture).numpy()))
    assert capture.thinning.dropped > 60
    with open_recording(tmp_path / "run.tapeviz") as r:
        assert len(r.iterations) == 95
        whole = [i for i in range(95) if len(r.ops_of(i)) == 4]
        assert set(range(95)) - set(whole) == {i for i in range(95) if not len(r.ops_of(i))}
        assert len(whole) == 95 - capture.thinning.dropped
        assert whole[-2:] == [93, 94]    # the newest, recorded when the run ended
        for kind in ("op", "tensor", "pass", "tape"):
            assert r.records(kind)["id"].tolist() == list(range(len(r.records(kind))))
        assert [e.data["text"] for e in r.events if e.kind == "stdout"] == [f"{k}\n" for k in range(5, 95, 20)]
        assert len([e for e in r.events if e.kind == "level"]) == 1
        last = r.assigns[-1]
        assert last["version"] == 95
        np.testing.assert_array_equal(r.value(int(last["tensor"])), final[0])
        for i in whole:      # every recorded iteration reads the version it really read
            _, w = None, r.op_inputs(r.ops_of(i)[0])[0]
            assert r.tensors["version"][w] == i


def test_the_iteration_of_the_first_nan_is_recorded_although_its_turn_had_not_come(tmp_path):
    capture = thinned(tmp_path / "run.tapeviz", lambda capture: descent(capture, nan_at=77))
    assert capture.thinning.dropped > 50
    with open_recording(tmp_path / "run.tapeviz") as r:
        assert len(r.iterations) == 95
        assert [len(r.ops_of(i)) for i in range(75, 95)] == [4] * 20
        bad = r.stats[(r.stats["nan"] > 0) & (r.stats["what"] == What.VALUE) & (r.stats["op"] != NONE)]
        first = int(bad["op"].min())
        assert (r.op_name(first), r.iteration_of(first)) == ("sqrt", 77)


def test_the_pace_allows_a_start_and_then_a_share():
    pace = Pace(allowance=0.0, share=0.0)
    pace.start()
    assert pace.is_over()
    pace.allow(100)
    assert not pace.is_over()
    pace.stop()
    assert not Pace(allowance=100, share=0).is_over()
