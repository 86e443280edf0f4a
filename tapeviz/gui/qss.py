"""The style sheet template: widgets that Qt draws itself, filled by theme.stylesheet with tokens of a theme.

Buttons choose their look by the dynamic property "kind" ("primary", "segment", "text", "link", "icon"), frames and
labels by "role" ("card", "focused-card", "muted", "mono", "title", "heading", "footer").
"""

TEMPLATE = """
QMainWindow, QDialog { background: $window; }
QToolTip { background: $raised; color: $text; border: 1px solid $control; padding: $px4 $px6; }

QMenuBar { background: $window; color: $text; padding-left: $px8; }
QMenuBar::item { background: transparent; padding: $px4 $px10; border-radius: $px5; }
QMenuBar::item:selected { background: $hover_window; }
QMenuBar::item:pressed { background: $selection; }
QMenu { background: $raised; color: $text; border: 1px solid $control; padding: $px4; }
QMenu::item { padding: $px5 $px24 $px5 $px24; border-radius: $px4; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $faded; }
QMenu::separator { height: 1px; background: $border; margin: $px4 $px8; }
QMenu::indicator { left: $px6; width: $px12; height: $px12; }

QToolBar { background: $surface; border: none; border-top: 1px solid $border; border-bottom: 1px solid $border;
           spacing: $px6; padding: 0 $px10; }
QToolBar::separator { background: $border; width: 1px; margin: $px4 $px8; }
QToolBar QLabel { background: transparent; }
QToolBar QToolButton#qt_toolbar_ext_button { qproperty-icon: url("$chevron"); padding: 0; border: none; min-width: 0; }
QStatusBar { background: $window; color: $text; min-height: $px24; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $muted; background: transparent; }
QStatusBar QLabel[role="said"] { color: $text; }

QTabBar { background: $window; qproperty-drawBase: 0; }
QTabBar::tab { background: transparent; color: $muted; padding: 0 $px12; height: $px32; border: none;
               border-bottom: $px2 solid transparent; font-weight: 400; }
QTabBar::tab:selected { background: $surface; color: $text; border-bottom: $px2 solid $accent; font-weight: 600; }
QTabBar::tab:hover:!selected { background: $hover_window; color: $text; }
QTabBar::tab:focus { color: $text; border: $px2 solid $focus; padding: 0 $px10; height: $px30; }
QTabBar::tab:disabled { color: $faded; }
QTabBar QToolButton { background: $raised; border: 1px solid $control; }
QTabWidget::pane { border: none; background: $surface; }
QDockWidget { color: $text; font-weight: 600; titlebar-close-icon: none; }
QDockWidget::title { background: $window; padding: $px8 $px12; border-bottom: 1px solid $border; }
QMainWindow::separator { background: $gap; width: $px4; height: $px4; }
QMainWindow::separator:hover { background: $accent; }
QSplitter::handle { background: $window; }
QSplitter::handle:hover { background: $accent; }
QSplitter::handle:horizontal { width: $px4; }
QSplitter::handle:vertical { height: $px4; }

QPushButton, QToolButton { background: $raised; color: $text; border: 1px solid $control; border-radius: $px5;
    padding: 0 $px10; min-height: $px26; font-weight: 500; }
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:pressed, QToolButton:pressed { background: $pressed; }
QPushButton:checked, QToolButton:checked { background: $selection; font-weight: 600; }
QPushButton:focus, QToolButton:focus { border: $px2 solid $focus; padding: 0 $px8; }
QPushButton:disabled, QToolButton:disabled { color: $faded; border-color: $border; background: transparent; }
QPushButton[kind="primary"], QToolButton[kind="primary"] { background: $accent; color: $on_accent;
    border-color: $accent; font-weight: 600; padding: 0 $px14; }
QPushButton[kind="primary"]:hover, QToolButton[kind="primary"]:hover { background: $accent_hover; }
QPushButton[kind="primary"]:focus, QToolButton[kind="primary"]:focus { border: $px2 solid $text; }
QPushButton[kind="primary"]:disabled, QToolButton[kind="primary"]:disabled { background: $raised; color: $faded;
    border-color: $border; }
QPushButton[kind="segment"], QToolButton[kind="segment"] { border-radius: 0; margin-left: -1px; font-weight: 400; }
QPushButton[kind="segment"][place="first"], QToolButton[kind="segment"][place="first"] { margin-left: 0;
    border-top-left-radius: $px5; border-bottom-left-radius: $px5; }
QPushButton[kind="segment"][place="last"], QToolButton[kind="segment"][place="last"] {
    border-top-right-radius: $px5; border-bottom-right-radius: $px5; }
QPushButton[kind="segment"][place="only"] { border-radius: $px5; margin-left: 0; }
QPushButton[kind="segment"]:checked, QToolButton[kind="segment"]:checked { background: $selection; color: $text;
    font-weight: 600; }
QPushButton[kind="text"], QToolButton[kind="text"], QToolButton[kind="icon"] { background: transparent;
    border: 1px solid transparent; font-weight: 400; padding: 0 $px6; }
QPushButton[kind="text"]:hover, QToolButton[kind="text"]:hover, QToolButton[kind="icon"]:hover {
    background: $hover_surface; }
QPushButton[kind="text"]:checked { background: $selection; font-weight: 600; }
QPushButton[kind="text"]:focus, QToolButton[kind="text"]:focus, QToolButton[kind="icon"]:focus {
    border: $px2 solid $focus; padding: 0 $px5; }
QPushButton[kind="link"] { background: transparent; border: 1px solid transparent; color: $accent;
    font-family: "$mono"; font-size: $font11_5; font-weight: 400; padding: 0 $px2; min-height: $px20;
    text-align: left; }
QPushButton[kind="link"]:hover { text-decoration: underline; }
QPushButton[kind="link"]:focus { border: $px2 solid $focus; padding: 0 $px1; }
QPushButton[kind="link"]:disabled { color: $muted; background: transparent; border-color: transparent; }
QToolButton[kind="pill"] { background: transparent; border-radius: $px8; padding: 0 $px8; min-height: $px16;
    max-height: $px16; font-weight: 400; }
QToolButton[kind="pill"]:focus { border: $px2 solid $focus; padding: 0 $px6; }
QWidget[role="panel"] { background: $surface; }
QFrame[role="banner"] { background: $raised; border: none; border-bottom: 1px solid $border; }
QLabel[role="headline"] { font-size: $font20; font-weight: 600; }
QToolButton::menu-indicator { width: 0; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: $window; color: $text; border: 1px solid $control;
    border-radius: $px5; padding: 0 $px8; min-height: $px26; selection-background-color: $selection;
    selection-color: $text; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus { border: $px2 solid $focus; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled { color: $faded;
    border-color: $border; }
QComboBox { padding-right: $px4; }
QComboBox::drop-down { border: none; width: $px20; }
QComboBox::down-arrow { image: url("$chevron"); width: $px12; height: $px12; }
QComboBox QAbstractItemView { background: $raised; color: $text; border: 1px solid $control;
    selection-background-color: $selection; selection-color: $text; outline: none; }
QSpinBox::up-button, QSpinBox::down-button { width: 0; border: none; }
QSlider { min-height: $px24; }
QSlider::groove:horizontal { height: $px4; background: $border; border-radius: $px2; }
QSlider::sub-page:horizontal { background: $accent; border-radius: $px2; }
QSlider::handle:horizontal { background: $accent; width: $px12; height: $px12; margin: -$px4 0;
    border-radius: $px6; }
QSlider::handle:horizontal:focus { border: $px2 solid $text; }
QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled { background: $control; }
QCheckBox, QRadioButton { spacing: $px6; background: transparent; }
QCheckBox:focus, QRadioButton:focus { border: $px2 solid $focus; border-radius: $px3; }

QAbstractItemView { background: $surface; color: $text; border: 1px solid $surface; outline: none;
    gridline-color: $border;
    selection-background-color: $selection; selection-color: $text; font-size: $font12; }
QAbstractItemView:focus { border: 1px solid $focus; }
QHeaderView { background: $surface; border: none; }
QHeaderView::section { background: $surface; color: $muted; border: none; border-bottom: 1px solid $border;
    padding: 0 $px6; min-height: $px24; font-size: $font11_5; font-weight: 500; }
QHeaderView::section:hover { color: $text; }
QTableCornerButton::section { background: $surface; border: none; }
QPlainTextEdit, QTextEdit, QTextBrowser { background: $surface; color: $text; border: 1px solid $surface;
    selection-background-color: $selection; selection-color: $text; }
QPlainTextEdit:focus, QTextEdit:focus { border: 1px solid $focus; }

QScrollArea { background: $surface; border: none; }
QWidget[role="page"] { background: $surface; }
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: $px10; margin: 0; }
QScrollBar:horizontal { height: $px10; margin: 0; }
QScrollBar::handle { background: $control; border-radius: $px3; margin: $px2; }
QScrollBar::handle:vertical { min-height: $px32; }
QScrollBar::handle:horizontal { min-width: $px32; }
QScrollBar::handle:hover { background: $edge; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; border: none; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QAbstractScrollArea::corner { background: $surface; border: none; }
QProgressBar { background: $border; border: none; border-radius: $px2; max-height: $px4; }
QProgressBar::chunk { background: $accent; border-radius: $px2; }

QFrame[role="card"] { background: $raised; border: 1px solid $border; border-radius: $px8; }
QFrame[role="focused-card"] { background: $raised; border: $px2 solid $accent; border-radius: $px8; }
QFrame[role="footer"] { background: $surface; border: none; border-top: 1px solid $border; }
QLabel { background: transparent; color: $text; }
QLabel[role="title"] { font-size: $font13; font-weight: 600; }
QLabel[role="heading"] { font-size: $font11; font-weight: 600; color: $muted; }
QLabel[role="muted"] { color: $muted; }
QLabel[role="small"] { color: $muted; font-size: $font11; }
QLabel[role="empty"] { color: $muted; font-size: $font13; }
QLabel[role="mono"] { font-family: "$mono"; font-size: $font11_5; }
QLabel[role="error"] { color: $error; font-family: "$mono"; font-size: $font12; }
QLabel[role="pill"] { background: $accent; color: $on_accent; font-weight: 600; font-size: $font11_5;
    border-radius: $px10; padding: 0 $px10; min-height: $px20; max-height: $px20; }
QLabel:disabled { color: $faded; }
"""
