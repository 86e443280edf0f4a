"""The event model: what holds in every recording, checked on several programs."""

from __future__ import annotations

import threading
from itertools import pairwise

import numpy as np
import pytest

import gradtape as gt
from tapeviz.recording.schema import (
    NONE,
    RECORDS,
    AssignKind,
    OpFlag,
    PassKind,
    Phase,
    Role,
    State,
    Status,
    TensorFlag,
    What,
)


def training(steps=4):
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(8, 3)), rng.normal(size=(8, 1))
    W = [gt.Variable(rng.normal(size=s)) for s in ((3, 4), (4, 4), (4, 1))]
    b = [gt.Variable(np.zeros(s), name=f"b{k}") for k, s in enumerate((4, 4, 1))]
    for _ in range(steps):
        with gt.GradientTape() as tape:
            h = x
            for Wi, bi in zip(W, b, strict=True):
                h = gt.tanh(h @ Wi + bi)
            loss = gt.mean(gt.square(h - y))
        gradients = tape.gradient(loss, W + b)
        for v, g in zip(W + b, gradients, strict=True):
            v.assign_sub(0.1 * g)


def recurrent():
    Wh, state = gt.Variable(np.eye(3) * 0.5, name="Wh"), np.ones((2, 3))
    with gt.GradientTape() as tape:
        for _ in range(5):
            state = gt.tanh(state @ Wh)
        loss = gt.sum(state)
    tape.gradient(loss, Wh)


def nested():
    x = gt.Variable(2.0, name="x")
    with gt.GradientTape() as outer:
        with gt.GradientTape() as inner:
            y = x * x * x
        first = inner.gradient(y, x)
    second = outer.gradient(first, x)
    assert float(second) == 12


def persistent():
    x = gt.constant([1.0, 2.0])
    with gt.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = gt.exp(x)
        z = gt.sum(y * y)
    tape.gradient(z, x)
    tape.gradient(y, [x, y])
    tape.delete()


def many_outputs():
    x = gt.Variable(np.arange(6.0), name="x")
    with gt.GradientTape() as tape:
        first, second = gt.split(x, 2)
        loss = gt.sum(first * second) + gt.sum(first)
    tape.gradient(loss, x)


def jacobian():
    x = gt.Variable([1.0, 2.0], name="x")
    with gt.GradientTape() as tape:
        y = gt.square(x)
    tape.jacobian(y, x)


def where_nan():
    x = gt.Variable(np.array([-1.0, 4.0]), name="x")
    with np.errstate(invalid="ignore"), gt.GradientTape() as tape:
        y = gt.sum(gt.where(gt.greater(x, 0.0), gt.sqrt(x), 0.0))
    tape.gradient(y, x)


PROGRAMS = [training, recurrent, nested, persistent, many_outputs, jacobian, where_nan]


@pytest.fixture(params=PROGRAMS, ids=lambda f: f.__name__)
def recorded(request, recording_of):
    return recording_of(request.param)


def test_ids_are_dense_and_refer_to_what_is_there(recorded):
    r = recorded
    for kind in ("op", "tensor", "pass", "tape", "iteration"):
        rows = r.records(kind)
        assert rows["id"].tolist() == list(range(len(rows))), kind
    assert len(r.ops)
    limits = {"op": len(r.ops), "tensor": len(r.tensors), "pass": len(r.passes), "variable": len(r.variables)}
    for kind in RECORDS:
        for field, limit in limits.items():
            if field in (RECORDS[kind].names or ()) and field != kind:
                column = r.records(kind)[field]
                assert (column[column != NONE] < limit).all(), (kind, field)
    for op in range(len(r.ops)):
        assert all(t < len(r.tensors) for t in r.op_inputs(op))
        for k, t in enumerate(r.op_outputs(op)):
            assert r.tensors["op"][t] == op, k
        assert all(t < r.ops["output"][op] for t in r.op_inputs(op))   # nothing is read before it is made


def test_contributions_sum_to_the_cotangent(recorded):
    r = recorded
    checked = 0
    for p in range(len(r.passes)):
        if r.passes["kind"][p] != PassKind.GRADIENT:
            continue
        target = int(r.passes["target"][p])
        for row in r.stats_of(What.COTANGENT, pass_=p):
            tensor = int(row["tensor"])
            parts = [r.value(tensor, What.CONTRIBUTION, p, int(c["op"]), int(c["slot"]))
                     for c in r.stats_of(What.CONTRIBUTION, pass_=p) if c["tensor"] == tensor]
            whole = r.value(tensor, What.COTANGENT, p)
            if tensor == target:
                parts.append(np.ones_like(whole))
            np.testing.assert_allclose(sum(parts), whole, rtol=1e-12)
            assert row["l2"] == pytest.approx(np.linalg.norm(whole), nan_ok=True)
            checked += 1
    assert checked or r.passes["kind"][0] != PassKind.GRADIENT


