"""The quantities of a repeated iteration: which arrays of its events they are, to be asked for all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tapeviz.capture.batch import Key, StatBatch
from tapeviz.capture.statistics import Array, Records
from tapeviz.capture.values import SMALL_BYTES
from tapeviz.recording.schema import Role, What

if TYPE_CHECKING:
    from tapeviz.capture.recorder import Recorder
    from tapeviz.capture.template import Objects

__gradtape__ = True   # the frames of this module are not the user's

_OF_VALUE = {Role.INTERMEDIATE: "output", Role.CONSTANT: "leaf", Role.GRADIENT: "result", Role.VARIABLE: "after"}
_OF_OTHER = {What.COTANGENT: "cotangent", What.CONTRIBUTION: "contribution", What.GRADIENT: "gradient",
             What.UPDATE: "update"}
_GROUPS = ("output", "leaf", "cotangent", "contribution", "result", "gradient", "after", "update", "missing")


class Unfit(Exception):
    """An iteration has something that no template can hold."""


class Quantities:
    """Made from the requests of one iteration; asks for those of another."""

    def __init__(self, batch: StatBatch, objects: Objects, keys: list[Key], roles: dict[int, int], first: int) -> None:
        """`first`: number of the first request in the batch. Raises Unfit."""
        groups: dict[str, list[int]] = {name: [] for name in _GROUPS}
        for k, (tensor, _, _, what, _) in enumerate(keys):
            if batch.is_missing(first + k):
                groups["missing"].append(k)
            elif what == What.VALUE:
                if tensor not in roles:
                    raise Unfit("the value of a tensor of an earlier iteration")
                groups[_OF_VALUE[Role(roles[tensor])]].append(k)
            else:
                groups[_OF_OTHER[What(what)]].append(k)
        self._stats = bool(groups["output"])
        self.order = [k for name in _GROUPS for k in groups[name]]
        self._place = {k: position for position, k in enumerate(self.order)}
        arrays = self._arrays(objects, [np.empty(0)] * len(groups["leaf"]))
        plain = (np.ndarray, np.generic, type(None))
        if len(arrays) != len(self.order) or not all(isinstance(array, plain) for array in arrays):
            raise Unfit("quantities that are not one per event")
        self._small = [position for position, array in enumerate(arrays)
                       if array is not None and array.nbytes <= SMALL_BYTES]
        self._contributions = groups["contribution"]
        self._keep_angles(batch, objects, keys, first)
        self._activations = [
            (op, [(self._place[request - first], k) for request, k in _outputs_of(found, objects, first, len(keys))])
            for op, found in batch.outputs.items()]

    def ask(self, recorder: Recorder, objects: Objects, leaves: list[Array], keys: Records) -> None:
        """Ask for the statistics (and maybe values) of an iteration with these objects."""
        arrays = self._arrays(objects, leaves)
        first = recorder.batch.add_block(keys, arrays)
        recorder.values.offer_all(keys, arrays, self._small)
        for position, result in self._against_gradients:
            update = arrays[position]
            if update is not None:
                recorder.batch.angle(first + position, update, objects.results[result]._value, opposite=True)
        for positions in self._fan_ins:
            self._accumulate(recorder.batch, first, positions, arrays)
        for op, outputs in self._activations:
            for position, k in outputs:
                recorder.batch.activation(first + position, op, objects.outputs[k]._value)

    def _arrays(self, objects: Objects, leaves: list[Array]) -> list[Array | None]:
        """All arrays, group by group."""
        arrays: list[Array | None] = []
        results = [r._value for r in objects.results]
        if self._stats:
            arrays += [y._value for y in objects.outputs]
            arrays += leaves
            arrays += [c for event in objects.steps for c in event[3] if c is not None]
            arrays += [c for event in objects.steps for c in event[4] if c is not None]
            arrays += results
        arrays += results
        arrays += [event[8] for event in objects.assigns]
        with np.errstate(all="ignore"):
            arrays += [event[8] - event[7] for event in objects.assigns]
        missing = sum(r is None for event in objects.ends for r in event[4])
        return arrays + [None] * missing

    def _keep_angles(self, batch: StatBatch, objects: Objects, keys: list[Key], first: int) -> None:
        """Which cosines there are: of updates with gradients, and along the contributions at a fan-in."""
        results = {id(r._value): k for k, r in enumerate(objects.results)}
        self._against_gradients: list[tuple[int, int]] = []
        at_fan_ins = 0
        for request, _, other, opposite in batch.angles:
            if not first <= request < first + len(keys):
                continue
            at_fan_ins += not opposite
            if opposite:
                if id(other) not in results:
                    raise Unfit("an update by the gradient of an earlier iteration")
                self._against_gradients.append((self._place[request - first], results[id(other)]))
        arriving: dict[tuple[int, int], list[int]] = {}
        for k in self._contributions:
            arriving.setdefault((keys[k][0], keys[k][2]), []).append(self._place[k])
        self._fan_ins = [positions for positions in arriving.values() if len(positions) > 1]
        if at_fan_ins != sum(len(positions) - 1 for positions in self._fan_ins):
            raise Unfit("a fan-in with arrays that cannot be compared")

    @staticmethod
    def _accumulate(batch: StatBatch, first: int, positions: list[int], arrays: list[Array | None]) -> None:
        running: Any = arrays[positions[0]]
        for position in positions[1:]:
            part: Any = arrays[position]
            batch.angle(first + position, part, running)
            with np.errstate(all="ignore"):
                running = running + part


def _outputs_of(found: list[tuple[int, Array]], objects: Objects, first: int, count: int) -> list[tuple[int, int]]:
    """The requests of this iteration among activations, with the number of the output each is about."""
    place = {id(y._value): k for k, y in enumerate(objects.outputs)}
    return [(request, place[id(value)]) for request, value in found if first <= request < first + count]
