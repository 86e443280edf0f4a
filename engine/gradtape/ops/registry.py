"""The table of operations: what an op is, and the one road that every row can take.

A row has a forward function on bare arrays and one rule per argument.  `rule(m, g, y, *x, **attributes)` gives the
gradient that reaches the argument: g is the gradient of the result y, x are the arguments, and m offers the functions
to compute with: bare NumPy, or recorded ops when an outer tape listens.  One text serves every order of derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import perf_counter_ns
from typing import Any

import numpy as np

from gradtape.entries import ARITY, Entry, active, locate
from gradtape.errors import DTypeError, GradtapeError, InvalidArgumentError, ShapeError
from gradtape.observers import seam
from gradtape.tensor import Tensor, make

__gradtape__ = True

Rule = Callable[..., Any]
Example = tuple[tuple[Any, ...], dict[str, Any]]    # (shapes or arrays of the arguments, attributes)


class Functions:
    """The functions a rule computes with, by the names of the rows."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no op is called {name!r}")

    def joined(self, name: str, parts: Any, **attrs: Any) -> Any:
        """A function of a list, the one kind that is called differently on bare arrays and recorded."""
        function = getattr(self, name)
        return function(parts, **attrs) if isinstance(function, Op) else function(*parts, **attrs)


RAW = Functions()          # on bare arrays
RECORDED = Functions()     # on tensors, recorded by the tapes that listen
OPS: dict[str, Op] = {}


