"""Where things happen in the user's program: frames, exact positions, and what the source says about names."""

from __future__ import annotations

import ast
import threading
import tokenize
from dataclasses import dataclass, field
from types import CodeType, FrameType

from tapeviz.recording.schema import NONE
from tapeviz.recording.writer import Writer

MARKER = "__gradtape__"    # engine modules and those that run beside the script carry it: a frame walk steps over them
_LONGEST_NAME = 32
Span = tuple[int, int, int, int]   # line, end line, column, end column; as in CodeType.co_positions()


def is_ours(frame: FrameType) -> bool:
    """Whether a frame belongs to the engine or to this program."""
    return MARKER in frame.f_globals


def user_frame(frame: FrameType | None) -> FrameType | None:
    """The nearest frame of the user's program, from `frame` outwards."""
    while frame is not None and is_ours(frame):
        frame = frame.f_back
    return frame


def user_frames(frame: FrameType | None) -> list[FrameType]:
    """All frames of the user's program, innermost first."""
    found = []
    while frame is not None:
        if not is_ours(frame):
            found.append(frame)
        frame = frame.f_back
    return found


@dataclass
class _Expression:
    """What the source says about one expression: names given to its result, what its operands are called."""

    targets: tuple[str, ...] = ()
    function: str = ""
    operands: tuple[str, ...] = ()
    keywords: dict[str, str] = field(default_factory=dict)


def read_source(path: str) -> str:
    """The text of a source file, "" if there is none that can be read."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (OSError, SyntaxError, UnicodeDecodeError, ValueError):
        return ""


class Places:
    """Locations as ids of the recording, resolved late from (code object, instruction offset)."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._reading = threading.Lock()   # names are looked for by the script's threads, the rest happens in batches
        self._ids: dict[tuple[int, int], int] = {}
        # Keyed by id(): hashing a code object hashes its contents.  `_codes` keeps the ids valid.
        self._codes: dict[int, tuple[CodeType, list[Span]]] = {}
        self._files: dict[str, tuple[int, dict[Span, _Expression], frozenset[str]]] = {}

    def loc(self, code: CodeType | None, lasti: int) -> int:
        """Location id of an instruction, NONE for no code."""
        if code is None:
            return NONE
        key = (id(code), lasti)
        found = self._ids.get(key)
        if found is None:
            line, end_line, col, end_col = self.span(code, lasti)
            source, _, _ = self.file(code.co_filename)
            found = self._ids[key] = self._writer.loc_id(source, line, end_line, col, end_col, code.co_qualname)
        return found

    def span(self, code: CodeType, lasti: int) -> Span:
        """Exact source positions of an instruction; -1 where the compiler kept none."""
        known = self._codes.get(id(code))
        if known is None:
            spans = [_span(four) for four in code.co_positions()]
            known = self._codes[id(code)] = (code, spans)
        spans = known[1]
        return spans[lasti // 2] if 0 <= lasti // 2 < len(spans) else (code.co_firstlineno, -1, -1, -1)

    def file(self, path: str) -> tuple[int, dict[Span, _Expression], frozenset[str]]:
        """Source id, expressions by position, and names that only loops bind."""
        known = self._files.get(path)
        if known is None:
            with self._reading:
                known = self._files.get(path)
                if known is None:
                    text = read_source(path)
                    known = self._files[path] = (self._writer.source_id(path, text), *_read_expressions(text))
        return known

    def result_name(self, code: CodeType | None, lasti: int, output: int = 0) -> str:
        """The name the program gives to a result: "h" for `h = gt.sigmoid(...)`, "" if it gives none."""
        targets = self._expression(code, lasti).targets
        return targets[output] if output < len(targets) else ""

    def result_names(self, code: CodeType | None, lasti: int) -> tuple[str, ...]:
        """All names that the program gives to the parts of a result."""
        return self._expression(code, lasti).targets

    def operand_name(self, code: CodeType | None, lasti: int, op: str, slot: int, argument: str) -> str:
        """What the program calls an operand: "images[batch]" in `images[batch] @ W`, "" if unknown or long."""
        expression = self._expression(code, lasti)
        if expression.function and expression.function != op:
            return ""
        if argument in expression.keywords:
            return expression.keywords[argument]
        return expression.operands[slot] if slot < len(expression.operands) else ""

    def _expression(self, code: CodeType | None, lasti: int) -> _Expression:
        if code is None:
            return _NOTHING
        return self.file(code.co_filename)[1].get(self.span(code, lasti), _NOTHING)


_NOTHING = _Expression()


def _span(four: tuple[int | None, int | None, int | None, int | None]) -> Span:
    line, end_line, col, end_col = [-1 if part is None else part for part in four]
    return line, end_line, col, end_col


def _read_expressions(text: str) -> tuple[dict[Span, _Expression], frozenset[str]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, SystemError):
        # SystemError: two threads that parse at the same time, in Python 3.11.
        return {}, frozenset()
    found: dict[Span, _Expression] = {}
    loops: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[target, *_], value=value):
                _at(found, value).targets = _names(target)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                _at(found, value).targets = _names(target)
            case ast.NamedExpr(target=target, value=value):
                _at(found, value).targets = _names(target)
            case ast.AugAssign(target=target, value=value):
                _at(found, node).targets = _names(target)
                _at(found, node).operands = (_short(target), _short(value))
            case ast.For(target=target) | ast.comprehension(target=target):
                loops.update(_names(target))
            case ast.BinOp(left=left, right=right):
                _at(found, node).operands = (_short(left), _short(right))
            case ast.Compare(left=left, comparators=[right]):
                _at(found, node).operands = (_short(left), _short(right))
            case ast.UnaryOp(operand=operand):
                _at(found, node).operands = (_short(operand),)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=args, keywords=keywords):
                call = _at(found, node)
                call.function = name
                call.operands = tuple(_short(arg) for arg in args)
                call.keywords = {k.arg: _short(k.value) for k in keywords if k.arg}
            case _:
                pass
    return found, frozenset(loops)


def _at(found: dict[Span, _Expression], node: ast.expr | ast.stmt) -> _Expression:
    span = (node.lineno, node.end_lineno or -1, node.col_offset, node.end_col_offset or -1)
    return found.setdefault(span, _Expression())


def _names(target: ast.expr) -> tuple[str, ...]:
    if isinstance(target, (ast.Tuple, ast.List)):
        return tuple(name for part in target.elts for name in _names(part))
    return (_short(target),)


def _short(node: ast.expr) -> str:
    """The text of a number or a name-like expression, "" for anything long or computed."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float, complex)):
        return repr(node.value)
    if not isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        return ""
    text = ast.unparse(node)
    return text if len(text) <= _LONGEST_NAME else ""
