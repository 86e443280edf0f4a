"""What to say about a TensorFlow name that gradtape does not have."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from types import ModuleType
from typing import Any

__gradtape__ = True


def suggestion(where: str, name: str, known: Iterable[str]) -> str:
    """The message for an unknown name, with the nearest known ones."""
    near = difflib.get_close_matches(name, list(known), n=2, cutoff=0.6)
    hint = f". Did you mean {' or '.join(f'{where}.{n}' for n in near)}?" if near else ""
    return f"gradtape has no {where}.{name}{hint}"


class Namespace(ModuleType):
    """A part of TensorFlow's tree, such as tf.nn."""

    def __init__(self, name: str, members: dict[str, Any]) -> None:
        super().__init__(f"tensorflow.{name}")
        self.__dict__.update(members)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        where = self.__name__.replace("tensorflow", "tf")
        raise AttributeError(suggestion(where, name, [n for n in vars(self) if not n.startswith("_")]))
