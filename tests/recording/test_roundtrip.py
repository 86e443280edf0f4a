"""What is written is read: every kind of record, every table, values, and numbers that do not fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tapeviz.recording.reader import open_recording
from tapeviz.recording.rows import Event, Kind, Location, RecordingError, Scope, VariableRow
from tapeviz.recording.schema import DENSE, DTYPES, NONE, RECORDS, What
from tapeviz.recording.writer import Writer, dtype_code


def random_records(kind: str, count: int, rng: np.random.Generator) -> np.ndarray:
    records = np.frombuffer(rng.bytes(count * RECORDS[kind].itemsize), RECORDS[kind]).copy()
    for name in records.dtype.names or ():
        if records.dtype[name].base.kind == "f":
            records[name] = rng.standard_normal(records[name].shape)
    if kind in DENSE:
        records["id"] = np.arange(count)
    return records


@pytest.mark.parametrize("kind", RECORDS)
@pytest.mark.parametrize("way", ["flat", "nested", "array"])
def test_every_kind_of_record(kind: str, way: str, tmp_path: Path, rng: np.random.Generator) -> None:
    records = random_records(kind, 5000, rng)
    with Writer(tmp_path / "a.tapeviz") as writer:
        if way == "array":
            writer.append_array(kind, records)
        for record in records.tolist() if way != "array" else ():
            flat = [n for item in record for n in (item if isinstance(item, (list, np.ndarray)) else [item])]
            writer.append(kind, record if way == "nested" else tuple(flat))
    with open_recording(tmp_path / "a.tapeviz") as recording:
        read = recording.records(kind)
        np.testing.assert_array_equal(read, records)
        assert not read.flags.writeable


def test_tuples_and_arrays_keep_their_order(tmp_path: Path) -> None:
    steps = np.zeros(10, RECORDS["step"])
    steps["step"] = np.arange(10)
    with Writer(tmp_path / "a.tapeviz") as writer:
        writer.step(0, 100, 0, 0, 0, 0, 0)
        writer.append_array("step", steps)
        writer.step(0, 200, 0, 0, 0, 0, 0)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.steps["step"].tolist() == [100, *range(10), 200]


def test_a_later_record_of_an_id_replaces_the_earlier(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz") as writer:
        for number in range(3):
            writer.tape(number, NONE, 0, 1, 0, NONE, 0, NONE, 0, 1)
        writer.flush()
        writer.tape(1, NONE, 0, 0, 0, NONE, 0, 7, 0, 1)
        writer.tape(1, NONE, 0, 0, 0, NONE, 0, 8, 0, 1)
        writer.tape(4, NONE, 0, 1, 0, NONE, 0, 9, 0, 1)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.tapes["exit_op"].tolist() == [NONE, 8, NONE, NONE, 9]
        assert recording.tapes["id"].tolist() == [0, 1, 2, 3, 4]   # 3 has not been written: it points nowhere
        assert recording.tapes["loc"][3] == NONE


def test_tables(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz", {"script": "train.py", "argv": ["-n", "3"]}) as writer:
        assert [writer.name_id(s) for s in ("a", "b", "a")] == [0, 1, 0]
        source = writer.source_id("train.py", "x = 1\n")
        assert writer.source_id("train.py", "x = 1\n") == source
        assert writer.source_id("train.py", "x = 2\n") == source + 1
        loc = writer.loc_id(source, 1, 1, 0, 5, "<module>")
        assert writer.loc_id(source, 1, 1, 0, 5, "<module>") == loc
        outer = writer.scope_id(NONE, "name", "model", loc)
        inner = writer.scope_id(outer, "name", "layer1")
        first = writer.variable("W", (2, 3), np.dtype("f4"), True, loc)
        assert writer.variable("W", (), "float64", False) == first + 1   # names of variables need not be unique
        kind = writer.kind("add", "a + b", ("a", "b"), ("g", "g"), 2)
        assert writer.kind("add", "a + b", ("a", "b"), ("g", "g"), 2) == kind
        writer.event("stdout", {"text": "hello\n"}, op=3)
        writer.op_extra(7, "inputs", [1, 2, 3, 4, 5])
        writer.set_meta("note", {"deep": [1.5, None]})
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.name(1) == "b"
        assert recording.name(99) == recording.name(NONE) == ""
        assert recording.loc(loc) == Location("train.py", 1, 1, 0, 5, "<module>", source)
        assert recording.loc(NONE) is None
        assert recording.scope(inner) == Scope(inner, outer, "name", "layer1", NONE)
        assert recording.variables[first] == VariableRow(first, "W", (2, 3), "float32", True, loc)
        assert recording.variables[first + 1].shape == ()
        assert recording.kind(kind) == Kind(kind, "add", "a + b", ("a", "b"), ("g", "g"), 2)
        assert [source.text for source in recording.sources] == ["x = 1\n", "x = 2\n"]
        (event,) = recording.events
        assert event == Event(0, event.t, "stdout", 3, NONE, {"text": "hello\n"})
        assert recording.meta["script"] == "train.py"
        assert recording.meta["note"] == {"deep": [1.5, None]}
        assert recording.status == "finished"


def test_operations_are_readable(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz") as writer:
        kind = writer.kind("concat")
        loc = writer.loc_id(writer.source_id("train.py", "\n"), 12, 12, 0, 5, "f")
        attrs = writer.attrs_id({"axis": -1})
        writer.op(0, kind, 1, 1, NONE, loc, 0, 5, 2, 1, 2, 3, 4, 6, 0, 0, 0, NONE, attrs)
        writer.op_extra(0, "inputs", [1, 2, 3, 4, 5])
        writer.op(1, kind, 1, 1, NONE, NONE, 0, 2, 1, 6, 7, NONE, NONE, 8, 0, 0, 0, NONE, NONE)
        shape = writer.shape_id((2, 3))
        for number in range(9):
            op, variable = (0, NONE) if number in (6, 7) else (NONE, 0 if number == 1 else NONE)
            name = writer.name_id("x") if number == 2 else NONE
            writer.tensor(number, op, variable, 0, shape, 10, 1, 0, name, 0)
        writer.variable("W", (2, 3), "float32", True)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.op_name(0) == "concat"
        assert recording.op_line(0) == ("train.py", 12)
        assert recording.op_line(1) == ("", 0)
        assert recording.op_inputs(0) == [1, 2, 3, 4, 5]
        assert recording.op_inputs(1) == [6, 7]
        assert list(recording.op_outputs(0)) == [6, 7]
        assert recording.op_attrs(0) == {"axis": -1, "inputs": [1, 2, 3, 4, 5]}
        assert recording.op_attrs(1) == {}
        assert [recording.tensor_name(n) for n in (1, 2, 3, 6, 99)] == ["W", "x", "constant:3", "concat:6", "?"]
        assert recording.shape(int(recording.tensors["shape"][6])) == (2, 3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3, 4)], ids=str)
def test_values_of_every_type(dtype: str, shape: tuple[int, ...], tmp_path: Path, rng: np.random.Generator) -> None:
    array = (rng.standard_normal(shape) * 100).astype(dtype)
    with Writer(tmp_path / "a.tapeviz") as writer:
        assert writer.value(3, What.VALUE, array)
        assert writer.value(3, What.CONTRIBUTION, array[..., None], pass_=1, op=2, slot=1)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        read = recording.value(3)
        assert read is not None
        assert read.dtype == array.dtype
        assert not read.flags.writeable
        np.testing.assert_array_equal(read, array)
        part = recording.value(3, What.CONTRIBUTION, pass_=1, op=2, slot=1)
        assert part is not None
        assert part.shape == (*shape, 1)
        assert recording.value(3, What.CONTRIBUTION, pass_=2) is None
        assert recording.has_value(3)
        assert not recording.has_value(4)


def test_values_in_any_memory_order_and_byte_order(tmp_path: Path, rng: np.random.Generator) -> None:
    array = rng.standard_normal((4, 6))
    with Writer(tmp_path / "a.tapeviz") as writer:
        for number, form in enumerate([array.T, array[::2, ::-1], array.astype(">f8")]):
            assert writer.value(number, What.VALUE, form)
        assert not writer.value(9, What.VALUE, np.array(["text", None], dtype=object))
        assert not writer.value(9, What.VALUE, np.zeros(2, np.longdouble))
    with open_recording(tmp_path / "a.tapeviz") as recording:
        for number, form in enumerate([array.T, array[::2, ::-1], array]):
            np.testing.assert_array_equal(recording.value(number), form)
        assert recording.value(9) is None


def test_values_fill_several_blobs(tmp_path: Path, rng: np.random.Generator) -> None:
    arrays = [rng.standard_normal(size) for size in (100_000, 5, 400_000, 90_000, 90_000, 7)]
    with Writer(tmp_path / "a.tapeviz") as writer:
        for number, array in enumerate(arrays):
            writer.value(number, What.VALUE, array)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert len(set(recording.values["blob"].tolist())) >= 3
        for number, array in enumerate(arrays):
            np.testing.assert_array_equal(recording.value(number), array)


def test_numbers_too_large_for_their_field_stop_at_its_end(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz") as writer:
        writer.op(0, 70_000, 1, 1, 0, 0, -3, 300, 1, 0, 0, 0, 0, 0, 5, 10**12, 0, 0, 0)
        writer.stat(0, 0, 0, 0, 0, 0, 0, 2**40, 0, 0, 0, 0, 0, 1.0, 0, 0, 0, 0, 1e300, np.nan, -1e300, 0)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        op, stat = recording.ops[0], recording.stats[0]
        assert (op["kind"], op["thread"], op["nin"], op["dur"]) == (65535, 0, 255, 2**32 - 1)
        assert (stat["n"], stat["low"], stat["cosine"]) == (2**32 - 1, np.inf, -np.inf)
        assert np.isnan(stat["saturated"])


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ((1, 2, 3), r"a record of kind step has 7 numbers, got 3"),
        ((1, 2, 3, 4, 5, "six", 7), r"field arrived of a record of kind step takes a number, got 'six'"),
    ],
)
def test_a_malformed_record_is_named_and_the_next_are_kept(record: tuple[object, ...], message: str,
                                                           tmp_path: Path) -> None:
    with Writer(tmp_path / "a.tapeviz") as writer:
        writer.append("step", record)
        with pytest.raises(RecordingError, match=message):
            writer.flush()
        writer.step(1, 2, 3, 4, 5, 6, 7)
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.steps.tolist() == [(1, 2, 3, 4, 5, 6, 7)]


def test_text_that_is_no_valid_unicode(tmp_path: Path) -> None:
    broken = b"caf\xe9.py".decode("utf-8", "surrogateescape")
    with Writer(tmp_path / "a.tapeviz") as writer:
        name = writer.name_id(broken)
        source = writer.source_id(broken, broken)
        loc = writer.loc_id(source, np.int64(3), None, None, None, "f")   # type: ignore[arg-type]  # co_positions
        writer.event("stdout", {"text": broken})
    assert writer.failed is None
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.name(name) == "caf\\udce9.py"
        assert recording.loc(loc) == Location("caf\\udce9.py", 3, -1, -1, -1, "f", source)
        assert recording.events[0].data == {"text": broken}


def test_codes_of_element_types() -> None:
    assert [dtype_code(np.dtype(name)) for name in DTYPES] == list(range(len(DTYPES)))
    assert dtype_code(np.dtype(">f4")) == dtype_code(np.dtype("<f4"))
    assert dtype_code(np.dtype("U3")) == 0xFFFF


def test_an_exception_in_the_block_is_a_failed_run(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Writer(tmp_path / "a.tapeviz"):
        1 / 0   # noqa: B018  # the exception is the point
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert recording.status == "failed"
        assert recording.finished
