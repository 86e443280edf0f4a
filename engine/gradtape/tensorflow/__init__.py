"""TensorFlow's names for gradtape, so that a GradientTape tutorial runs with its `import tensorflow as tf` untouched.

    import gradtape.tensorflow as tf          # directly, or
    gradtape.tensorflow.install()             # `import tensorflow` finds this package if there is no TensorFlow

A name that is not here raises AttributeError with the nearest names that are.
"""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

from gradtape.tensorflow.missing import suggestion
from gradtape.tensorflow.names import NAMES

__gradtape__ = True

globals().update(NAMES)


def install(force: bool = False) -> bool:
    """Make `import tensorflow` mean this package, unless TensorFlow is installed (or force is given)."""
    if not force and ("tensorflow" in sys.modules or importlib.util.find_spec("tensorflow") is not None):
        return False
    this = sys.modules[__name__]
    sys.modules["tensorflow"] = this
    for path, part in _parts("tensorflow", this):
        sys.modules[path] = part
    return True


def _parts(path: str, module: ModuleType) -> list[tuple[str, ModuleType]]:
    """The namespaces below a module (tf.nn, tf.keras.optimizers, ...), which can be imported too."""
    found: list[tuple[str, ModuleType]] = []
    for name, value in vars(module).items():
        if isinstance(value, ModuleType) and value.__name__.startswith("tensorflow."):
            found.append((f"{path}.{name}", value))
            found.extend(_parts(f"{path}.{name}", value))
    return found


def __getattr__(name: str) -> object:
    raise AttributeError(suggestion("tf", name, NAMES))
