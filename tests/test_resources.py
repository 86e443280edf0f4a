"""The files that ship with the program."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.resources import resource


def test_digits_are_the_uci_digits() -> None:
    with np.load(resource("data", "digits.npz")) as digits:
        images, labels = digits["images"], digits["labels"]
    assert images.shape == (1797, 8, 8)
    assert (images.min(), images.max()) == (0, 16)
    assert np.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]


def test_a_missing_file_is_named_with_the_places_looked_at() -> None:
    with pytest.raises(FileNotFoundError, match=r"looked for .*nothing\.png and .*nothing\.png"):
        resource("icons", "nothing.png")
