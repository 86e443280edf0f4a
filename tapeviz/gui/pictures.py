"""Pictures of widgets: PNG as pixels, SVG as a drawing."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import QWidget

FORMATS = (".png", ".svg")


def save_picture(widget: QWidget, target: Path) -> None:
    """Draw `widget` into a file, by suffix.  Raises OSError if it cannot be written, ValueError for other suffixes."""
    suffix = target.suffix.lower()
    if suffix == ".png":
        done = widget.grab().save(str(target), "PNG")
    elif suffix == ".svg":
        done = _save_svg(widget, target)
    else:
        raise ValueError(f"{target.name}: pictures are written as {' or '.join(FORMATS)}")
    if not done:
        raise OSError(f"{target} cannot be written: does the folder exist, and is there room on the disk?")


def _save_svg(widget: QWidget, target: Path) -> bool:
    drawing = QSvgGenerator()
    drawing.setFileName(str(target))
    drawing.setSize(widget.size())
    drawing.setViewBox(QRect(QPoint(0, 0), widget.size()))
    drawing.setResolution(96)
    drawing.setTitle(widget.accessibleName() or widget.windowTitle() or "tapeviz")
    painter = QPainter()
    if not painter.begin(drawing):
        return False
    widget.render(painter, QPoint(0, 0))
    return painter.end() and _in_pixels(target, widget.size())


def _in_pixels(target: Path, size: QSize) -> bool:
    """Qt writes the size in millimetres, which viewers turn into pixels each in their own way."""
    text = target.read_text(encoding="utf-8")
    pixels = f'width="{size.width()}" height="{size.height()}"'
    text = re.sub(r'width="[\d.]+mm" height="[\d.]+mm"', pixels, text, count=1)
    target.write_text(text, encoding="utf-8")
    return True
