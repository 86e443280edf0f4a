"""Variable: a tensor that can be assigned to and that tapes watch when it is read."""

from __future__ import annotations

import weakref
from itertools import count
from typing import Any, NoReturn

import numpy as np

from gradtape.errors import AssignmentError, DTypeError, ShapeError
from gradtape.observers import AssignKind, seam
from gradtape.ops.elementwise import identity
from gradtape.ops.indexing import getitem, plain_key
from gradtape.ops.registry import bare, gathered
from gradtape.tensor import Tensor, install, make

__gradtape__ = True

_serials = count(1)


class Variable(Tensor):
    """State of a model.

    An assignment binds a new array and never writes into the old one: what tapes have saved does not change.  In
    arithmetic a variable is its value at that moment; trainable ones are watched by every tape that records.
    """

    __slots__ = ("_serial", "_trainable", "name", "version")

    _serial: int

    def __init__(self, initial_value: Any, trainable: bool = True, name: str | None = None, dtype: Any = None) -> None:
        if callable(initial_value) and not isinstance(initial_value, Tensor):
            initial_value = initial_value()
        super().__init__(bare(initial_value), dtype)
        self._serial = next(_serials)
        self._trainable = bool(trainable)
        self.name = name if name is not None else f"Variable:{self._serial - 1}"
        self.version = 0
        if seam.observer is not None:
            seam.observer.on_variable(self)

    @property
    def trainable(self) -> bool:
        """Whether tapes watch the variable by themselves; looked at on every read."""
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        self._trainable = bool(value)
        self._entries = None            # so that the next read looks again

    def value(self) -> Tensor:
        """The present value as a tensor."""
        return identity(self)           # type: ignore[no-any-return]  # an op returns Any

    read_value = value

    def assign(self, value: Any) -> Variable:
        """Replace the value; gradients do not flow through an assignment."""
        given = self._fitting(value)
        return self._set("assign", value, given if isinstance(value, Tensor) else np.array(given))

    def assign_add(self, delta: Any) -> Variable:
        """Add to the value."""
        return self._set("add", delta, self._value + self._fitting(delta))

    def assign_sub(self, delta: Any) -> Variable:
        """Subtract from the value."""
        if type(delta) is Tensor and delta._shape == self._shape and seam.observer is None:
            value = self._value
            change = delta._value
            if value.dtype is change.dtype:         # the case of every training step
                self._value = value - change
                self.version += 1
                return self
        return self._set("sub", delta, self._value - self._fitting(delta))

    def _fitting(self, value: Any) -> Any:
        """The bare array of a value, in this variable's dtype and of its shape."""
        array = value._value if isinstance(value, Tensor) else bare(value)
        dtype = self._value.dtype
        if array.dtype is not dtype and array.dtype != dtype:
            if isinstance(value, Tensor) or (array.dtype.kind == "c" and dtype.kind != "c"):
                raise DTypeError(f"{self.name} is of dtype {dtype}, the assigned value of {array.dtype}; "
                                 f"cast it first: gt.cast(value, \"{dtype}\")")
            array = array.astype(dtype)
        if array.shape != self._shape:
            raise ShapeError(f"{self.name} has shape {self._shape}, the assigned value {array.shape}; "
                             "they must be the same")
        return array

    def _set(self, kind: AssignKind, given: object, value: Any) -> Variable:
        before = self._value
        self._value = value if value.ndim else value[()]
        self.version += 1
        if seam.observer is not None:
            seam.observer.on_assign(self, kind, given, before)
        return self

    def __getitem__(self, key: Any) -> Tensor:
        return _pick(self, plain_key(key))

    def _refuse(self, other: object) -> NoReturn:
        raise AssignmentError(f"{self.name} is a variable: write {self.name}.assign_add(x) or .assign_sub(x); "
                              "x = x + 1 makes a new tensor, which no tape watches")

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __imatmul__ = __ipow__ = _refuse

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        return Variable(self._value, self._trainable, self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Variable, (np.asarray(self._value), self._trainable, self.name)

    def __repr__(self) -> str:
        return f"<Variable {self.name!r} shape={self._shape} dtype={self.dtype} value={self._value}>"


# Elements picked from variables, by the id of the tensor: what `v[1].assign(5.0)` has to change.  They are ordinary
# tensors, so that they take the fast road.
_picked: dict[int, tuple[weakref.ref[Tensor], Variable, Any]] = {}


def _pick(variable: Variable, key: Any) -> Tensor:
    tensor: Tensor = getitem(variable, key=key)
    number = id(tensor)
    _picked[number] = weakref.ref(tensor, lambda _: _picked.pop(number, None)), variable, key
    return tensor


def _assign_elements(kind: AssignKind) -> Any:
    def assign(tensor: Tensor, value: Any) -> Variable:
        """Change these elements of the variable that the tensor was picked from."""
        if id(tensor) not in _picked:
            raise AttributeError("only variables, and elements picked from them, can be assigned to; a tensor never "
                                 "changes")
        _, variable, key = _picked[id(tensor)]
        array = np.array(variable._value)
        new = bare(value)
        array[key] = new if kind == "assign" else array[key] + (new if kind == "add" else -new)
        return variable.assign(array)

    return assign


install({"assign": _assign_elements("assign"), "assign_add": _assign_elements("add"),
         "assign_sub": _assign_elements("sub")})


def constant(value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """A tensor made from data, which is copied; dtypes are NumPy's (a Python float gives float64).

    shape: of the result; a single number is repeated to fill it.
    """
    tensor = Tensor(bare(value), dtype)
    if shape is not None:
        array = np.asarray(tensor._value)
        if array.size != 1 and array.size != int(np.prod(shape)):
            raise ShapeError(f"constant: {array.size} elements do not fill shape {tuple(shape)}")
        tensor = make(np.full(shape, array.reshape(-1)[0]) if array.size == 1 else array.reshape(shape))
    return tensor


def convert(value: Any, dtype: Any = None) -> Tensor:
    """A tensor of anything that holds numbers; a tensor comes back as it is, a variable as its present value."""
    value = gathered(value)
    if isinstance(value, Tensor):
        tensor = value.value() if isinstance(value, Variable) else value
        if dtype is not None and tensor.dtype != np.dtype(dtype):
            raise DTypeError(f"this tensor is of dtype {tensor.dtype}, not {np.dtype(dtype)}; cast it: "
                             f"gt.cast(x, \"{np.dtype(dtype)}\")")
        return tensor
    return constant(value, dtype)
