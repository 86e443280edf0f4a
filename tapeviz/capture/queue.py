"""The queue between the quick and the slow half of the recorder: kinds of events and how their tuples are laid out.

What stays the same from one iteration to the next stands first, so that whole iterations can be compared by slices.
"""

from __future__ import annotations

from typing import Any

Event = tuple[Any, ...]

OP = 0       # row, code, lasti, recorded, scope, thread, error, attrs | inputs, outputs, started, ended
STEP = 1     # call, node, cotangents, contributions, since, now
WATCH = 2    # explicit, position, code, lasti | tape, tensor, entries
ASSIGN = 3   # kind, code, lasti, thread | variable, value, before, after, t
ENTER = 4    # persistent, code, lasti, thread | tape, t
EXIT = 5     # thread | tape
START = 6    # code, lasti, thread | call, entries, names, t
END = 7      # failed, thread | call, results, t
TEXT = 8     # stream, text
CALL = 9     # function, its arguments
