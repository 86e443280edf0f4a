"""`import tensorflow` where there is none."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

from tapeviz.capture import imports


@pytest.fixture
def facade(monkeypatch):
    """A facade that counts its installations, and no TensorFlow."""
    module = ModuleType(imports.FACADE)
    module.__spec__ = ModuleSpec(imports.FACADE, None)
    installed = []
    module.install = lambda: installed.append(1)   # type: ignore[attr-defined]  # what the real one has
    monkeypatch.setitem(sys.modules, imports.FACADE, module)
    monkeypatch.delitem(sys.modules, "tensorflow", raising=False)
    monkeypatch.setattr(sys, "meta_path", [imports.TensorflowFinder()])
    return module, installed


def test_the_facade_takes_the_name(facade):
    module, installed = facade
    found = importlib.import_module("tensorflow")
    assert found is module
    assert installed == [1]


def test_other_names_are_left_alone(facade):
    assert imports.TensorflowFinder().find_spec("tensorflow_probability", None) is None
    assert not facade[1]


def test_without_a_facade_there_is_no_tensorflow(facade, monkeypatch):
    monkeypatch.setattr(imports, "FACADE", "json.no_such_facade")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("tensorflow")
