"""Names taken from the user's frames and source."""

from __future__ import annotations

import sys
import textwrap
from typing import Any

import pytest

from tapeviz.capture.naming import names_in
from tapeviz.capture.source import Places, user_frame, user_frames
from tapeviz.recording.reader import open_recording
from tapeviz.recording.schema import NONE
from tapeviz.recording.writer import Writer


class Thing:
    """Stands for a variable."""


class Model:
    def __init__(self):
        self.w1 = Thing()
        self.layers = [Thing(), Thing()]

    def names_inside(self):
        return names_in([sys._getframe(), sys._getframe(1)], frozenset())


def test_a_plain_name_is_best():
    w = Thing()
    params = [w]
    assert names_in([sys._getframe()], frozenset())[id(w)] == "w"
    assert params[0] is w


def test_a_container_is_better_than_a_loop_variable_or_parameter():
    params: dict[object, Any] = {"W": [Thing(), Thing()], 3: Thing()}

    def use(w):
        return names_in([sys._getframe(), sys._getframe(1)], frozenset({"p"}))[id(w)]

    for p in params["W"]:
        found = use(p)
    assert found == 'params["W"][1]'
    assert use(params[3]) == "params[3]"


def test_attributes_are_named_from_outside():
    model = Model()
    found = model.names_inside()
    assert found[id(model.w1)] == "model.w1"
    assert found[id(model.layers[1])] == "model.layers[1]"


def test_self_is_named_when_nothing_else_reaches():
    def inside(self):
        return names_in([sys._getframe()], frozenset())

    thing = Model()
    assert inside(thing)[id(thing.w1)] == "self.w1"


def test_a_huge_container_is_not_walked_to_its_end():
    many = [[Thing() for _ in range(300)] for _ in range(300)]
    assert len(names_in([sys._getframe()], frozenset())) < 40_000
    assert len(many) == 300


SOURCE = '''\
import sys

def op(*args, up=1, **kwargs):
    frame = sys._getframe(up)
    return frame.f_code, frame.f_lasti

class V:
    def __matmul__(self, other): return op(up=2)
    def __add__(self, other): return op(up=2)
    def __iadd__(self, other): return op(up=2)
    def __neg__(self): return op(up=2)

x, W, images, i = V(), V(), [V()], 0
h = op(x, W)
z = images[i] @ W
found = [h, z]
def f(v):
    return op(v)
found.append(f(x))
total = V()
total += W
found.append(total)
first, second = pair = op(images[i], axis=W)
found.append(pair)
found.append(-x)
for a, b in [(1, 2)]:
    pass
'''


@pytest.fixture
def places(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SOURCE)
    space: dict[str, object] = {"__name__": "script"}
    exec(compile(SOURCE, str(script), "exec"), space)
    with Writer(tmp_path / "run.tapeviz", {}) as writer:
        yield Places(writer), space["found"], writer, script


def test_names_from_the_source_line(places):
    at, found, _, script = places
    call, product, inner, added, pair, negated = found
    assert at.result_name(*call) == "h"
    assert at.result_name(*product) == "z"
    assert at.result_name(*inner) == ""
    assert at.result_name(*added) == "total"
    assert (at.result_name(*pair, 0), at.result_name(*pair, 1), at.result_name(*pair, 2)) == ("first", "second", "")
    assert at.operand_name(*call, "op", 1, "b") == "W"
    assert at.operand_name(*call, "something else", 1, "b") == ""
    assert at.operand_name(*product, "matmul", 0, "a") == "images[i]"
    assert at.operand_name(*pair, "op", 3, "axis") == "W"
    assert at.operand_name(*negated, "negative", 0, "x") == "x"
    assert at.file(str(script))[2] >= {"a", "b"}


def test_locations_are_exact_and_dictionary_coded(places):
    at, found, writer, script = places
    numbers = [at.loc(*place) for place in found]
    assert at.loc(*found[0]) == numbers[0]
    assert at.loc(None, -1) == NONE
    writer.close()
    with open_recording(writer.path) as recording:
        where = recording.loc(numbers[1])
        assert where is not None
        assert (where.file, where.line, where.col, where.end_col) == (str(script), 15, 4, 17)
        inner = recording.loc(numbers[2])
        assert inner is not None
        assert (inner.line, inner.function) == (18, "f")
        assert recording.sources[0].text == SOURCE


def test_a_file_without_source_has_locations_all_the_same(places):
    at, _, _, _ = places
    code = compile("a = f()", "<generated>", "exec")
    assert at.loc(code, 2) != NONE
    assert at.result_name(code, 2) == ""
    assert at.loc(code, 10_000) != NONE


def test_frames_of_the_engine_are_stepped_over():
    engine: dict[str, object] = {"__gradtape__": True, "look": lambda: (user_frame(sys._getframe(1)),
                                                                       user_frames(sys._getframe(1)))}
    exec(textwrap.dedent("""
        def apply():
            return look()
    """), engine)
    frame, frames = engine["apply"]()   # type: ignore[operator]  # a function, made by exec
    assert frame is sys._getframe()
    assert frames[0] is frame
    assert frames[1].f_code.co_name != "apply"