def test_results_are_the_gradients(recorded):
    r = recorded
    for p in range(len(r.passes)):
        results = r.results_of(p)
        assert len(results) == r.passes["nsources"][p]
        for row in results:
            stat = r.stat(int(row["tensor"]), What.GRADIENT, p)
            assert stat is not None
            assert (stat["state"] == State.NONE) == (row["state"] == State.NONE)
            if row["state"] == State.OK and r.passes["kind"][p] == PassKind.GRADIENT:
                parts = [r.value(int(row["tensor"]), What.CONTRIBUTION, p, int(c["op"]), int(c["slot"]))
                         for c in r.stats_of(What.CONTRIBUTION, pass_=p) if c["tensor"] == row["tensor"]]
                if int(row["tensor"]) != r.passes["target"][p]:
                    np.testing.assert_allclose(sum(parts), r.value(int(row["tensor"]), What.GRADIENT, p), rtol=1e-12)


def test_steps_follow_each_other_backwards(recorded):
    r = recorded
    for p in range(len(r.passes)):
        steps = r.steps_of(p)
        assert r.passes["status"][p] == Status.OK
        assert len(steps) == r.passes["steps"][p]
        assert steps["step"].tolist() == list(range(len(steps)))
        if r.passes["kind"][p] == PassKind.GRADIENT:
            assert (np.diff(steps["op"].astype(int)) < 0).all()
        assert (np.diff(steps["t"].astype(int)) > 0).all()
        for step in steps:
            given = [c for c in r.stats_of(What.CONTRIBUTION, pass_=p) if c["op"] == step["op"]]
            if r.passes["kind"][p] == PassKind.GRADIENT:
                assert step["ncontributions"] == len(given)
            assert step["arrived"] >= 1
            assert r.ops["flags"][step["op"]] & OpFlag.RECORDED


def test_every_operation_has_a_place_in_the_source(recorded):
    r = recorded
    for op in range(len(r.ops)):
        path, line = r.op_line(op)
        assert path == __file__
        assert line > 0
    assert r.sources[0].text.startswith('"""The event model')
    for kind in range(10):
        if r.kind(kind).name != "?":
            assert r.kind(kind).formula
            assert len(r.kind(kind).vjps) in (0, len(r.kind(kind).arguments))


def test_every_quantity_has_statistics_of_its_value(recorded):
    r = recorded
    for row in r.values:
        key = {"pass_": int(row["pass"]), "op": int(row["op"]), "slot": int(row["slot"])}
        stat = r.stat(int(row["tensor"]), int(row["what"]), **key)
        value = r.value(int(row["tensor"]), int(row["what"]), **key)
        assert stat is not None
        assert value is not None
        assert stat["n"] == value.size
        finite = value[np.isfinite(value)] if value.dtype.kind == "f" else value
        if finite.size:
            assert stat["max_abs"] == np.abs(finite.astype(float)).max()
    assert {int(t) for t in r.tensors["id"]} == {int(s["tensor"]) for s in r.stats if s["what"] == What.VALUE}


# --- single facts -------------------------------------------------------------------------------------------------

def test_training_in_detail(recording_of):
    r = recording_of(training)
    assert [v.name for v in r.variables] == ["W[0]", "b0", "W[1]", "b1", "W[2]", "b2"]
    assert len(r.iterations) == 4
    assert [len(r.passes_of(i)) for i in range(4)] == [1] * 4
    names = [r.op_name(op) for op in r.ops_of(1)]
    assert names == ["matmul", "add", "tanh"] * 3 + ["subtract", "square", "mean"] + ["multiply"] * 6
    assert [Phase(int(p)).name for p in r.ops["phase"][list(r.ops_of(1))]] == ["FORWARD"] * 12 + ["UPDATE"] * 6
    first = r.ops_of(1)[0]
    x, w = r.op_inputs(first)
    assert (r.tensor_name(x), r.tensors["role"][x]) == ("h", Role.CONSTANT)
    assert (r.tensor_name(w), r.tensors["version"][w]) == ("W[0]", 1)
    assert r.tensors["flags"][w] & TensorFlag.TRAINABLE
    assert r.tensor_name(r.op_outputs(first + 2)[0]) == "h"
    assert r.tensor_name(int(r.passes["target"][0])) == "loss"
    assert not np.isnan(r.stats_of(What.VALUE)["saturated"]).all()
    update = r.ops_of(1)[12]
    lr, gradient = r.op_inputs(update)
    assert r.tensor_name(lr) == "0.1"
    assert (r.tensor_name(gradient), r.tensors["role"][gradient]) == ("gradients[0]", Role.GRADIENT)
    assign = r.assigns[6]
    assert (assign["kind"], assign["version"], assign["by"]) == (AssignKind.SUB, 2, update)
    assert r.stat(int(assign["tensor"]), What.UPDATE)["cosine"] == pytest.approx(1)
    before, after = r.value(w), r.value(int(assign["tensor"]))
    np.testing.assert_array_equal(r.value(int(assign["tensor"]), What.UPDATE), after - before)


