"""Tensor: an immutable array that knows its place on a tape.

What a tensor can do (operators, methods, NumPy's protocols) is installed by the modules that know how: `install`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradtape.entries import Entries
from gradtape.observers import LeaveKind, seam

__gradtape__ = True

Array = np.ndarray[Any, Any] | np.generic


class Tensor:
    """An immutable array; scalars are held as NumPy scalars, which compute ten times faster than 0-d arrays."""

    __slots__ = ("__weakref__", "_entries", "_index", "_shape", "_value")
    __array_priority__ = 1000
    _serial = 0                     # variables have a number of their own; 0: a plain tensor

    _value: Any
    _entries: Entries | None
    _index: int
    _shape: tuple[int, ...]

    def __init__(self, value: Any, dtype: Any = None) -> None:
        value = np.array(value, dtype=dtype)
        self._value = value if value.ndim else value[()]
        self._entries = None
        self._index = -1
        self._shape = value.shape

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._value.dtype      # type: ignore[no-any-return]  # a NumPy array or scalar

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        return int(self._value.size)

    def numpy(self) -> Any:
        """The value as an array of its own (a NumPy scalar for a scalar tensor); leaves the tape."""
        if seam.observer is not None:
            _leave(self, "numpy")
        value = self._value
        return value.copy() if value.ndim else value

    def item(self) -> Any:
        """The value of a one-element tensor as a Python number."""
        if seam.observer is not None:
            _leave(self, "item")
        return self._value.item()

    def tolist(self) -> Any:
        """The value as nested Python lists."""
        if seam.observer is not None:
            _leave(self, "tolist")
        return self._value.tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if seam.observer is not None:
            _leave(self, "array")
        value = np.asarray(self._value)
        if dtype is not None and value.dtype != dtype:
            return value.astype(dtype)
        if copy:
            return value.copy()
        view = value.view()
        view.flags.writeable = False    # tapes keep references to values, so nobody may change them
        return view

    def __len__(self) -> int:
        if not self._shape:
            raise TypeError("len() of a scalar tensor: it has no axis to count along")
        return self._shape[0]

    def __bool__(self) -> bool:
        if self._value.size != 1:
            raise ValueError(f"the truth value of a tensor of shape {self._shape} is ambiguous: "
                             "reduce it with any() or all() first")
        return bool(self._value)

    def __float__(self) -> float:
        if seam.observer is not None:
            _leave(self, "float")
        return float(self._single("float"))

    def __int__(self) -> int:
        if seam.observer is not None:
            _leave(self, "int")
        return int(self._single("int"))

    def __complex__(self) -> complex:
        if seam.observer is not None:
            _leave(self, "complex")
        return complex(self._single("complex"))

    def __index__(self) -> int:
        if self._value.ndim or self._value.dtype.kind not in "iu":
            raise TypeError(f"only a scalar integer tensor can be an index, not {self.dtype} of shape {self._shape}")
        if seam.observer is not None:
            _leave(self, "int")
        return int(self._value)

    def _single(self, name: str) -> Any:
        if self._value.size != 1:
            raise TypeError(f"{name}() needs a tensor of one element, this one has shape {self._shape}")
        return self._value.item()

    def __format__(self, spec: str) -> str:
        return format(self._value.item() if spec and not self._value.ndim else self._value, spec)

    def __repr__(self) -> str:
        value = np.array2string(self._value, separator=", ") if self._value.ndim else str(self._value)
        return f"<{type(self).__name__} shape={self._shape} dtype={self.dtype} value={value}>"

    __hash__ = None  # type: ignore[assignment]  # == compares elementwise, so tensors cannot be keys: use ref()

    def ref(self) -> TensorRef:
        """A hashable stand-in for the tensor itself, for dictionaries and sets; `deref()` gives it back."""
        return TensorRef(self)

    def __copy__(self) -> Tensor:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return make(self._value)

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (np.asarray(self._value),)

    if TYPE_CHECKING:
        # Installed by gradtape.ops and gradtape.protocols.
        T: Tensor
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __eq__(self, other: object) -> Tensor: ...  # type: ignore[override]  # elementwise, as in NumPy
        def __ne__(self, other: object) -> Tensor: ...  # type: ignore[override]
        def __getitem__(self, key: Any) -> Tensor: ...
        def __iter__(self) -> Iterator[Tensor]: ...
        def assign(self, value: Any) -> Any: ...        # for elements picked from a variable
        def assign_add(self, delta: Any) -> Any: ...
        def assign_sub(self, delta: Any) -> Any: ...
        def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor: ...
        def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor: ...
        def max(self, axis: Any = None, keepdims: bool = False) -> Tensor: ...
        def min(self, axis: Any = None, keepdims: bool = False) -> Tensor: ...
        def prod(self, axis: Any = None, keepdims: bool = False) -> Tensor: ...
        def var(self, axis: Any = None, keepdims: bool = False) -> Tensor: ...
        def std(self, axis: Any = None, keepdims: bool = False) -> Tensor: ...
        def argmax(self, axis: Any = None) -> Tensor: ...
        def argmin(self, axis: Any = None) -> Tensor: ...
        def reshape(self, *shape: Any) -> Tensor: ...
        def transpose(self, *axes: Any) -> Tensor: ...
        def astype(self, dtype: Any) -> Tensor: ...
        def dot(self, other: Any) -> Tensor: ...
        def ravel(self) -> Tensor: ...
        def flatten(self) -> Tensor: ...
        def squeeze(self, axis: Any = None) -> Tensor: ...
        def clip(self, low: Any, high: Any) -> Tensor: ...


def _leave(tensor: Tensor, how: LeaveKind) -> None:
    """Tell the observer, unless it is the engine that asks for the value."""
    if "__gradtape__" not in sys._getframe(2).f_globals and seam.observer is not None:
        seam.observer.on_leave(tensor, how)


class TensorRef:
    """Stands for a tensor by identity, so that it can be a key."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def deref(self) -> Tensor:
        """The tensor."""
        return self._tensor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorRef) and other._tensor is self._tensor

    def __hash__(self) -> int:
        return id(self._tensor)


def install(table: Mapping[str, Callable[..., Any] | property]) -> None:
    """Give Tensor the operators and methods of a table."""
    for name, function in table.items():
        setattr(Tensor, name, function)


_new = object.__new__


def make(value: Any, entries: Entries | None = None, index: int = -1) -> Tensor:
    """A tensor around a value that is taken as it is; a 0-d array becomes a NumPy scalar."""
    tensor = _new(Tensor)
    if type(value) is np.ndarray and not value.ndim:
        value = value[()]
    tensor._value = value
    tensor._shape = value.shape
    tensor._entries = entries
    tensor._index = index
    return tensor
