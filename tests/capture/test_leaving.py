"""What is recorded of values that leave the engine: where, how, and not too often."""

from __future__ import annotations

from tapeviz.capture.leaving import MOST, MOST_PER_PLACE
from tests.analysis.recorded import recording_of

LOOP = """
import numpy as np
import gradtape as gt

w = gt.Variable(np.ones(3), name="w")
for step in range(12):
    with gt.GradientTape() as tape:
        loss = gt.sum(w * w)
    w.assign_sub(0.1 * tape.gradient(loss, w))
"""


def test_the_place_and_the_manner() -> None:
    with recording_of(LOOP + "    seen = w.numpy()\n    print(float(loss))\n    np.mean([loss, loss])\n") as recording:
        left = [event for event in recording.events if event.kind == "left"]
        of_loop = [(event.data["how"], recording.loc(int(str(event.data["loc"]))), event.op) for event in left[:3]]
        assert [how for how, _, _ in of_loop] == ["numpy", "float", "array"]
        assert [place.line for _, place, _ in of_loop if place is not None] == [10, 11, 12]
        assert [op for _, _, op in of_loop] == [recording.ops_of(0)[-1]] * 3
        assert recording.variable(int(str(left[0].data["variable"]))).name == "w"
        assert recording.tensor_name(int(str(left[1].data["tensor"]))) == "loss"
        assert sum(event.data["how"] == "numpy" for event in left) == MOST_PER_PLACE


def test_many_places_are_not_all_recorded() -> None:
    many = "\n".join(f"float(loss)  # {k}" for k in range(2 * MOST))
    with recording_of(LOOP + many + "\n") as recording:
        assert sum(event.kind == "left" for event in recording.events) == MOST