def test_a_fan_in_has_cosines_against_what_came_before(recording_of):
    r = recording_of(recurrent)
    rows = [c for c in r.stats_of(What.CONTRIBUTION, pass_=0) if r.tensors["variable"][c["tensor"]] == 0]
    assert len(rows) == 5
    parts = [r.value(int(c["tensor"]), What.CONTRIBUTION, 0, int(c["op"]), int(c["slot"])).ravel() for c in rows]
    assert np.isnan(rows[0]["cosine"])
    running = parts[0]
    for part, row in zip(parts[1:], rows[1:], strict=True):
        assert row["cosine"] == pytest.approx(part @ running / np.linalg.norm(part) / np.linalg.norm(running))
        running = running + part


def test_nested_tapes(recording_of):
    r = recording_of(nested)
    outer, inner = r.tapes
    assert (inner["parent"], outer["parent"]) == (outer["id"], NONE)
    assert r.passes["tape"].tolist() == [inner["id"], outer["id"]]
    assert r.passes["order"].tolist() == [1, 2]
    backward = r.ops[r.ops["phase"] == Phase.BACKWARD]
    assert len(backward)
    assert set(backward["pass"]) == {0}
    x = next(int(t["id"]) for t in r.tensors if t["variable"] == 0)
    assert any(x in r.op_inputs(int(op)) for op in backward["id"])   # rules read the variable itself
    assert float(r.value(x, What.GRADIENT, 1)) == 12


def test_a_gradient_call_inside_another(recording_of):
    @gt.custom_gradient
    def square(x):
        def grad(upstream):
            z = gt.constant(3.0)
            with gt.GradientTape() as tape:
                tape.watch(z)
                w = z * z
            return upstream * tape.gradient(w, z)
        return x * x, grad

    def program():
        x = gt.Variable(2.0, name="x")
        with gt.GradientTape() as tape:
            y = square(x)
        tape.gradient(y, x)

    r = recording_of(program)
    assert r.passes["parent"].tolist() == [NONE, 0]
    assert len(r.iterations) == 1


def test_unconnected_sources(recording_of):
    def program():
        used, unused = gt.Variable(1.0, name="used"), gt.Variable(1.0, name="unused")
        for how in ("none", "zero"):
            with gt.GradientTape() as tape:
                y = used * 2.0
            tape.gradient(y, [used, unused], unconnected_gradients=how)
        gt.Variable(np.ones(2), name="never read")

    r = recording_of(program)
    states = [State(int(s)).name for s in r.results["state"]]
    assert states == ["OK", "NONE", "OK", "ZERO_UNCONNECTED"]
    assert [v.name for v in r.variables] == ["used", "unused", "never read"]
    assert r.variables[2].shape == (2,)


def test_errors_in_forward_and_backward(recording_of):
    @gt.custom_gradient
    def broken(x):
        def grad(upstream):
            raise ValueError("no slope")
        return x * 1.0, grad

    def program():
        x = gt.Variable(np.ones(3), name="x")
        with pytest.raises(ValueError, match="do not fit"):
            x + np.ones(4)
        with gt.GradientTape() as tape:
            y = gt.sum(broken(x))
        with pytest.raises(ValueError, match="no slope"):
            tape.gradient(y, x)

    r = recording_of(program)
    assert r.ops["flags"][0] & OpFlag.FAILED
    assert r.ops["nout"][0] == 0
    assert "do not fit" in str(r.op_attrs(0)["error"])
    assert r.passes["status"][0] == Status.ERROR
    assert r.results_of(0).size == 0


def test_constants(recording_of):
    data = np.arange(3.0)

    def program():
        a = data + gt.constant(1.0)
        a * data
        data[0] = 7.0   # after it was read
        gt.concat([gt.constant([float(k)]) for k in range(6)])

    r = recording_of(program)
    first, second = r.op_inputs(0)[0], r.op_inputs(1)[1]
    assert first == second   # the same object in the same iteration
    assert r.tensor_name(first) == "data"
    assert r.tensors["digest"][first] != 0
    assert len(r.op_inputs(2)) == r.ops["nin"][2] == 6
    assert r.ops["phase"].tolist() == [Phase.OUTSIDE] * 3


