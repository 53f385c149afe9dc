"""Buttons: text with an optional icon and key cap, icon only, and split (act + menu in one frame)."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QToolButton,
    QWidget,
)

from devflow.ui.look import Look
from devflow.ui.widgets.painting import (
    baseline,
    draw_key_cap,
    draw_text,
    fill_round,
    key_cap_width,
    restyle,
    text_width,
)

_GAP = 8


class Button(QPushButton):
    """`variant`: default, primary, ghost, danger, link, suggestion, strip, row. `key` paints a key cap after the text.

    The accessible name is the text; the key is in the tooltip, not in the name.
    """

    def __init__(
        self,
        look: Look,
        text: str = "",
        *,
        variant: str = "default",
        icon: str | None = None,
        key: str | None = None,
        small: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._icon_name = icon
        self._key = key
        self._variant = variant
        self.setProperty("variant", variant)
        if small:
            self.setProperty("scale", "small")
        self.setText(text)
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor if variant == "link" else Qt.CursorShape.ArrowCursor)
        # A button never takes the keyboard by a click: the composer and the lists keep it.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_label(self, text: str) -> None:
        """Change the text and the accessible name together."""
        self.setText(text)
        self.setAccessibleName(text)
        self.updateGeometry()

    def set_variant(self, variant: str) -> None:
        self._variant = variant
        restyle(self, "variant", variant)

    def set_icon(self, name: str | None) -> None:
        self._icon_name = name
        self.updateGeometry()
        self.update()

    def set_key(self, key: str | None) -> None:
        self._key = key
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        height = super().sizeHint().height()
        return QSize(round(self._content_width()) + 2 * self._padding() + 2, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        option = QStyleOptionButton()
        self.initStyleOption(option)
        self.style().drawControl(QStyle.ControlElement.CE_PushButtonBevel, option, painter, self)
        self.paint_content(painter)

    def paint_content(self, painter: QPainter) -> None:
        """Icon, text and key cap, centred as one (or from the left in rows and links)."""
        theme = self._look.theme
        rect = QRectF(self.rect())
        x = rect.left() + self._padding() + 1
        if self._variant not in ("row", "link"):
            x = max(x, rect.center().x() - self._content_width() / 2)
        mid = rect.center().y() + 0.5
        token = self._text_token()
        if self._icon_name:
            self._look.icons.paint(painter, x, mid - 8, self._icon_name, self._icon_token(token), 16)
            x += 16 + (_GAP if self.text() else 0)
        font = self.font()
        if self._variant == "link" and self.underMouse() and self.isEnabled():
            font.setUnderline(True)
        x = draw_text(painter, x, baseline(rect, font), self.text(), font, theme.color(token))
        if self._key:
            on_fill = self._variant == "primary" and self.isEnabled()
            cap = "text-muted" if token == "danger" else token
            border = theme.color("accent-text", 0.6) if on_fill else theme.color("hairline-strong")
            draw_key_cap(painter, x + _GAP, mid, self._key, theme, theme.color(cap, 0.85), border)

    def _text_token(self) -> str:
        if not self.isEnabled():
            return "text-disabled"
        match self._variant:
            case "primary":
                return "accent-text"
            case "danger":
                return "danger"
            case "link" | "strip":
                return "accent-fg"
            case "ghost":
                return "accent-fg" if self.isChecked() else ("text" if self.underMouse() else "text-muted")
            case "row":
                return "text-muted"
            case _:
                return "text"

    def _icon_token(self, of_text: str) -> str:
        return "text-muted" if of_text == "text" else of_text

    def _padding(self) -> int:
        if self._variant == "link":
            return 0
        return 8 if self.property("scale") == "small" else 10

    def _content_width(self) -> float:
        width = text_width(self.text(), self.font())
        if self._icon_name:
            width += 16 + (_GAP if self.text() else 0)
        if self._key:
            width += _GAP + key_cap_width(self._look.theme, self._key)
        return width


class IconButton(QToolButton):
    """A 28 px (small: 24) icon button; `name` is what a screen reader says and what the tooltip shows."""

    def __init__(
        self,
        look: Look,
        icon: str,
        name: str,
        *,
        key: str | None = None,
        color: str = "text-muted",
        on: str = "accent-fg",
        small: bool = False,
        checkable: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._look = look
        self._color = color
        self._on = on
        self._side = 14 if small else 16
        self.setProperty("role", "icon")
        if small:
            self.setProperty("scale", "small")
        self.setCheckable(checkable)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.set_icon(icon)
        self.set_name(name, key)

    def set_icon(self, icon: str, color: str | None = None) -> None:
        self._color = color or self._color
        self._look.icons.put(self, icon, self._color, self._side, self._on)
        self.setIconSize(QSize(self._side, self._side))

    def set_name(self, name: str, key: str | None = None) -> None:
        self.setAccessibleName(name)
        self.setToolTip(f"{name}  {key}" if key else name)


class SendButton(QToolButton):
    """The filled 28 px arrow of the composer; `stop=True` makes it the outlined square that ends a run."""

    def __init__(self, look: Look, name: str, *, stop: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "stop" if stop else "send")
        side = 14 if stop else 16
        look.icons.put(self, "stop" if stop else "arrow-up", "text" if stop else "accent-text", side)
        self.setIconSize(QSize(side, side))
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)


class SplitButton(QWidget):
    """An act and a menu of its variants in one frame. `clicked` is the act; `menu` is yours to fill."""

    clicked = Signal()

    def __init__(
        self, look: Look, text: str, *, variant: str = "primary", menu_name: str = "", parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.button = _SplitPart(look, text, variant, left=True, parent=self)
        self.menu_button = _SplitPart(look, "", variant, left=False, parent=self)
        self.menu_button.setAccessibleName(menu_name or text)
        self.menu = QMenu(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.button)
        row.addWidget(self.menu_button)
        self.button.clicked.connect(self.clicked)
        self.menu_button.clicked.connect(self._open_menu)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def _open_menu(self) -> None:
        self.menu.popup(self.mapToGlobal(self.rect().bottomLeft()))


class _SplitPart(Button):
    """Half of the frame: rounded on its outer side only."""

    def __init__(self, look: Look, text: str, variant: str, *, left: bool, parent: QWidget) -> None:
        self._left = left
        super().__init__(look, text, variant=variant, icon=None if left else "chevron-down", parent=parent)
        if not left:
            self.setFixedWidth(26)

    def _padding(self) -> int:
        return 10 if self._left else 5

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        theme = self._look.theme
        rect = QRectF(self.rect())
        wide = rect.adjusted(0, 0, 12, 0) if self._left else rect.adjusted(-12, 0, 0, 0)
        fill, border = self._colours()
        fill_round(painter, wide, 6, theme.color(fill), theme.color(border))
        if not self._left:
            line = "accent-text" if self._variant == "primary" else "hairline-strong"
            painter.fillRect(
                QRectF(0, 1, 1, rect.height() - 2), theme.color(line, 0.45 if line == "accent-text" else 1)
            )
        self.paint_content(painter)

    def _colours(self) -> tuple[str, str]:
        hot, down = self.underMouse() and self.isEnabled(), self.isDown()
        if self._variant == "primary":
            if not self.isEnabled():
                return "surface-hover", "surface-hover"
            fill = "accent-press" if down else "accent-hover" if hot else "accent"
            return fill, fill
        return ("selection-inactive" if down else "surface-hover" if hot else "surface-raised"), "hairline-strong"
