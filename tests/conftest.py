"""Fixtures of the whole suite; decides on the Qt platform before anybody imports Qt."""

from __future__ import annotations

import os

os.environ["QT_QPA_PLATFORM"] = "offscreen"   # whatever the developer's desktop is: tests open no windows

import numpy as np
import pytest


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed: a failing test fails again."""
    return np.random.default_rng(20240229)
