"""The panels of the window: one list from which docks, menus and snapshots are made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtWidgets import QWidget

from tapeviz.gui.findings.panel import FindingsPanel
from tapeviz.gui.graph.panel import GraphPanel
from tapeviz.gui.health.panel import HealthPanel
from tapeviz.gui.inspect.panel import TensorPanel
from tapeviz.gui.navigator.panel import NavigatorPanel
from tapeviz.gui.oplist.panel import OperationsPanel
from tapeviz.gui.output.panel import OutputPanel
from tapeviz.gui.plots.panel import PlotsPanel
from tapeviz.gui.session import Session
from tapeviz.gui.source.panel import SourcePanel
from tapeviz.gui.stepper.panel import StepPanel


@dataclass(frozen=True, slots=True)
class PanelSpec:
    """A panel that can be docked.  `least` is the size below which it says nothing any more."""

    id: str
    title: str
    make: Callable[[Session], QWidget]
    least: tuple[int, int] = (160, 100)


PANELS: tuple[PanelSpec, ...] = (
    PanelSpec("navigator", "Structure", NavigatorPanel, (150, 120)),
    PanelSpec("health", "Health map", HealthPanel, (320, 160)),
    PanelSpec("graph", "Graph", GraphPanel, (320, 160)),
    PanelSpec("source", "Source", SourcePanel, (260, 160)),
    PanelSpec("findings", "Findings", FindingsPanel, (280, 120)),
    PanelSpec("step", "Step", StepPanel, (280, 120)),
    PanelSpec("tensor", "Tensor", TensorPanel, (280, 120)),
    PanelSpec("operations", "Operations", OperationsPanel, (320, 110)),
    PanelSpec("plots", "Plots", PlotsPanel, (320, 110)),
    PanelSpec("output", "Output", OutputPanel, (320, 110)),
)
