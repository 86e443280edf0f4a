"""Nests: lists, tuples, named tuples and dictionaries of tensors, taken apart and put together again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gradtape.tensor import Tensor

__gradtape__ = True


def flatten(nest: Any) -> list[Any]:
    """The leaves of a nest in order; dictionaries by sorted key, as in TensorFlow."""
    if isinstance(nest, Tensor):
        return [nest]
    if isinstance(nest, (list, tuple)):
        leaves: list[Any] = []
        for part in nest:
            if isinstance(part, Tensor):
                leaves.append(part)
            else:
                leaves.extend(flatten(part))
        return leaves
    if isinstance(nest, Mapping):
        return [leaf for key in sorted(nest) for leaf in flatten(nest[key])]
    return [nest]


def pack(nest: Any, leaves: Iterable[Any]) -> Any:
    """A nest of the same structure with other leaves."""
    return _pack(nest, iter(leaves))


def _pack(nest: Any, leaves: Any) -> Any:
    if isinstance(nest, Mapping):
        packed = {key: _pack(nest[key], leaves) for key in sorted(nest)}
        return {key: packed[key] for key in nest}
    if isinstance(nest, tuple) and hasattr(nest, "_fields"):
        return type(nest)(*(_pack(part, leaves) for part in nest))
    if isinstance(nest, (list, tuple)):
        return type(nest)(_pack(part, leaves) for part in nest)
    return next(leaves)
