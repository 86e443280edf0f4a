"""The data behind the views: a number stands only where there is one, in every table alike."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis.focus import Focus
from tapeviz.analysis.tables import tables
from tapeviz.recording.schema import What

# view -> number column, its state column
MEASURED = {
    "health": [("gradient_norm", "state")],
    "plots": [("value", "state")],
    "ops": [("value_norm", "value_state"), ("gradient_norm", "gradient_state")],
    "graph": [("value_norm", "value_state"), ("gradient_norm", "gradient_state"),
              ("contribution_norm", "contribution_state")],
    "step": [("norm", "state")],
}
FIRST = Focus()


def rows(recording, view, focus=FIRST):
    return [row for table in tables(recording, view, focus, ()) for row in table.records()]


@pytest.mark.parametrize("view", MEASURED)
def test_a_norm_is_given_exactly_where_the_state_is_that_of_a_number(broken, trained, view):
    seen = set()
    for recording in (broken, trained):
        for focus in (Focus(iteration=2, pass_=2, step=1), Focus(iteration=5, pass_=5, step=1)):
            for row in rows(recording, view, focus):
                for number, state in MEASURED[view]:
                    if state in row:
                        assert (row[number] is not None) == (row[state] in ("ok", "0", "underflow")), row
                        seen.add(row[state])
    assert {"ok", "NaN"} <= seen


def test_health_and_plots_give_the_same_numbers(broken, trained):
    for recording in (broken, trained):
        health = {(row["variable"], row["iteration"]): (row["gradient_norm"], row["state"])
                  for row in rows(recording, "health")}
        plots = {(row["name"], row["iteration"]): (row["value"], row["state"])
                 for row in rows(recording, "plots") if row["kind"] == "gradient"}
        assert health == plots


def test_variables_have_the_norm_of_the_value_they_came_with(trained):
    found = [row for row in rows(trained, "graph", Focus(iteration=3)) if row.get("kind") == "variable"]
    assert found
    for row in found:
        value = trained.value(row["tensor"], What.VALUE)
        assert row["value_state"] == "ok"
        assert row["value_norm"] == pytest.approx(float(np.linalg.norm(value)))
