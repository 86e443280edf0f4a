"""Where plain data go in a program: from the expression in which a value left the engine to the operations it reaches.

Read from the source alone: assignments, loops, calls of the program's own functions, attributes and containers.  What
is merely printed or kept in a list for a plot reaches no operation.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property

from tapeviz.recording.rows import Location

ROUNDS = 12       # values that change hands more often are lost sight of
_FILLING = frozenset({"append", "extend", "add", "insert", "update", "setdefault", "appendleft", "put"})
_CALLED = ("__call__", "call", "forward")         # what runs when an object is called
_NO_NUMBERS = frozenset({"len", "print", "isinstance", "type", "repr", "str", "format", "id", "hasattr"})
_NO_VALUES = frozenset({"shape", "ndim", "dtype", "size", "name"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Span = tuple[int, int, int, int]     # line, column, end line, end column


class Program:
    """The source files of a run as syntax trees."""

    def __init__(self, sources: Mapping[str, list[str]]) -> None:
        self.trees: dict[str, ast.Module] = {}
        self.scopes: dict[ast.AST, tuple[ast.AST, ...]] = {}            # of every node, innermost first
        self.functions: dict[str, list[_Function]] = defaultdict(list)
        self.classes: dict[str, ast.ClassDef] = {}
        self.modules: set[str] = set()                                  # names that stand for what was imported
        for path, lines in sources.items():
            try:
                tree = ast.parse("\n".join(lines))
            except (SyntaxError, ValueError, RecursionError):
                continue
            self.trees[path] = tree
            self._read(tree, (tree,))

    def _read(self, node: ast.AST, scopes: tuple[ast.AST, ...]) -> None:
        stack: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(node, scopes)]
        while stack:
            current, scopes = stack.pop()
            self.scopes[current] = scopes
            match current:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    self.functions[name].append(current)
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as function):
                    self.functions[name].append(function)
                case ast.ClassDef(name=name):
                    self.classes[name] = current
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    self.modules.update((alias.asname or alias.name).split(".")[0] for alias in names)
                case _:
                    pass
            inner = (current, *scopes) if isinstance(current, _FUNCTIONS) else scopes
            stack += [(child, inner) for child in ast.iter_child_nodes(current)]

    def called(self, call: ast.Call) -> list[_Function]:
        """The functions of the program that a call may run."""
        name = _name_of(call.func)
        if name in self.functions:
            return self.functions[name]
        if name in self.classes:
            return [part for part in self.classes[name].body
                    if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        if _root(call.func) in self.modules or name in _NO_NUMBERS or name in _FILLING:
            return []
        return [function for method in _CALLED for function in self.functions.get(method, [])]

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of every file."""
        return list(self.scopes)

    def within(self, place: Location) -> Iterator[ast.expr]:
        """The expressions inside a stretch of source."""
        tree = self.trees.get(place.file)
        if tree is None:
            return
        span = _span_of(place)
        for node in ast.walk(tree):
            if isinstance(node, ast.expr):
                first, last = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
                if span[:2] <= first and last <= span[2:]:
                    yield node


class Trail:
    """What carries the value of one expression on."""

    def __init__(self, program: Program, start: Location) -> None:
        self.program = program
        self._names: set[tuple[ast.AST, str]] = set()      # by the function (or file) in which they were given
        self._attributes: set[str] = set()
        self._returning: set[ast.AST] = set()
        self._start = {max(program.within(start), key=_extent, default=None)}
        for _ in range(ROUNDS):
            before = len(self._names) + len(self._attributes) + len(self._returning)
            for node in program.nodes:
                self._follow(node)
            if len(self._names) + len(self._attributes) + len(self._returning) == before:
                break

    def reaches(self, place: Location) -> bool:
        """Whether an expression at this place reads the value."""
        return any(self._is_carrier(node) for node in self.program.within(place))

    def _is_carrier(self, node: ast.AST) -> bool:
        if node in self._start:
            return True
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                return any((scope, name) in self._names for scope in self.program.scopes[node])
            case ast.Attribute(attr=name, ctx=ast.Load()):
                return name in self._attributes and _root(node) not in self.program.modules
            case ast.Call():
                return any(function in self._returning for function in self.program.called(node))
            case _:
                return False

    def _carries(self, node: ast.AST | None) -> bool:
        """Whether the value of an expression depends on it."""
        stack = [node] if node is not None else []
        while stack:
            current = stack.pop()
            if self._is_carrier(current):
                return True
            if isinstance(current, (ast.JoinedStr, *_FUNCTIONS)) or (
                    isinstance(current, ast.Attribute) and current.attr in _NO_VALUES) or (
                    isinstance(current, ast.Call) and isinstance(current.func, ast.Name)
                    and current.func.id in _NO_NUMBERS):
                continue
            stack += ast.iter_child_nodes(current)
        return False

    def _follow(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._assign(target, value)
            case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                self._assign(target, value)
            case ast.AugAssign(target=target, value=value):
                self._assign(target, value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                if self._carries(value):
                    self._give(target)
            case ast.Return(value=value) | ast.Yield(value=value):
                function = self.program.scopes[node][0]
                if isinstance(function, _FUNCTIONS) and self._carries(value):
                    self._returning.add(function)
            case ast.Lambda(body=body):
                if self._carries(body):
                    self._returning.add(node)
            case ast.Call():
                self._call(node)
            case _:
                pass

    def _assign(self, target: ast.expr, value: ast.expr | None) -> None:
        if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)) and (
                len(target.elts) == len(value.elts)):
            for one, given in zip(target.elts, value.elts, strict=True):
                self._assign(one, given)
        elif self._carries(value):
            self._give(target)

    def _give(self, target: ast.expr) -> None:
        match target:
            case ast.Name(id=name):
                self._names.add((self.program.scopes[target][0], name))
            case ast.Attribute(attr=name):
                self._attributes.add(name)
            case ast.Subscript(value=base) | ast.Starred(value=base):
                self._give(base)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._give(part)
            case _:
                pass

    def _call(self, call: ast.Call) -> None:
        positional = [k for k, argument in enumerate(call.args) if self._carries(argument)]
        named = [k.arg for k in call.keywords if self._carries(k.value)]
        if not positional and not named:
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr in _FILLING:
            self._give(call.func.value)
        for function in self.program.called(call):
            arguments = function.args
            names = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
            if names[:1] == ["self"]:
                del names[0]
            given = {names[k] for k in positional if k < len(names)} | {name for name in named if name}
            if arguments.vararg and any(k >= len(names) for k in positional):
                given.add(arguments.vararg.arg)
            self._names.update((function, name) for name in given)


def _name_of(function: ast.expr) -> str:
    return function.id if isinstance(function, ast.Name) else function.attr if isinstance(
        function, ast.Attribute) else ""


def _root(node: ast.expr) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _span_of(place: Location) -> Span:
    """With whole lines where the columns are not known."""
    end = max(place.end_line, place.line)
    return (place.line, max(place.col, 0), end, place.end_col if place.end_col >= 0 else 1 << 30)


def _extent(node: ast.expr) -> Span:
    return (-node.lineno, -node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
