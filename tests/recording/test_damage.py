"""Files that are no recording, damaged, foreign or hostile: a sentence, never a crash, a hang or a full memory."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from tapeviz.recording.export import to_rows
from tapeviz.recording.packing import layouts_to_json
from tapeviz.recording.reader import open_recording
from tapeviz.recording.rows import RecordingError
from tapeviz.recording.schema import KIND_CODE, RECORDS, SCHEMA, VERSION, What
from tapeviz.recording.summary import summary
from tapeviz.recording.writer import Writer
from tests.recording.synthetic import make_recording


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_recording(tmp_path_factory.mktemp("sound") / "sound.tapeviz", iterations=4, layers=3)


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(sound, tmp_path / "run.tapeviz"))


def change(path: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement) if not values else connection.execute(statement, values)
        connection.commit()


# --- what it is instead ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"it is empty; if a run is just starting, open it again in a second"),
        (b"import numpy as np\n", r"it is not a recording; make one with `tapeviz run SCRIPT`"),
        (os.urandom(50_000), r"it is not a recording"),
        (b"SQLite format 3\0", r"it is truncated \(16 of 100 bytes are there\)"),
        (b"SQLite format 3\0" + bytes(5000), r"it is not a recording \(or its beginning is damaged\)"),
        (b"SQLite format 3\0" + b"\x10\0\1\1\0\x40\x20\x20" + os.urandom(4072), r"run\.tapeviz: it is"),
    ],
    ids=["empty", "script", "noise", "only the magic", "magic and zeros", "magic and noise"],
)
def test_not_a_recording(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match=message) as caught:
        open_recording(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert path.read_bytes() == content   # opening changes nothing


def test_missing_and_folder(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"nowhere\.tapeviz: there is no such file"):
        open_recording(tmp_path / "nowhere.tapeviz")
    with pytest.raises(RecordingError, match=r"it is a folder; open a recording \(\*\.tapeviz\) in it"):
        open_recording(tmp_path)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_no_permission(copy: Path) -> None:
    copy.chmod(0)
    with pytest.raises(RecordingError, match=r"no permission to read it"):
        open_recording(copy)


@pytest.mark.parametrize("tables", ["CREATE TABLE t (a)", "CREATE TABLE meta (key, value); CREATE TABLE chunk (a)"])
def test_another_database(tables: str, tmp_path: Path) -> None:
    change(tmp_path / "a.db", tables)
    with pytest.raises(RecordingError, match=r"an SQLite database, but not a recording|is damaged"):
        open_recording(tmp_path / "a.db")


def test_another_program_with_our_tables(tmp_path: Path) -> None:
    change(tmp_path / "a.db", SCHEMA)
    with pytest.raises(RecordingError, match=r"it is an SQLite database, but not a recording"):
        open_recording(tmp_path / "a.db")


# --- versions -------------------------------------------------------------------------------------------------


def test_a_newer_version(copy: Path) -> None:
    change(copy, "UPDATE meta SET value = ? WHERE key = 'version'", VERSION + 1)
    with pytest.raises(RecordingError, match=rf"newer tapeviz \(format {VERSION + 1}, .* {VERSION}\); update"):
        open_recording(copy)


def test_other_layouts_are_read_by_field_name(copy: Path) -> None:
    with open_recording(copy) as recording:
        steps = recording.steps.copy()
    theirs = np.dtype([("future", "<f8"), ("dur", "<u8"), ("step", "<u4"), ("pass", "<u4")])   # no op, no arrived
    records = np.zeros(len(steps), theirs)
    for name in ("dur", "step", "pass"):
        records[name] = steps[name]
    layouts = layouts_to_json()
    layouts["step"] = [["future", "<f8", 1], ["dur", "<u8", 1], ["step", "<u4", 1], ["pass", "<u4", 1]]
    layouts["invention"] = [["x", "<u8", 1]]   # a kind of a later version
    data = records.tobytes()
    change(copy, f"DELETE FROM chunk WHERE kind = {KIND_CODE['step']}")
    change(copy, "UPDATE meta SET value = ? WHERE key = 'records'", json.dumps(layouts))
    row = "INSERT INTO chunk (kind, n, crc, data) VALUES (?, ?, ?, ?)"
    change(copy, row, KIND_CODE["step"], len(records), zlib.crc32(data), data)
    change(copy, row, len(RECORDS), 3, 0, b"whatever")
    with open_recording(copy) as recording:
        for name in ("dur", "step", "pass"):
            np.testing.assert_array_equal(recording.steps[name], steps[name])
        assert not recording.steps["op"].any()
        assert recording.steps.dtype == RECORDS["step"]


# --- damage ---------------------------------------------------------------------------------------------------


def use(path: Path) -> None:
    """Open and look at everything that is there."""
    with open_recording(path) as recording:
        summary(recording)
        for kind in RECORDS:
            for _ in zip(to_rows(recording, kind), range(50), strict=False):
                pass
        for row in recording.values[:: max(len(recording.values) // 40, 1)]:
            recording.value(int(row["tensor"]), int(row["what"]), int(row["pass"]), int(row["op"]))
        for op in range(len(recording.ops)):
            recording.op_line(op), recording.op_attrs(op), recording.op_inputs(op)
        for iteration in range(len(recording.iterations)):
            recording.stats_of(What.CONTRIBUTION, iteration=iteration)


def test_truncated_anywhere(sound: Path, tmp_path: Path) -> None:
    whole, path = sound.read_bytes(), tmp_path / "run.tapeviz"
    for length in [*range(1, 120, 13), *range(120, len(whole), len(whole) // 60), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(RecordingError, match=r"it is truncated|it is not a recording"):
            use(path)


def test_truncated_log(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.tapeviz"
    with Writer(path) as writer:
        for number in range(3000):
            writer.step(0, number, number, 0, 0, 1, 1)
            if number % 100 == 0:
                writer.flush()
        saved = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    log = saved.pop("run.tapeviz-wal")
    refused = 0
    for part, length in enumerate(range(0, len(log), len(log) // 12)):
        folder = tmp_path / str(part)
        folder.mkdir()
        (folder / "run.tapeviz").write_bytes(saved["run.tapeviz"])
        (folder / "run.tapeviz-wal").write_bytes(log[:length])
        try:
            with open_recording(folder / "run.tapeviz") as recording:   # up to the last whole transaction
                steps = recording.steps["step"].tolist()
        except RecordingError:
            refused += 1
        else:
            assert steps == list(range(len(steps)))
    assert refused <= 4   # when not even the tables are there


def test_flipped_bits(sound: Path, tmp_path: Path, rng: np.random.Generator) -> None:
    whole, path = sound.read_bytes(), tmp_path / "run.tapeviz"
    messages = []
    for trial in range(250):
        damaged = bytearray(whole)
        span = 200 if trial % 5 == 0 else len(whole)   # the header and the schema more often than their share
        for place in rng.integers(0, span, 1 + trial % 3):
            damaged[place] ^= 1 << rng.integers(0, 8)
        path.write_bytes(damaged)
        for beside in tmp_path.glob("run.tapeviz-*"):
            beside.unlink()
        try:
            use(path)
        except RecordingError as error:
            messages.append(str(error))
    assert len(messages) > 100   # the others hit free space or text
    assert all(message.startswith(f"{path}: ") for message in messages)


def test_a_table_whose_name_is_no_text(copy: Path) -> None:
    copy.write_bytes(copy.read_bytes().replace(b"CREATE TABLE event", b"CREATE TABLE ev\x8c\xff("))
    with pytest.raises(RecordingError, match=r"run\.tapeviz: it is damaged"):   # SQLite's message cannot be decoded
        open_recording(copy)


def test_a_flipped_bit_in_records_or_values_is_always_noticed(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as connection:
        number, data = connection.execute("SELECT id, data FROM chunk WHERE kind = 2 LIMIT 1").fetchone()
        blob, elements = connection.execute("SELECT id, data FROM blob LIMIT 1").fetchone()
    change(copy, "UPDATE blob SET data = ? WHERE id = ?", bytes([elements[0] ^ 1]) + elements[1:], blob)
    with open_recording(copy) as recording, pytest.raises(RecordingError, match=r"it is damaged \(the value of W1\)"):
        recording.value(0)
    change(copy, "UPDATE chunk SET data = ? WHERE id = ?", data[:-1] + bytes([data[-1] ^ 64]), number)
    with pytest.raises(RecordingError, match=r"it is damaged \(chunk \d+, stat, is not as it was written\)"):
        open_recording(copy)


# --- hostile --------------------------------------------------------------------------------------------------

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS id, 0 AS kind, 0 AS n, 0 AS crc"


def with_records(kind: str, **fields: int) -> Callable[[Path], None]:
    """One more record, with these numbers in it and a right checksum."""
    record = np.zeros(1, RECORDS[kind])
    for name, number in fields.items():
        record[name] = number
    data = record.tobytes()
    row = "INSERT INTO chunk (kind, n, crc, data) VALUES (?, ?, ?, ?)"
    return lambda path: change(path, row, KIND_CODE[kind], 1, zlib.crc32(data), data)


def with_layout(**layout: object) -> Callable[[Path], None]:
    text = json.dumps({**layouts_to_json(), **layout})
    return lambda path: change(path, "UPDATE meta SET value = ? WHERE key = 'records'", text)


def with_sql(statement: str) -> Callable[[Path], None]:
    return lambda path: change(path, statement)


@pytest.mark.parametrize(
    "harm",
    [
        with_records("op", id=0xFFFF_FFF0),
        with_records("tensor", id=3_000_000_000),
        with_layout(op=[["id", "<u4", 10**9]]),
        with_layout(op=[["id", "O", 1]]),
        with_layout(op=[["id", "V999999999", 1]]),
        with_layout(op="id"),
        with_layout(op=[["id", "<u4", 1], ["id", "<u4", 1]]),
        with_sql("UPDATE meta SET value = '[' || value WHERE key = 'records'"),
        with_sql(f"UPDATE meta SET value = '{'[' * 100_000}' WHERE key = 'status'"),
        with_sql("UPDATE meta SET value = x'00ff' WHERE key = 'version'"),
        with_sql("UPDATE meta SET value = 1e400 WHERE key = 'version'"),
        with_sql("DELETE FROM meta WHERE key = 'records'"),
        with_sql("UPDATE chunk SET n = 1000000000000"),
        with_sql("UPDATE chunk SET n = 'many'"),
        with_sql("UPDATE chunk SET data = 'text'"),
        with_sql("UPDATE chunk SET data = NULL"),
        with_sql("UPDATE name SET id = id + 9000000000000000000"),
        with_sql("UPDATE kind SET arguments = '{'"),
        with_sql("UPDATE variable SET shape = '[\"x\"]'"),
        with_sql("UPDATE event SET t = 'noon'"),
        with_sql(f"UPDATE event SET data = '{'[' * 100_000}'"),
        with_sql("UPDATE loc SET line = 1.5"),
        with_sql("DROP TABLE event"),
        with_sql("ALTER TABLE event RENAME COLUMN t TO u"),
        with_sql(f"DROP TABLE chunk; CREATE VIEW chunk AS {ENDLESS}, x AS data FROM c"),
        with_sql("DROP TABLE blob; CREATE TABLE blob (id INTEGER PRIMARY KEY, data AS (zeroblob(1000000000)))"),
    ],
)
def test_hostile_contents(harm: Callable[[Path], None], copy: Path) -> None:
    harm(copy)
    with pytest.raises(RecordingError, match=r"run\.tapeviz: (it is|its record layouts are) damaged"):
        use(copy)


@pytest.mark.parametrize(
    "harm",
    [
        with_sql("UPDATE name SET s = '999999999999999x999999999999999'"),
        with_sql("UPDATE name SET s = '8x-8'"),
        with_sql("UPDATE blob SET data = zeroblob(10)"),
        with_sql("DELETE FROM blob"),
        with_sql("UPDATE blob SET data = 'text'"),
        with_records("value", nbytes=2**63, offset=2**63),
        with_records("value", nbytes=8, dtype=9999),
        with_records("value", nbytes=7, dtype=10),
    ],
)
def test_hostile_values(harm: Callable[[Path], None], copy: Path) -> None:
    harm(copy)
    with open_recording(copy) as recording, pytest.raises(RecordingError, match=r"it is damaged|it cannot be read"):
        recording.value(0)


def test_references_to_nothing_are_harmless(copy: Path) -> None:
    with_sql("DELETE FROM loc; DELETE FROM kind; DELETE FROM scope; DELETE FROM source; DELETE FROM variable;"
             "DELETE FROM event")(copy)
    use(copy)


def test_a_scope_within_itself(copy: Path) -> None:
    with_sql("UPDATE scope SET parent = id")(copy)
    use(copy)


# --- writing --------------------------------------------------------------------------------------------------


def test_a_writer_says_why_it_cannot(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot write the recording .*: it is a folder; name a file in it"):
        Writer(tmp_path, {})
    with pytest.raises(RecordingError, match=r"cannot write .*: there is no folder .*nowhere; make it first"):
        Writer(tmp_path / "nowhere" / "a.tapeviz", {})
    blocked = tmp_path / "file"
    blocked.write_text("x")
    with pytest.raises(RecordingError, match=r"cannot write the recording"):
        Writer(blocked / "a.tapeviz", {})


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(RecordingError, match=r"cannot write the recording .*: no permission to write there"):
        Writer(tmp_path / "a.tapeviz", {})
    tmp_path.chmod(0o700)


def test_a_writer_replaces_recordings_only(copy: Path, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('precious')")
    with pytest.raises(RecordingError, match=r"a file that is no recording is there; name another"):
        Writer(script, {})
    assert script.read_text() == "print('precious')"
    change(tmp_path / "other.db", "CREATE TABLE meta (key, value)")
    with pytest.raises(RecordingError, match=r"a file that is no recording is there"):
        Writer(tmp_path / "other.db", {})
    with Writer(copy, {"script": "new"}) as writer:
        with pytest.raises(RecordingError, match=r"another run is writing it; stop that or name another"):
            Writer(copy, {})
        writer.step(0, 0, 0, 0, 0, 0, 0)
    with open_recording(copy) as recording:
        assert (len(recording.ops), len(recording.steps), recording.meta["script"]) == (0, 1, "new")


def test_closing_twice_and_writing_after_is_harmless(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "a.tapeviz", {})
    writer.step(0, 0, 0, 0, 0, 0, 0)
    writer.close("stopped")
    writer.close("finished")
    for number in range(1000):
        writer.step(0, number, 0, 0, 0, 0, 0)
    writer.value(0, What.VALUE, [1.0])
    writer.event("stdout", {})
    writer.flush()
    with open_recording(tmp_path / "a.tapeviz") as recording:
        assert (len(recording.steps), recording.status) == (1, "stopped")
        assert recording.meta["duration"] == pytest.approx(0, abs=60)
    with pytest.raises(RecordingError, match=r"it cannot be read"):
        recording.poll()
