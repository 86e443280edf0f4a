"""Why a gradient is None: where on the way from the source to the target the chain of recorded operations is cut."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tapeviz.analysis.findings.dataflow import Trail
from tapeviz.analysis.findings.facts import ABSENT, Facts
from tapeviz.recording.reader import Recording
from tapeviz.recording.rows import Location
from tapeviz.recording.schema import NONE, OpFlag, Role, TensorFlag

_LEAVES = r"\.(?:numpy|item|tolist)\(|\b(?:float|int|list)\(|\b(?:np|numpy|math)\.\w+\("
_HOW = {"numpy": ".numpy()", "item": ".item()", "tolist": ".tolist()", "float": "float(", "int": "int(",
        "complex": "complex(", "array": "np.array("}
FOLLOWED = 16       # places where values left that are looked into
_ONLY_SHOWN = re.compile(r"^\s*(?:print|assert|logging|log|plt|writer)\b|\.append\(|^\s*return\s+float\(")


@dataclass(frozen=True, slots=True)
class NoneReason:
    """Why a source has no gradient.

    reason: the id of the diagnosis; op: name of the operation at the cut; op_id: that operation, ABSENT if there is
    none; sentence: what happened, in the user's words; fix: the one-line remedy
    """

    reason: str
    op: str
    file: str
    line: int
    sentence: str
    fix: str
    source: str
    op_id: int = ABSENT


def why_none(recording: Recording, pass_: int, source: int, facts: Facts | None = None) -> NoneReason | None:
    """Why gradient call `pass_` returned None for its source number `source`; None if it did not."""
    results = recording.results_of(pass_)
    rows = results[results["source"] == source]
    if not len(rows) or int(rows[-1]["state"]) not in (1, 3):
        return None
    return _Search(facts or Facts(recording), pass_, rows[-1]).reason()


class _Search:
    """The search for one source of one gradient call."""

    def __init__(self, facts: Facts, pass_: int, result: np.void) -> None:
        self.facts, self.recording = facts, facts.recording
        self.row = facts.passes[pass_]
        self.tape = int(self.row["tape"])
        self.target = int(self.row["target"])
        self.variable = int(result["variable"]) if result["variable"] != NONE else ABSENT
        self.name = self.recording.name(int(result["name"])) if result["name"] != NONE else ""
        tensor = int(result["tensor"])
        self.tensor = tensor if tensor < len(facts.tensors) else ABSENT
        if not self.name and self.tensor != ABSENT:
            self.name = self.recording.tensor_name(self.tensor)
        self.end = min(int(self.row["at_op"]), facts.op_count)
        iteration = int(facts.pass_iterations[pass_])
        self.begin = int(facts.firsts[min(iteration - 1, facts.iteration_count - 1)]) if iteration > 1 else 0
        self.call_place = facts.place_of_loc(int(self.row["loc"]))

    def reason(self) -> NoneReason:
        """The first explanation that holds."""
        return (self._integer() or self._unwatched() or self._cut() or self._assigned() or self._seen_leaving()
                or self._left() or self._unused())

    # --- explanations -----------------------------------------------------------------------------------------

    def _integer(self) -> NoneReason | None:
        if self.tensor == ABSENT or not self.facts.tensors["flags"][self.tensor] & TensorFlag.INTEGER:
            return None
        place = self.call_place
        if self.variable != ABSENT:
            place = self.facts.place_of_loc(self.recording.variable(self.variable).loc)
        elif defined := self.facts.defined_at(self.name, *place):
            place = (place[0], defined)
        dtype = self.recording.dtype(int(self.facts.tensors["dtype"][self.tensor]))
        return self._say("integer-source", ABSENT, place, f"{self.name} holds integers ({dtype}), and integers have no "
                         "gradient.", "Write the numbers with a decimal point (3.0), or give dtype float32.")

    def _unwatched(self) -> NoneReason | None:
        if self.variable != ABSENT or self.tensor == ABSENT:
            return None
        maker = self.facts.maker(self.tensor)
        if maker != ABSENT and self.facts.ops["flags"][maker] & OpFlag.RECORDED:
            return None
        watches = self.recording.watches
        mine = watches[(watches["tape"] == self.tape) & (watches["tensor"] == self.tensor)]
        if len(mine):
            used = [op for op, _ in self.facts.users(self.tensor) if op < int(mine["at_op"].min())]
            if used and not any(op >= int(mine["at_op"].min()) for op, _ in self.facts.users(self.tensor)):
                return self._say("unwatched-source", used[-1], None, f"{self.name} is watched only after it was used "
                                 f"at line {self.facts.place(used[-1])[1]}.",
                                 f"Call tape.watch({self.name}) before the first use.")
            return None
        former = self._former_variable(maker)
        if former is not None:
            return former
        return self._say("unwatched-source", ABSENT, self.call_place, f"{self.name} is a plain tensor that the tape "
                         "was never told to watch: only variables are watched on their own.",
                         f"Call tape.watch({self.name}) at the beginning of the with block, or make it a Variable.")

    def _former_variable(self, maker: int) -> NoneReason | None:
        """w = w - lr * g: the name once stood for a variable."""
        if maker == ABSENT:
            return None
        same = [v for v in self.recording.variables if v.name == self.name]
        versions = [t for op in (maker,) for t in self.facts.inputs(op) if t < len(self.facts.tensors)]
        if not same or not any(int(self.facts.tensors["variable"][t]) == same[0].id or
                               self.recording.tensor_name(t) == self.name for t in versions):
            return None
        first = maker
        for op in range(self.facts.op_count):   # the first time that it happened
            if self.recording.tensor_name(int(self.facts.ops["output"][op])) == self.name:
                first = op
                break
        line, iteration = self.facts.place(first)[1], self.facts.iteration_of(first)
        return self._say("unwatched-source", first, None, f"{self.name} is no longer a Variable since line {line} of "
                         f"iteration {iteration}, which gave its name to a plain tensor.",
                         f"Change the variable in place: {self.name}.assign_sub(...).")

    def _cut(self) -> NoneReason | None:
        """There is a way from the source to the target, but it goes through something without gradient."""
        depends = self._closure(self._sources(), recorded=False)
        if self.target not in depends:
            return None
        carries = self._closure(self._sources(), recorded=True)
        ancestors = self._ancestors()
        for op in sorted(ancestors):
            outputs = list(self.recording.op_outputs(op))
            if any(t in carries for t in self.facts.inputs(op)) and not any(t in carries for t in outputs):
                return self._cut_at(op)
        return self._say("graph-break", ABSENT, self.call_place, f"The way from {self.name} to the target was recorded "
                         "by another tape than the one that is asked.",
                         "Compute the target inside the with block of the tape that the gradient is taken from.")

    def _cut_at(self, op: int) -> NoneReason:
        facts, flags = self.facts, int(self.facts.ops["flags"][op])
        name, line = facts.name_of(op), facts.place(op)[1]
        output = int(facts.ops["output"][op])
        if flags & OpFlag.STOPS_GRADIENT:
            return self._say("stop-gradient", op, None, f"Everything behind {name} at line {line} is treated as a "
                             f"constant: {self.name} gets no gradient.", f"Remove {name} and use the value directly.")
        if flags & OpFlag.NONDIFFERENTIABLE:
            return self._say("nondiff-op", op, None, f"{name} at line {line} has no slope: the way from {self.name} "
                             "to the target ends there.",
                             f"Leave {name} out of the loss, or pass the gradient straight through it: "
                             f"x + stop_gradient({name}(x) - x).")
        if output < len(facts.tensors) and facts.tensors["flags"][output] & TensorFlag.INTEGER:
            return self._say("nondiff-op", op, None, f"{name} at line {line} makes integers, and integers have no "
                             f"gradient: the way from {self.name} to the target ends there.",
                             "Stay with floating point numbers on the way to the loss.")
        return self._say("graph-break", op, None, f"{name} at line {line} was computed {self._outside(op)}, so the "
                         f"tape knows nothing of the way from {self.name} to the target.",
                         "Move it into the with block of the tape.")

    def _outside(self, op: int) -> str:
        if 0 <= self.tape < len(self.facts.recording.tapes):
            tape = self.facts.recording.tapes[self.tape]
            if op < int(tape["enter_op"]):
                return "before the tape was opened"
            if tape["exit_op"] != NONE and op >= int(tape["exit_op"]):
                return "after the tape was closed"
        return "while the tape was not recording"

    def _assigned(self) -> NoneReason | None:
        """The way goes through an assignment to a variable, which carries no gradient."""
        depends = self._closure(self._sources(), recorded=False)
        assigns = self.recording.assigns
        inside = assigns[(assigns["at_op"] >= self.begin) & (assigns["at_op"] <= self.end) & (assigns["by"] != NONE)]
        for assign in inside:
            made = set(self.recording.op_outputs(int(assign["by"])))
            if made & depends and self.target in self._closure({int(assign["tensor"])}, recorded=False):
                if int(assign["variable"]) == self.variable:
                    continue
                place = self.facts.place_of_loc(int(assign["loc"]))
                holder = self.recording.variable(int(assign["variable"])).name
                return self._say("stop-gradient", ABSENT, place, f"The way from {self.name} to the target goes through "
                                 f"an assignment to {holder} at line {place[1]}, and assignments carry no gradient.",
                                 "Use the value itself in the loss; assign it afterwards.", op_name="assign")
        return None

    def _seen_leaving(self) -> NoneReason | None:
        """A value was seen to leave the engine, and the program carries it to an operation on the way to the target."""
        facts, recording = self.facts, self.recording
        depends = self._closure(self._sources(), recorded=False) | self._sources()
        left = [event for event in recording.events if event.kind == "left"
                and (self.begin <= event.op + 1 <= self.end or (event.op == NONE and not self.begin))
                and (event.data["tensor"] in depends or event.data["variable"] == self.variable)]
        back = self._places_of_constants() if left else []
        trails: dict[int, Trail] = {}
        for event in reversed(left):     # newest first: what was computed last is what was carried out
            tensor, loc = int(str(event.data["tensor"])), int(str(event.data["loc"]))
            place = recording.loc(loc)
            if place is None or (loc not in trails and len(trails) >= FOLLOWED):
                continue
            if loc not in trails:
                trails[loc] = Trail(facts.program, place)
            after = event.op if event.op != NONE else -1
            if any(op > after and trails[loc].reaches(where) for op, where in back):
                return self._broken(tensor, (place.file, place.line), _HOW.get(str(event.data["how"]), ""))
        return None

    def _places_of_constants(self) -> list[tuple[int, Location]]:
        """The operations on the way to the target that read a constant; the gradient call, if the target is one."""
        facts, recording = self.facts, self.recording
        roles = facts.tensors["role"]
        found = {int(facts.ops["loc"][op]): op for op in sorted(self._ancestors())
                 if any(t < len(roles) and roles[t] == Role.CONSTANT for t in facts.inputs(op))}
        if self.target < len(roles) and roles[self.target] == Role.CONSTANT:
            found[int(self.row["loc"])] = self.end
        return [(op, place) for loc, op in found.items() if (place := recording.loc(loc)) is not None]

    def _left(self) -> NoneReason | None:
        """The same without the recording's word for it: a constant with the values of what depends on the source."""
        depends = self._closure(self._sources(), recorded=False) | self._sources()
        constants = self._constants_on_the_way()
        value = self._same_value(depends, constants)
        if value is not None:
            tensor, back = value
            return self._broken(tensor, self._line_that_leaves([tensor]) or self._line_of_user(back))
        for tensor in sorted(depends, reverse=True) if constants else ():
            left = self._line_that_leaves([tensor])   # newest first: what was computed last is what was carried out
            if left is not None and self._comes_back(left, constants):
                return self._broken(tensor, left)
        for constant in constants if depends - self._sources() else ():
            place = self._line_of_user(constant)
            text = self.facts.source_line(*place)
            if re.search(r"\.(?:numpy|item|tolist)\(|\bfloat\(", text) and not _ONLY_SHOWN.search(text):
                return self._broken(max(depends), place)
        return None

    def _broken(self, tensor: int, place: tuple[str, int], how: str = "") -> NoneReason:
        text = self.facts.source_line(*place)
        how = how or next((word for word in _HOW.values() if word in text), "np." if "np." in text else "")
        what = self.recording.tensor_name(tensor)
        via = f" ({how.rstrip('(.')})" if how else ""
        return self._say("graph-break", self.facts.maker(tensor), place, f"{what} left gradtape at line "
                         f"{place[1]}{via} and came back as a constant: {self.name} is not connected to the "
                         "target any more.",
                         "Stay with gradtape's operations between the variable and the loss.",
                         op_name=how.rstrip("(").lstrip(".") or "numpy")

    def _unused(self) -> NoneReason:
        used = bool(self._closure(self._sources(), recorded=False))
        said = "what is computed from it does not reach the loss" if used else "the loss does not use it"
        place = self.call_place
        if self.variable != ABSENT:
            place = self.facts.place_of_loc(self.recording.variable(self.variable).loc)
            place = place if place[1] else self.call_place
        return self._say("unused-variable", ABSENT, place, f"{self.name} has no gradient because {said}.",
                         "Use it in the loss, or leave it out of the list of sources.")

    # --- walking ----------------------------------------------------------------------------------------------

    def _sources(self) -> set[int]:
        if self.variable == ABSENT:
            return {self.tensor} if self.tensor != ABSENT else set()
        mine = (self.facts.tensors["variable"] == self.variable) & (self.facts.tensors["role"] == Role.VARIABLE)
        return set(np.flatnonzero(mine).tolist())

    def _closure(self, sources: Iterable[int], recorded: bool) -> set[int]:
        """Tensors that depend on the sources; with `recorded` only through what carries a gradient."""
        found = set(sources)
        made: set[int] = set()
        blocked = OpFlag.NONDIFFERENTIABLE | OpFlag.STOPS_GRADIENT
        for op in range(self.begin, self.end):
            row = self.facts.ops[op]
            if recorded and (not row["flags"] & OpFlag.RECORDED or row["flags"] & blocked):
                continue
            if any(t in found for t in self.facts.inputs(op)):
                outputs = [t for t in self.recording.op_outputs(op) if t < len(self.facts.tensors)]
                if recorded:
                    outputs = [t for t in outputs if not self.facts.tensors["flags"][t] & TensorFlag.INTEGER]
                found.update(outputs)
                made.update(outputs)
        return found if recorded else made

    def _ancestors(self) -> set[int]:
        """Operations that the target was computed by."""
        found: set[int] = set()
        stack = [self.target]
        while stack:
            tensor = stack.pop()
            op = self.facts.maker(tensor) if tensor < len(self.facts.tensors) else ABSENT
            if op != ABSENT and op not in found:
                found.add(op)
                stack.extend(self.facts.inputs(op))
        return found

    def _constants_on_the_way(self) -> list[int]:
        roles = self.facts.tensors["role"]
        read = {t for op in self._ancestors() for t in self.facts.inputs(op) if t < len(roles)}
        return sorted(t for t in read if roles[t] == Role.CONSTANT)

    def _same_value(self, depends: set[int], constants: list[int]) -> tuple[int, int] | None:
        """A tensor that depends on the source and a constant with the very same numbers."""
        prints = {}
        for tensor in sorted(depends):
            mark = self._print(tensor)
            if mark is not None:
                prints[mark[:3]] = tensor, mark[3]
        for constant in constants:
            mark = self._print(constant)
            if mark is not None and mark[:3] in prints:
                tensor, norm = prints[mark[:3]]
                # the same elements, summed in another order or precision, differ in the last digits of the norm
                if abs(norm - mark[3]) <= 1e-5 * norm:
                    return tensor, constant
        return None

    def _print(self, tensor: int) -> tuple[float, float, float, float] | None:
        """Statistics that only equal values share; None for what is too plain to tell (0, 1, all equal)."""
        row = int(self.facts.value_row[tensor])
        if row == ABSENT:
            return None
        s = self.facts.stats[row]
        n, low, high, norm = float(s["n"]), float(s["min"]), float(s["max"]), float(s["l2"])
        if math.isnan(norm) or norm == 0 or (low == high and low == round(low, 3)):
            return None
        return n, low, high, norm

    # --- lines ------------------------------------------------------------------------------------------------

    def _line_that_leaves(self, tensors: Iterable[int]) -> tuple[str, int] | None:
        """The line nearest after its computation in which a named tensor is turned into something else."""
        for tensor in tensors:
            name = self.facts.tensors["name"][tensor]
            text = self.recording.name(int(name)) if name != NONE else ""
            if not text and self.facts.tensors["variable"][tensor] != NONE:
                text = self.recording.tensor_name(tensor)
            file, line = self.facts.place(self.facts.maker(tensor))
            lines = self.facts.source_lines
            if not text:
                if file and re.search(r"\.(?:numpy|item|tolist)\(", self.facts.source_line(file, line)):
                    return file, line
                continue
            word = rf"(?<![\w.]){re.escape(text)}(?![\w])"
            leaving = re.compile(rf"{word}[^#]*(?:\.numpy|\.item|\.tolist)\(|(?:{_LEAVES})[^#]*{word}")
            found = [(path, number) for path, rows in lines.items() if not file or path == file
                     for number, row in enumerate(rows, 1) if leaving.search(row) and not _ONLY_SHOWN.search(row)]
            after = [place for place in found if place[1] >= line]
            if found:
                return (after or found)[0]
        return None

    def _comes_back(self, place: tuple[str, int], constants: list[int]) -> bool:
        """Whether what a line makes is among these constants: read on that line, or by the name given there."""
        given = re.match(r"\s*([A-Za-z_][\w, ]*)=(?!=)", self.facts.source_line(*place))
        names = {name.strip() for name in given[1].split(",")} if given else set()
        for constant in constants:
            if self._line_of_user(constant) == place:
                return True
            name = int(self.facts.tensors["name"][constant])
            if name != NONE and re.split(r"\W", self.recording.name(name))[0] in names:
                return True
        return False

    def _line_of_user(self, tensor: int) -> tuple[str, int]:
        users = self.facts.users(tensor)
        return self.facts.place(users[0][0]) if users else self.call_place

    def _say(self, reason: str, op: int, place: tuple[str, int] | None, sentence: str, fix: str,
             op_name: str | None = None) -> NoneReason:
        file, line = self.facts.place(op) if place is None else place
        name = op_name if op_name is not None else self.facts.name_of(op) if op != ABSENT else "gradient"
        return NoneReason(reason, name, file, line, sentence, fix, self.name, op)
