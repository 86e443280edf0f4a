"""Which values are kept in full: the policy, and the flight recorder that remembers the newest iterations."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from tapeviz.capture.statistics import Array, Records
from tapeviz.recording.writer import Writer

__gradtape__ = True   # the frames of this module are not the user's

Quantity = tuple[int, int, Array, int, int, int]   # tensor, what, array, pass, op, slot
FIRST_ITERATIONS = 3       # always kept: most mistakes show at once
SMALL_BYTES = 512          # such values are kept everywhere ...
SMALL_COUNT = 5_000       # ... until there are so many that writing them would be felt
FIRST_STRIDE = 10
RING_ITERATIONS = 2        # the newest ones, held by reference


class _Held:
    """Quantities of one iteration that were not written, by reference."""

    def __init__(self, iteration: int) -> None:
        self.iteration = iteration
        self.singles: list[Quantity] = []
        self.blocks: list[tuple[Records, list[Array | None], set[int]]] = []   # keys, arrays, which were written

    def quantities(self) -> Iterator[Quantity]:
        """All of them."""
        yield from self.singles
        for keys, arrays, written in self.blocks:
            for k, (key, array) in enumerate(zip(keys.tolist(), arrays, strict=True)):
                if array is not None and k not in written:
                    tensor, op, pass_, what, slot = key
                    yield tensor, what, array, pass_, op, slot

    def nbytes(self) -> int:
        """The memory they occupy."""
        return (sum(quantity[2].nbytes for quantity in self.singles)
                + sum(a.nbytes for _, arrays, _ in self.blocks for a in arrays if a is not None))

    def clear(self) -> None:
        """Let go of them."""
        self.singles.clear()
        self.blocks.clear()


class ValueKeeper:
    """Decides, quantity by quantity, what goes into the file.

    Kept: everything of the first iterations, of iterations 2^k and of every stride-th (the stride doubles as the
    budget shrinks), of the iteration that is paused in or first met a non-finite number; small values everywhere at
    first; and, when the run ends in whatever way, everything of the newest iterations.
    """

    def __init__(self, writer: Writer, budget: int, everything: bool = False) -> None:
        self._writer = writer
        self._budget = budget
        self._left = budget                       # bytes
        self._most_per_iteration = budget // 4
        self._everything = everything
        self._keeping = True
        self._written = 0                         # bytes of this iteration
        self._stride = FIRST_STRIDE
        self._small_left = SMALL_COUNT
        self._current = _Held(0)
        self._ring: deque[_Held] = deque([self._current])
        self.degraded = ""                        # why less is kept than was asked for; "" if it is not

    def offer(self, tensor: int, what: int, array: Array, pass_: int, op: int, slot: int) -> None:
        """A quantity has been computed."""
        size = array.nbytes
        if self._keeping and self._written + size <= self._most_per_iteration:
            self._write((tensor, what, array, pass_, op, slot))
        elif size <= SMALL_BYTES and self._small_left > 0:
            self._small_left -= 1
            self._write((tensor, what, array, pass_, op, slot))
        else:
            self._current.singles.append((tensor, what, array, pass_, op, slot))

    def offer_all(self, keys: Records, arrays: list[Array | None], small: list[int]) -> None:
        """Many quantities have been computed (keys: batch.KEY); `small`: which of them are small."""
        if self._keeping:
            for key, array in zip(keys.tolist(), arrays, strict=True):
                if array is not None:
                    tensor, op, pass_, what, slot = key
                    self.offer(tensor, what, array, pass_, op, slot)
            return
        taken = set(small[:self._small_left])
        self._small_left -= len(taken)
        for k in taken:
            tensor, op, pass_, what, slot = keys[k].tolist()
            self._write((tensor, what, arrays[k], pass_, op, slot))   # type: ignore[arg-type]  # small means it is there
        self._current.blocks.append((keys, arrays, taken))

    def begin(self, iteration: int) -> None:
        """A new iteration starts."""
        self._written = 0
        self._current = _Held(iteration)
        self._ring.append(self._current)
        self._keeping = self._is_due(iteration)

    def freeze(self, iteration: int | None = None, since: int = 0) -> None:
        """Something has happened that people will ask about: write what is remembered of the iterations from `since`.

        With an iteration given, that one and the one before it; the rest of the current one is kept as well.
        """
        for held in self._ring:
            if (held.iteration in (iteration, iteration - 1)) if iteration is not None else held.iteration >= since:
                for quantity in held.quantities():
                    self._write(quantity)
                held.clear()
        if iteration is None or iteration == self._current.iteration:
            self._keeping = True

    def settle(self) -> None:
        """Let go of all but the newest iterations; until now a batch of them may have gathered."""
        while len(self._ring) > RING_ITERATIONS:
            self._ring.popleft()
        if sum(held.nbytes() for held in self._ring) > self._budget:   # it is memory that the script may need
            for held in self._ring:
                held.clear()

    def _is_due(self, iteration: int) -> bool:
        if iteration < FIRST_ITERATIONS:
            return True
        if self._left <= 0:
            if not self.degraded:
                self.degraded = f"the values have used up their {self._budget >> 20} MB"
            return False
        if self._everything:
            return True
        while self._left < self._budget / (self._stride // FIRST_STRIDE + 1):
            self._stride *= 2
        return iteration % self._stride == 0 or iteration & (iteration - 1) == 0

    def _write(self, quantity: Quantity) -> None:
        tensor, what, array, pass_, op, slot = quantity
        self._writer.value(tensor, what, array, pass_, op, slot)
        self._written += array.nbytes
        self._left -= array.nbytes