class Ghost:
    """What is left of an array of which a rule needs the shape only."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


class Op:
    """A row of the table; calling it applies it to tensors."""

    def __init__(self, name: str, forward: Callable[..., Any], rules: tuple[Rule | None, ...], *, formula: str,
                 vjps: tuple[str, ...], arguments: tuple[str, ...], broadcasts: bool, keeps: str | None,
                 variadic: bool, many: bool, differentiable: bool, stops_gradient: bool,
                 domain: tuple[float, float], examples: tuple[Example, ...], doc: str) -> None:
        self.name = name
        self.forward = forward
        self.rules = rules
        self.formula = formula
        self.vjp_formulas = vjps
        self.arguments = arguments
        self.count = len(arguments)
        self.broadcasts = broadcasts
        self.keeps = tuple(keeps is None or a in keeps.split() for a in arguments)
        self.keeps_result = keeps is None or "y" in keeps.split()
        self.variadic = variadic
        self.many = many
        self.differentiable = differentiable
        self.stops_gradient = stops_gradient
        self.domain = domain
        self.examples = examples
        self.__doc__ = doc
        self.fast: Callable[..., Any] | None = None             # a hand-specialised form beside the row
        self.joint: Callable[..., list[Any]] | None = None      # all contributions at once: custom gradients
        code = getattr(forward, "__code__", None)
        first = 0 if variadic else self.count
        names = () if code is None else code.co_varnames[first:code.co_argcount + code.co_kwonlyargcount]
        self.attributes: tuple[str, ...] = names
        defaults = getattr(forward, "__defaults__", None) or ()
        self.defaults: dict[str, Any] = dict(zip(names[len(names) - len(defaults):], defaults, strict=True))
        self.defaults.update(getattr(forward, "__kwdefaults__", None) or {})

    @property
    def __name__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<op {self.name}({', '.join((*self.arguments, *self.attributes))})>"

    def __call__(self, *args: Any, **attrs: Any) -> Any:
        inputs: tuple[Any, ...]
        if self.variadic:
            if not args:
                raise TypeError(f"{self.name}() needs a list of tensors")
            inputs, extra = tuple(args[0]), args[1:]
        else:
            inputs, extra = args[:self.count], args[self.count:]
            if len(inputs) < self.count:
                inputs = (*inputs, *self._by_keyword(self.arguments[len(inputs):], attrs))
        if self.attributes or attrs or extra:
            attrs = self._complete(extra, attrs)
        return apply(self, inputs, attrs)

    def _by_keyword(self, names: tuple[str, ...], attrs: dict[str, Any]) -> list[Any]:
        missing = [name for name in names if name not in attrs]
        if missing:
            raise TypeError(f"{self.name}({', '.join(self.arguments)}) misses {', '.join(missing)}")
        return [attrs.pop(name) for name in names]

    def _complete(self, extra: tuple[Any, ...], attrs: dict[str, Any]) -> dict[str, Any]:
        if len(extra) > len(self.attributes):
            raise TypeError(f"{self!r} takes at most {self.count + len(self.attributes)} arguments")
        attrs = {**self.defaults, **dict(zip(self.attributes, extra, strict=False)), **attrs}
        unknown = [name for name in attrs if name not in self.attributes]
        missing = [name for name in self.attributes if name not in attrs]
        if unknown or missing:
            what = f"does not know {unknown[0]!r}" if unknown else f"misses {missing[0]!r}"
            raise TypeError(f"{self.name}() {what}; it is called as {self!r}")
        return attrs

    def rule(self, position: int) -> Rule | None:
        """The rule for an argument."""
        return self.rules[0] if self.variadic else self.rules[position]

    def contribution(self, m: Functions, position: int, g: Any, y: Any, xs: tuple[Any, ...],
                     attrs: dict[str, Any]) -> Any:
        """What the gradient g of the result contributes to the gradient of one argument; None: nothing."""
        if self.variadic:
            return self.rules[0](m, g, y, *xs, which=position, **attrs)     # type: ignore[misc]  # has a rule
        c = self.rules[position](m, g, y, *xs, **attrs)                     # type: ignore[misc]
        x = xs[position]
        if self.broadcasts and x is not None and c.shape != x.shape:     # None: a fast form saw that shapes agree
            return m.sum_to(c, x.shape)
        return c


    def contributions(self, m: Functions, indices: tuple[int, ...], g: Any, y: Any, xs: tuple[Any, ...],
                      attrs: dict[str, Any]) -> list[Any]:
        """The contributions to all arguments that are on the tape, None to the others."""
        if self.joint is not None:
            return self.joint(m, indices, g, y, xs, attrs)
        return [self.contribution(m, k, g, y, xs, attrs) if i >= 0 else None for k, i in enumerate(indices)]


def op(name: str, forward: Callable[..., Any], *rules: Rule | None, formula: str, vjps: tuple[str, ...] = (),
       arguments: str = "x", broadcasts: bool = False, keeps: str | None = None, variadic: bool = False,
       many: bool = False, differentiable: bool = True, stops_gradient: bool = False,
       domain: tuple[float, float] = (-2.0, 2.0), examples: tuple[Example, ...] = (), doc: str = "") -> Op:
    """Add a row to the table.

    keeps: the arguments (and y) whose values the rules need, by name; of the others the tape keeps the shape only
    variadic: takes a list of tensors; its one rule also gets which=position
    many: returns several tensors; its rules get the tuple of their gradients
    domain: where tests may sample the arguments; examples: shapes and attributes for them
    """
    row = Op(name, forward, rules, formula=formula, vjps=vjps, arguments=tuple(arguments.split()),
             broadcasts=broadcasts, keeps=keeps, variadic=variadic, many=many, differentiable=differentiable,
             stops_gradient=stops_gradient, domain=domain, examples=examples, doc=doc)
    OPS[name] = row
    setattr(RAW, name, forward)
    setattr(RECORDED, name, row)
    return row


def nondifferentiable(name: str, forward: Callable[..., Any], *, formula: str, arguments: str = "x",
                      doc: str = "") -> Op:
    """Add a row that cuts the path: its result is a constant to every tape."""
    count = len(arguments.split())
    return op(name, forward, *[None] * count, formula=formula, arguments=arguments, differentiable=False, doc=doc)


def apply(row: Op, inputs: tuple[Any, ...], attrs: dict[str, Any]) -> Any:
    """Compute an op on tensors, arrays and numbers, tell the observer, record it where it has to be."""
    observer = seam.observer
    if observer is not None and row.fast is not None:
        started = perf_counter_ns()
        y = row.fast(*inputs, *attrs.values(), told=True)
        if y is not None:
            observer.on_op(row, inputs, (y,), attrs, y._entries is not None, started)
            return y
    for x in inputs:
        if type(x) is list or type(x) is tuple:
            inputs = tuple(gathered(x) for x in inputs)
            break
    values = unified(row, inputs)
    started = perf_counter_ns() if observer is not None else 0
    try:
        result = row.forward(*values, **attrs)
    except GradtapeError as error:
        if observer is not None:
            observer.on_op_error(row, inputs, attrs, error)
        raise
    except (ValueError, TypeError, IndexError, np.linalg.LinAlgError) as error:
        explained = explain(row, values, attrs, error)
        if observer is not None:
            observer.on_op_error(row, inputs, attrs, explained)
        raise explained from error
    entries = active()
    recorded = False
    indices: list[int] = []
    if entries is not None:
        for position, x in enumerate(inputs):
            if isinstance(x, Tensor):
                index = x._index
                if x._entries is not entries:
                    index = locate(x, entries)
                if index >= 0 and row.differentiable and row.rule(position) is not None:
                    recorded = True
                    indices.append(index)
                    continue
            indices.append(-1)
    outputs: tuple[Tensor, ...]
    if recorded and entries is not None:
        outputs = record(row, entries, tuple(indices), values, attrs, result)
        recorded = outputs[0]._entries is not None
    else:
        outputs = tuple(make(np.asarray(r)) if not hasattr(r, "dtype") else make(r)
                        for r in (result if row.many else (result,)))
    if observer is not None:
        observer.on_op(row, inputs, outputs, attrs, recorded, started)
    return outputs if row.many else outputs[0]


def slow(row: Op, inputs: tuple[Any, ...], attrs: dict[str, Any], told: bool) -> Tensor:
    """What a fast form returns where it does not apply: the row's result, or None if it was `apply` that asked."""
    return None if told else apply(row, inputs, attrs)      # type: ignore[return-value]  # only apply gets None


