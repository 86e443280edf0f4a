"""Fixtures of the engine's tests: global state stays as it was, NumPy's warnings are no failures at edges."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gradtape.entries import active
from gradtape.observers import seam


@pytest.fixture(autouse=True)
def sealed_state() -> Iterator[None]:
    """A test that leaves a tape recording or an observer registered fails."""
    yield
    assert active() is None
    assert seam.observer is None