def test_attributes_scopes_and_watches(recording_of):
    def program():
        x = gt.constant(np.ones((2, 3)))
        with gt.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(x)
            with gt.scope("block"), gt.scope("inner"):
                gt.sum(x, axis=1, keepdims=True)

    r = recording_of(program)
    assert r.op_attrs(0)["axis"] == 1
    assert r.op_attrs(0)["keepdims"] is True
    inner = r.scope(int(r.ops["scope"][0]))
    assert (inner.name, r.scope(inner.parent).name) == ("inner", "block")
    assert r.watches["explicit"].tolist() == [1]
    assert r.watches["tensor"][0] == r.op_inputs(0)[0]


def test_two_threads(recording_of):
    both = threading.Barrier(2)

    def work():
        both.wait()   # a number of a thread that has ended is given again
        v = gt.Variable(1.0, name=threading.current_thread().name)
        for _ in range(20):
            with gt.GradientTape() as tape:
                y = v * v
            v.assign_sub(0.1 * tape.gradient(y, v))

    def program():
        threads = [threading.Thread(target=work, name=f"t{k}") for k in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    r = recording_of(program)
    assert sorted(set(r.ops["thread"].tolist())) == [0, 1]
    assert len(r.passes) == 40
    assert (r.passes["status"] == Status.OK).all()
    assert (r.results["state"] == State.OK).all()
    for p in range(40):
        thread = r.tapes["thread"][r.passes["tape"][p]]
        assert set(r.ops["thread"][r.steps_of(p)["op"]]) == {thread}


def test_levels(recording_of):
    counts = {level: recording_of(training, level) for level in ("params", "tape", "stats", "values")}
    params, tape = counts["params"], counts["tape"]
    assert len(params.ops) == len(params.steps) == 0
    assert len(params.results) == len(tape.results) == 24
    assert set(params.stats["what"]) == set(tape.stats["what"]) == {What.VALUE, What.GRADIENT, What.UPDATE}
    assert len(params.iterations) == 4
    assert len(tape.ops) == len(counts["stats"].ops)
    assert len(tape.steps) == len(counts["stats"].steps)
    assert len(counts["values"].values) == len(counts["stats"].stats)


def test_the_first_non_finite_number_freezes_what_is_remembered(recording_of):
    def program():
        w = gt.Variable(np.full(300, 1.0), name="w")
        for step in range(40):
            with np.errstate(all="ignore"), gt.GradientTape() as tape:
                loss = gt.sum(gt.sqrt(w - (2.0 if step == 27 else 0.0)))
            tape.gradient(loss, w)
            w.assign(np.full(300, 1.0))

    r = recording_of(program)
    outputs = {i: [r.has_value(t) for op in r.ops_of(i)[:2] for t in r.op_outputs(op)] for i in range(40)}
    assert all(all(kept) for i, kept in outputs.items() if i in (0, 1, 2, 26, 27, 38, 39))
    assert not any(outputs[25])


def test_objects_that_come_and_go_are_not_mixed_up(recording_of):
    def program():
        history = []
        carried = gt.constant(np.ones(2))
        v = gt.Variable(np.ones(2), name="v")
        for step in range(30):
            with gt.GradientTape() as tape:
                y = gt.sum(v * carried + float(step))
            v.assign_sub(tape.gradient(y, v) * 0.01)
            history.append(y)
            carried = carried * 1.5
        gt.stack(history)

    r = recording_of(program)
    last = len(r.ops) - 1
    made_by = [int(r.tensors["op"][t]) for t in r.op_inputs(last)]
    assert [r.op_name(op) for op in made_by] == ["sum"] * 30
    assert len(set(made_by)) == 30
    named = {op: r.tensor_name(r.op_outputs(op)[0]) for op in range(last)}
    carried = [op for op in range(last) if r.op_name(op) == "multiply" and named[op] == "carried"]
    for one, following in pairwise(carried):
        assert r.op_inputs(following)[0] == r.op_outputs(one)[0]


def test_a_budget_that_is_used_up_is_told(recording_of):
    def program():
        v = gt.Variable(np.ones(1000))
        for _ in range(20):
            with gt.GradientTape() as tape:
                y = gt.sum(v * v)
            v.assign_sub(0.01 * tape.gradient(y, v))

    r = recording_of(program, "values", budget=400_000)
    (event,) = [e for e in r.events if e.kind == "level"]
    assert "used up" in str(event.data["why"])
    assert r.values["nbytes"].sum() < 700_000
    assert len(r.stats_of(What.GRADIENT)) == 20