def record(row: Op, entries: Any, indices: tuple[int, ...], values: list[Any], attrs: dict[str, Any],
            result: Any) -> tuple[Tensor, ...]:
    """Append an op to the list; integer results are constants."""
    results = result if row.many else (result,)
    if results[0].dtype.kind not in "fc":
        return tuple(make(r) for r in results)
    if row.variadic:
        keeps: Iterable[bool] = row.keeps * len(values)
    else:
        keeps = row.keeps
    # An array of the script's own is copied: the script may write into it while the tape still needs it.
    xs = tuple((v.copy() if i < 0 and type(v) is np.ndarray else v) if keep or not hasattr(v, "dtype")
               else Ghost(v.shape, v.dtype) for v, i, keep in zip(values, indices, keeps, strict=True))
    ys = tuple(r if row.keeps_result else Ghost(r.shape, r.dtype) for r in results)
    index = len(entries)
    if not row.many:
        entries.append((undo_row, row, indices, ys[0], xs, attrs))
        return (make(result, entries, index),)
    entries.append((undo_rows, row, indices, ys, xs, attrs))
    outputs = []
    for number, r in enumerate(results):
        entries.append((undo_part, index, number, len(results)))
        outputs.append(make(r, entries, index + 1 + number))
    return tuple(outputs)


def gathered(value: Any) -> Any:
    """A list that has tensors in it as one tensor, with their history; anything else as it is."""
    if type(value) is not list and type(value) is not tuple:
        return value
    parts = [gathered(v) for v in value]
    return OPS["stack"](parts) if any(isinstance(v, Tensor) for v in parts) else value


