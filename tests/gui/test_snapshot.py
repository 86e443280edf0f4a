"""Pictures without a screen: every view as PNG and SVG, neither blank nor cut."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from tapeviz.analysis.focus import Focus, move
from tapeviz.gui.snapshot import VIEWS, render
from tapeviz.recording.reader import open_recording
from tapeviz.recording.rows import RecordingError


def ink(path: Path) -> tuple[int, float, tuple[int, int]]:
    """(colours, share of pixels that differ from the commonest, size)."""
    image = QImage(str(path)).convertToFormat(QImage.Format.Format_RGB32)
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(image.height(), -1)[:, :image.width()]
    colours, counts = np.unique(pixels, return_counts=True)
    return len(colours), 1 - counts.max() / pixels.size, (image.width(), image.height())


@pytest.mark.parametrize("view", ["window", *VIEWS])
def test_every_view_has_something_on_it(qtbot: QtBot, trained_path: Path, tmp_path: Path, view: str) -> None:
    out = tmp_path / f"{view}.png"
    render(trained_path, view, out, size=(900, 600))
    colours, share, size = ink(out)
    assert size == (900, 600)
    assert colours >= 8
    assert share > 0.0005      # the sentence of a view that has nothing to say


def test_themes_differ(qtbot: QtBot, trained_path: Path, tmp_path: Path) -> None:
    pictures = []
    for theme in ("dark", "light", "projector"):
        render(trained_path, "ops", tmp_path / f"{theme}.png", size=(800, 300), theme=theme)
        pictures.append((tmp_path / f"{theme}.png").read_bytes())
    assert len(set(pictures)) == 3


def test_a_drawing_has_text_in_it(qtbot: QtBot, trained_path: Path, tmp_path: Path) -> None:
    out = tmp_path / "window.svg"
    render(trained_path, "window", out, size=(1280, 720))
    root = ElementTree.parse(out).getroot()
    texts = {"".join(node.itertext()).strip() for node in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Health map", "Loss", "multiply", "4 iterations"} <= texts
    assert len(texts) > 30


def test_the_focus_is_shown(qtbot: QtBot, trained_path: Path, tmp_path: Path) -> None:
    with open_recording(trained_path) as recording:
        focus = move(recording, Focus(), iteration=1, step=6)
    render(trained_path, "source", tmp_path / "a.png", size=(500, 400))
    render(trained_path, "source", tmp_path / "b.png", size=(500, 400), focus=focus)
    assert (tmp_path / "a.png").read_bytes() != (tmp_path / "b.png").read_bytes()
    render(trained_path, "ops", tmp_path / "c.png", size=(500, 400))
    render(trained_path, "ops", tmp_path / "d.png", size=(500, 400), focus=focus)
    assert (tmp_path / "c.png").read_bytes() != (tmp_path / "d.png").read_bytes()


def test_what_cannot_be_drawn(qtbot: QtBot, trained_path: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no view 'moon'"):
        render(trained_path, "moon", tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"pictures are written as \.png or \.svg"):
        render(trained_path, "ops", tmp_path / "a.gif")
    with pytest.raises(RecordingError):
        render(tmp_path / "missing.tapeviz", "ops", tmp_path / "a.png")
    with pytest.raises(OSError, match="cannot be written"):
        render(trained_path, "ops", tmp_path / "no" / "folder" / "a.png")
