"""The layout of a recording: record types, enumerations, tables and the version of the format.

Everything that happens often (operations, statistics, backward steps) is a fixed-size little-endian record; records of
one kind are packed into chunks, and a chunk is one SQLite row.  What happens rarely (names, source locations, events)
has a table of its own.  A file carries the record layouts it was written with (`meta` key "records"), so that a reader
never has to guess.  Everything is append-only: a later record with the same id replaces an earlier one.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag

import numpy as np

FORMAT = "tapeviz recording"
VERSION = 1
SUFFIX = ".tapeviz"
CHUNK_RECORDS = 4096          # at most so many records in one chunk
BLOB_BYTES = 1 << 20          # values are gathered into blobs of about this size
NONE = 0xFFFF_FFFF            # "no such id", in every u4 id field
FINAL = ("finished", "failed", "stopped", "killed")   # how a run can have ended; before that its status is "running"

# The element types a value can have; a record holds the position in this list, which only ever grows at its end.
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
)
OTHER_DTYPE = 0xFFFF          # any other element type (longdouble, text, objects): its values are not kept


class Phase(IntEnum):
    """When an operation ran."""

    OUTSIDE = 0       # no tape was open and no gradient had been taken in this iteration
    FORWARD = 1       # while a tape was open, by the user's code
    BACKWARD = 2      # by a backward rule (seen only while an outer tape listens: higher order)
    UPDATE = 3        # after a gradient call, outside any tape


class OpFlag(IntFlag):
    RECORDED = 1           # it is an entry of at least one tape
    NONDIFFERENTIABLE = 2  # the op has no gradient (round, argmax, comparison, ...)
    STOPS_GRADIENT = 4     # stop_gradient
    FAILED = 8             # it raised; outputs are missing


class Role(IntEnum):
    """What a tensor is."""

    INTERMEDIATE = 0   # result of an operation
    CONSTANT = 1       # a leaf made from data: constant, NumPy array, Python number
    VARIABLE = 2       # a variable at one version
    GRADIENT = 3       # returned by gradient()


class TensorFlag(IntFlag):
    WATCHED = 1        # watched explicitly, or a variable read by a tape
    TRAINABLE = 2
    INTEGER = 4        # integer or boolean dtype


class What(IntEnum):
    """Which quantity of a tensor a statistic or a value is of."""

    VALUE = 0          # the tensor itself
    COTANGENT = 1      # d target / d tensor, complete, as it entered the node that made the tensor
    CONTRIBUTION = 2   # what one backward step (`op`, `slot`) added to the cotangent of `tensor`
    GRADIENT = 3       # what gradient() returned for this source (`tensor` is the source, not the returned tensor)
    UPDATE = 4         # new minus old value of a variable, at an assignment (tensor = the new version)


class State(IntEnum):
    """What is known of a quantity; never to be mixed up with a number."""

    OK = 0
    NONE = 1           # no gradient: not connected
    NOT_RECORDED = 2   # the level of recording left it out
    ZERO_UNCONNECTED = 3   # zeros made because unconnected_gradients was "zero"


class StatFlag(IntFlag):
    SAMPLED = 1        # min, max, mean, counts from a stride sample; l2 is exact
    RING = 2


class Status(IntEnum):
    """How a pass ended."""

    RUNNING = 0
    OK = 1
    ERROR = 2
    ABORTED = 3


class PassKind(IntEnum):
    GRADIENT = 0
    JACOBIAN = 1
    BATCH_JACOBIAN = 2


class AssignKind(IntEnum):
    ASSIGN = 0
    ADD = 1
    SUB = 2


class BoundaryBy(IntEnum):
    """What made an iteration begin."""

    START = 0
    ASSIGN = 1        # a tape opened after a gradient call that was followed by an assignment
    GRADIENT = 2      # a tape opened again at the same place although nothing was assigned
    MANUAL = 3


def _record(*fields: tuple[str, str] | tuple[str, str, int]) -> np.dtype[np.void]:
    return np.dtype(list(fields))


# One dtype per kind of record.  `t` and `dur` are nanoseconds since the start of the run.
RECORDS: dict[str, np.dtype[np.void]] = {
    # An executed operation.  Its outputs are the tensors output .. output + nout - 1.
    # shape, name, attrs (JSON) and so on are ids in table name; a shape reads "2x3", a scalar's is empty.
    # More than four inputs: the whole list is in table op_extra, key "inputs".
    "op": _record(
        ("id", "<u4"), ("kind", "<u2"), ("phase", "u1"), ("flags", "u1"), ("scope", "<u4"), ("loc", "<u4"),
        ("thread", "<u2"), ("nin", "u1"), ("nout", "u1"), ("inputs", "<u4", 4), ("output", "<u4"),
        ("t", "<u8"), ("dur", "<u4"), ("tape", "<u4"), ("pass", "<u4"), ("attrs", "<u4"),
    ),
    "tensor": _record(
        ("id", "<u4"), ("op", "<u4"), ("variable", "<u4"), ("version", "<u4"), ("shape", "<u4"), ("dtype", "<u2"),
        ("role", "u1"), ("flags", "u1"), ("name", "<u4"), ("digest", "<u4"),
    ),
    # Statistics over the finite elements; l2, min, max, mean, max_abs are NaN when there are none.
    "stat": _record(
        ("tensor", "<u4"), ("op", "<u4"), ("pass", "<u4"), ("what", "u1"), ("slot", "u1"), ("state", "u1"),
        ("flags", "u1"), ("n", "<u4"), ("nan", "<u4"), ("posinf", "<u4"), ("neginf", "<u4"), ("zero", "<u4"),
        ("subnormal", "<u4"), ("l2", "<f8"), ("min", "<f8"), ("max", "<f8"), ("mean", "<f8"), ("max_abs", "<f8"),
        ("low", "<f4"), ("saturated", "<f4"), ("cosine", "<f4"), ("reserved", "<u4"),
    ),
    # One node (an operation on the tape) undone by a backward pass; step counts from 0 within the pass.
    "step": _record(
        ("pass", "<u4"), ("step", "<u4"), ("op", "<u4"), ("t", "<u8"), ("dur", "<u4"), ("arrived", "<u2"),
        ("ncontributions", "<u2"),
    ),
    # A gradient call; written when it begins and again (same id) when it ends.  at_op: how many operations had run
    # when it began; tape_op: the same when its tape was opened.
    "pass": _record(
        ("id", "<u4"), ("tape", "<u4"), ("parent", "<u4"), ("status", "u1"), ("kind", "u1"), ("persistent", "u1"),
        ("order", "u1"), ("target", "<u4"), ("ntargets", "<u2"), ("nsources", "<u2"), ("tape_op", "<u4"),
        ("at_op", "<u4"), ("loc", "<u4"), ("steps", "<u4"), ("t0", "<u8"), ("t1", "<u8"),
    ),
    # What a gradient call returned for its source number `source`; tensor: the source itself (a variable at the
    # version that was read, NONE if it never was), variable: its variable or NONE.
    "result": _record(
        ("pass", "<u4"), ("source", "<u2"), ("state", "u1"), ("reserved", "u1"), ("tensor", "<u4"),
        ("variable", "<u4"), ("name", "<u4"),
    ),
    "assign": _record(
        ("variable", "<u4"), ("version", "<u4"), ("tensor", "<u4"), ("by", "<u4"), ("loc", "<u4"), ("at_op", "<u4"),
        ("t", "<u8"), ("kind", "u1"), ("reserved", "u1"),
    ),
    # A tape: written when it is entered and again (same id) when it is left.
    "tape": _record(
        ("id", "<u4"), ("parent", "<u4"), ("persistent", "u1"), ("open", "u1"), ("thread", "<u2"), ("loc", "<u4"),
        ("enter_op", "<u4"), ("exit_op", "<u4"), ("t", "<u8"), ("entered", "<u4"),
    ),
    "watch": _record(
        ("tape", "<u4"), ("tensor", "<u4"), ("variable", "<u4"), ("at_op", "<u4"), ("loc", "<u4"), ("explicit", "u1"),
        ("reserved", "u1"),
    ),
    # An iteration, written when it begins; it starts with operation first_op and gradient call first_pass.
    "iteration": _record(
        ("id", "<u4"), ("first_op", "<u4"), ("first_pass", "<u4"), ("t", "<u8"), ("by", "u1"), ("reserved", "u1"),
    ),
    # Where the elements of a quantity are: `nbytes` bytes from `offset` in blob `blob`, C order, little endian.
    "value": _record(
        ("tensor", "<u4"), ("op", "<u4"), ("pass", "<u4"), ("what", "u1"), ("slot", "u1"), ("flags", "u1"),
        ("reserved", "u1"), ("dtype", "<u2"), ("shape", "<u4"), ("blob", "<u4"), ("offset", "<u8"), ("nbytes", "<u8"),
        ("crc", "<u4"),
    ),
}

# Kinds whose ids are dense (record i of the kind has id i, the last record of an id counts).
DENSE = ("op", "tensor", "pass", "tape", "iteration")
KIND_CODE = {name: code for code, name in enumerate(RECORDS)}

SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE chunk (id INTEGER PRIMARY KEY, kind INTEGER, n INTEGER, crc INTEGER, data BLOB);
CREATE TABLE blob (id INTEGER PRIMARY KEY, data BLOB);
CREATE TABLE name (id INTEGER PRIMARY KEY, s TEXT);
CREATE TABLE source (id INTEGER PRIMARY KEY, path TEXT, sha256 TEXT, text TEXT);
CREATE TABLE loc (id INTEGER PRIMARY KEY, source INTEGER, line INTEGER, end_line INTEGER, col INTEGER,
                  end_col INTEGER, function TEXT);
CREATE TABLE scope (id INTEGER PRIMARY KEY, parent INTEGER, kind TEXT, name TEXT, loc INTEGER);
CREATE TABLE variable (id INTEGER PRIMARY KEY, name TEXT, shape TEXT, dtype TEXT, trainable INTEGER, loc INTEGER);
CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT, formula TEXT, arguments TEXT, vjps TEXT, flags INTEGER);
CREATE TABLE op_extra (id INTEGER PRIMARY KEY, op INTEGER, key TEXT, value TEXT);
CREATE TABLE event (id INTEGER PRIMARY KEY, t INTEGER, kind TEXT, op INTEGER, pass INTEGER, data TEXT);
"""