def unified(row: Op, inputs: tuple[Any, ...]) -> list[Any]:
    """The bare values of the inputs; arrays and Python numbers adopt the dtype of the tensors among them."""
    dtype = None
    loose = False
    values: list[Any] = []
    for position, x in enumerate(inputs):
        if isinstance(x, Tensor):
            v = x._value
            if row.rule(position) is not None:
                if dtype is None:
                    dtype = v.dtype
                elif v.dtype != dtype:
                    raise mixed(row.name, dtype, v.dtype)
            values.append(v)
        else:
            loose = True
            values.append(x)
    if not loose:
        return values
    real = [not isinstance(x, Tensor) and row.rule(position) is not None for position, x in enumerate(inputs)]
    if dtype is None:
        values = [bare(v) if not isinstance(v, (int, float, complex)) else v for v in values]
        if any(real):
            dtype = np.result_type(*(v for v, r in zip(values, real, strict=True) if r))
    for position, x in enumerate(inputs):
        if not isinstance(x, Tensor):
            v = values[position]
            values[position] = adopt(row.name, v, dtype) if real[position] else bare(v) if v is not None else v
    return values


def bare(value: Any) -> Any:
    """An array (or NumPy scalar) of anything that holds numbers, tensors included."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value
    if isinstance(value, Tensor):
        return value._value
    if isinstance(value, (list, tuple)):
        value = [bare(v) for v in value]
    if hasattr(value, "__array_namespace__") or type(value).__module__.startswith("cupy"):
        return value                        # an array of another library computes for itself
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(f"a nested list is ragged and makes no array: {error}") from None
    if array.dtype.kind not in "fciub":
        raise DTypeError(f"numbers are needed, not {type(value).__name__} {value!r:.60}")
    return array if array.ndim else array[()]


def adopt(name: str, value: Any, dtype: Any) -> Any:
    """A number or array in a tensor's dtype, unless that would lose its fraction or imaginary part."""
    value = bare(value)
    kinds = "biufc"
    if value.dtype != dtype:
        if value.dtype.kind in "fc" and kinds.index(value.dtype.kind) > kinds.index(dtype.kind):
            raise mixed(name, dtype, value.dtype)
        value = value.astype(dtype)
    return value


def mixed(name: str, first: Any, second: Any) -> DTypeError:
    """The error for dtypes that do not go together."""
    return DTypeError(f"{name}: dtypes {first} and {second} do not go together; cast one, for example "
                      f"gt.cast(x, \"{first}\")")


def explain(row: Op, values: list[Any], attrs: dict[str, Any], error: Exception) -> InvalidArgumentError:
    """NumPy's error in the words of the op: what was given, and why it does not fit."""
    names = [f"x{k}" for k in range(len(values))] if row.variadic else list(row.arguments)
    given = ", ".join(f"{n} of shape {v.shape}" if getattr(v, "shape", ()) else f"{n} = {v!r:.40}"
                      for n, v in zip(names, values, strict=False))
    with_ = "".join(f", {key}={value!r:.60}" for key, value in attrs.items() if value is not None)
    kind = ShapeError if isinstance(error, (ValueError, IndexError)) else InvalidArgumentError
    return kind(f"{row.name}: {given}{with_} do not fit: {error}")


def add(G: list[Any], own: bytearray, i: int, c: Any) -> None:
    """Add a contribution to slot i; in place only where the slot holds a sum that was made here."""
    p = G[i]
    if p is None:
        G[i] = c
    elif own[i]:
        p += c
        G[i] = p
    else:
        G[i] = p + c
        own[i] = 1


def undo_row(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """Undo an entry (undo, row, positions, result, arguments, attributes) by its row's rules."""
    _, row, indices, y, xs, attrs = e
    for i, c in zip(indices, row.contributions(RAW, indices, g, y, xs, attrs), strict=True):
        if c is not None:
            add(G, own, i, c)


def undo_rows(g: list[Any], e: Entry, G: list[Any], own: bytearray) -> None:
    """The same for an op with several results: g is the list of their gradients."""
    undo_row(tuple(np.zeros(y.shape, y.dtype) if part is None else part for part, y in zip(g, e[3], strict=True)),
             e, G, own)


def undo_part(g: Any, e: Entry, G: list[Any], own: bytearray) -> None:
    """Hand the gradient of one of several results, (undo, position of the op, number, of how many), to the op."""
    _, index, number, count = e
    if G[index] is None:
        G[index] = [None] * count
    G[index][number] = g


ARITY[undo_row] = None
ARITY[undo_rows] = None
ARITY[undo_part] = 1
