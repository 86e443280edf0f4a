"""Recordings that the tests of the analysis share: written once, read-only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tapeviz.recording.reader import Recording, open_recording
from tests.recording.synthetic import make_recording


@pytest.fixture(scope="session")
def trained_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training of five layers over twelve iterations with all values; one variable is not connected."""
    return make_recording(tmp_path_factory.mktemp("analysis") / "trained.tapeviz", iterations=12, layers=5,
                          none_result=True)


@pytest.fixture
def trained(trained_path: Path) -> Iterator[Recording]:
    with open_recording(trained_path) as recording:
        yield recording


@pytest.fixture(scope="session")
def broken_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training that turns to NaN in iteration 4."""
    return make_recording(tmp_path_factory.mktemp("analysis") / "broken.tapeviz", iterations=8, layers=3, nan_at=4)


@pytest.fixture
def broken(broken_path: Path) -> Iterator[Recording]:
    with open_recording(broken_path) as recording:
        yield recording
