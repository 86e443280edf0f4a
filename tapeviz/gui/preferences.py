"""What the window remembers from one start to the next: theme, text size, layouts, recent files."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray, QSettings

from tapeviz.gui.theme import DARK, THEMES, Theme

RECENT_MOST = 10


class Preferences:
    """A thin door to QSettings; without settings (tests, snapshots) nothing is kept."""

    def __init__(self, settings: QSettings | None = None) -> None:
        self._settings = settings

    @staticmethod
    def of_user() -> Preferences:
        """The settings of the person at the screen."""
        return Preferences(QSettings(QSettings.Format.IniFormat, QSettings.Scope.UserScope, "tapeviz", "tapeviz"))

    def theme(self) -> Theme:
        theme = THEMES.get(self._text("theme"), DARK)
        try:
            return theme.scaled(float(self._text("scale") or 1.0))
        except ValueError:      # somebody edited the file by hand
            return theme

    def set_theme(self, theme: Theme) -> None:
        self._set("theme", theme.name)
        self._set("scale", f"{theme.scale:.2f}")

    def perspective(self) -> str:
        return self._text("perspective")

    def set_perspective(self, id: str) -> None:
        self._set("perspective", id)

    def bytes(self, key: str) -> QByteArray | None:
        value = self._settings.value(key) if self._settings is not None else None
        return value if isinstance(value, QByteArray) and not value.isEmpty() else None

    def set_bytes(self, key: str, value: QByteArray) -> None:
        self._set(key, value)

    def recent(self) -> list[Path]:
        value = self._settings.value("recent") if self._settings is not None else None
        names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        return [Path(name) for name in names if isinstance(name, str) and name]

    def add_recent(self, path: Path) -> None:
        path = path.resolve()
        self._set("recent", [str(p) for p in [path, *(p for p in self.recent() if p != path)][:RECENT_MOST]])

    def _text(self, key: str) -> str:
        value = self._settings.value(key) if self._settings is not None else None
        return value if isinstance(value, str) else ""

    def _set(self, key: str, value: object) -> None:
        if self._settings is not None:
            self._settings.setValue(key, value)
