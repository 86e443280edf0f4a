"""`import tensorflow` for scripts on machines without it: the engine's facade steps in."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__gradtape__ = True   # the frames of this module are not the user's

FACADE = "gradtape.tensorflow"


class _Facade(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The facade itself; it takes TensorFlow's name in sys.modules."""
        facade = importlib.import_module(FACADE)
        facade.install()
        return sys.modules.get(spec.name, facade)

    def exec_module(self, module: ModuleType) -> None:
        """It has been executed."""


class TensorflowFinder(MetaPathFinder):
    """Stands last on sys.meta_path, so it is asked only when no real TensorFlow was found."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
                  ) -> ModuleSpec | None:
        """A spec for `tensorflow`, if the engine has a facade for it."""
        if fullname != "tensorflow" or importlib.util.find_spec(FACADE) is None:
            return None
        return ModuleSpec(fullname, _Facade(), origin=FACADE)


def install() -> None:
    """Let `import tensorflow` find the facade when there is no TensorFlow."""
    sys.meta_path.append(TensorflowFinder())
