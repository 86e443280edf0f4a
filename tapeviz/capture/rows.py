"""Records on their way to the writer, gathered for a batch, so that whole blocks of them can be added and looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeviz.capture.statistics import Records
from tapeviz.recording.packing import pack
from tapeviz.recording.schema import RECORDS
from tapeviz.recording.writer import Writer

__gradtape__ = True   # the frames of this module are not the user's

KINDS = ("op", "tensor", "step", "pass", "result", "assign", "tape", "watch")   # those that come by the thousand


class Rows:
    """The records of a batch, by kind; tuples and blocks keep the order in which they came."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._single: dict[str, list[Any]] = {kind: [] for kind in KINDS}
        self._blocks: dict[str, list[Records]] = {kind: [] for kind in KINDS}

    def appender(self, kind: str) -> Callable[[Any], None]:
        """The bare append of a kind."""
        return self._single[kind].append

    def counts(self) -> dict[str, int]:
        """How many single records of each kind have gathered since the last block or batch."""
        return {kind: len(rows) for kind, rows in self._single.items()}

    def between(self, start: dict[str, int], stop: dict[str, int]) -> dict[str, Records]:
        """The single records from one `counts` to another."""
        return {kind: _packed(kind, rows[start[kind]:stop[kind]]) for kind, rows in self._single.items()}

    def add_block(self, kind: str, block: Records) -> None:
        """Add many records at once."""
        self._settle(kind)
        self._blocks[kind].append(block)

    def write(self) -> None:
        """Hand everything to the writer."""
        for kind in KINDS:
            self._settle(kind)
            blocks = self._blocks[kind]
            if blocks:
                self._writer.append_array(kind, blocks[0] if len(blocks) == 1 else np.concatenate(blocks))
                blocks.clear()

    def _settle(self, kind: str) -> None:
        rows = self._single[kind]
        if rows:
            self._blocks[kind].append(_packed(kind, rows))
            rows.clear()


def _packed(kind: str, rows: list[Any]) -> Records:
    return np.frombuffer(pack(kind, rows), RECORDS[kind])
