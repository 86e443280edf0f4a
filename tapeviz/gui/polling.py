"""Diagnosis beside the window: the rules run in one thread, on a reading of the file of their own."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from tapeviz.analysis.findings import Finding, diagnose
from tapeviz.gui.painting import report
from tapeviz.recording.reader import Recording, open_recording

LIVE_INTERVAL_S = 1.0


class Diagnoser:
    """Runs `diagnose` when it was asked to and is not running already; keeps the newest answer only.

    The thread opens the file again: a Recording belongs to one thread (its SQLite connection, its growing arrays).
    """

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._future: Future[tuple[int, list[Finding]]] | None = None
        self._generation = 0
        self._wanted = False
        self._next = 0.0
        self._recording: Recording | None = None     # used by the thread only, like the next
        self._opened = -1                            # the generation for which it was opened

    @property
    def busy(self) -> bool:
        """Whether an answer is still to come."""
        return self._wanted or self._future is not None

    def wanted(self) -> None:
        """There is something new to look at."""
        self._wanted = True

    def restart(self) -> None:
        """Another recording: answers about the old one are dropped."""
        self._generation += 1
        self._wanted = False
        self._next = 0.0

    def poll(self, path: Path, now: float, *, live: bool) -> list[Finding] | None:
        """Start the rules if they are wanted; the findings, once, when they are there."""
        found: list[Finding] | None = None
        if self._future is not None and self._future.done():
            future, self._future = self._future, None
            error = future.exception()
            if error is not None:      # a fault of ours in a rule: told like any other, the old findings stay
                for tell in list(report):
                    tell(type(error), error, error.__traceback__)
            else:
                generation, findings = future.result()
                found = findings if generation == self._generation else None
            self._next = now + (LIVE_INTERVAL_S if live else 0.0)
        if self._wanted and self._future is None and now >= self._next:
            self._wanted = False
            if self._pool is None:
                self._pool = ThreadPoolExecutor(1, thread_name_prefix="diagnosis")
            self._future = self._pool.submit(self._look, path, self._generation)
        return found

    def close(self) -> None:
        """Wait for the thread to end and let go of the file."""
        self.restart()
        if self._pool is not None:
            self._pool.submit(self._let_go)
            self._pool.shutdown(wait=True)
            self._pool = None
        self._future = None

    def _look(self, path: Path, generation: int) -> tuple[int, list[Finding]]:
        if self._recording is None or self._opened != generation:       # another run may have the same place
            self._let_go()
            self._recording, self._opened = open_recording(path), generation
        self._recording.poll()
        return generation, diagnose(self._recording)

    def _let_go(self) -> None:
        if self._recording is not None:
            self._recording.close()
            self._recording = None
