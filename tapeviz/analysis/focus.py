"""What the user looks at: one iteration, operation, backward step, tensor and element that agree with each other."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Focus:
    """The one focus of the window.  Ids are those of the recording; None: nothing chosen."""

    iteration: int = 0
    op: int | None = None
    pass_: int | None = None
    step: int | None = None
    tensor: int | None = None
    element: tuple[int, ...] | None = None
