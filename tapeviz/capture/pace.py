"""How much of the script's time recording may take, and whether it has taken more."""

from __future__ import annotations

from time import perf_counter_ns

__gradtape__ = True   # the frames of this module are not the user's

ALLOWANCE_SECONDS = 10.0   # so much nobody minds, and short runs are recorded whole
SHARE = 0.3                # ... and after that, this part of the script's own time


class Pace:
    """Measures the time spent on records against the time that has passed."""

    def __init__(self, allowance: float = ALLOWANCE_SECONDS, share: float = SHARE) -> None:
        self._allowance, self._share = allowance * 1e9, share
        self._began = perf_counter_ns()
        self._spent = 0
        self._since: int | None = None

    def start(self) -> None:
        """Work on records begins."""
        self._since = perf_counter_ns()

    def stop(self) -> None:
        """... and ends."""
        if self._since is not None:
            self._spent += perf_counter_ns() - self._since
            self._since = None

    def is_over(self) -> bool:
        """Whether recording has taken more than its part."""
        now = perf_counter_ns()
        spent = self._spent + (now - self._since if self._since is not None else 0)
        return spent > self._allowance + self._share * (now - self._began - spent)

    def allow(self, seconds: float) -> None:
        """Something interesting goes on: so much more is allowed."""
        self._allowance = max(self._allowance, self._spent) + seconds * 1e9
