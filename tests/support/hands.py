"""What a person does with hands and eyes at a window of this process: by objectName, on what is visible.

Nothing here waits; `tests/support/person.py` does that in a test, `tests/e2e/driver.py` in a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction, QInputMethodEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QScrollArea,
    QTextBrowser,
    QTextEdit,
    QWidget,
)

from devflow.ui.widgets.chips import ElidedLabel, Paragraph

LEFT = Qt.MouseButton.LeftButton
NONE = Qt.KeyboardModifier.NoModifier


class NotThere(AssertionError):
    """What the person looked for is not visible, or cannot be reached."""


# eyes


def visible(name: str, within: QWidget | None = None) -> list[QWidget]:
    """Every visible widget with that objectName, in the order of the widget tree."""
    roots = [within] if within is not None else QApplication.topLevelWidgets()
    found: list[QWidget] = []
    for root in roots:
        for widget in (root, *root.findChildren(QWidget, name)):
            if widget.objectName() == name and widget.isVisible() and widget not in found:  # a dialog is both
                found.append(widget)
    return found


def find(name: str, within: QWidget | None = None) -> QWidget:
    """The newest visible widget with that name (the last one of a transcript)."""
    found = visible(name, within)
    if not found:
        raise NotThere(f"no visible {name}; the window shows:\n{everything()}")
    return found[-1]


def words(widget: QWidget) -> str:
    """Everything that can be read in a widget, one line for each part."""
    return "\n".join(part for part in _parts(widget) if part.strip())


def everything() -> str:
    """What all windows show, to be printed when a test fails."""
    tops = [top for top in QApplication.topLevelWidgets() if top.isVisible()]
    return "\n".join(f"--- {top.objectName() or type(top).__name__}\n{words(top)}" for top in tops)


def rows(name: str) -> list[str]:
    """The rows of a list, by what each is called; none while it is not to be seen."""
    view = _list(name)
    model = view.model() if view is not None else None
    return [str(model.index(row, 0).data()) for row in range(model.rowCount())] if model is not None else []


def current_row(name: str) -> str:
    view = _list(name)
    return str(view.currentIndex().data() or "") if view is not None else ""


def _list(name: str) -> QAbstractItemView | None:
    found = visible(name)
    if not found:
        return None
    assert isinstance(found[-1], QAbstractItemView), name
    return found[-1]


def answers() -> list[str]:
    """The texts of the transcript that are not the person's own, oldest first."""
    return [view.toPlainText() for view in _answer_views()]


def chips(text: str) -> list[str]:
    """The addresses behind a reference of the newest answer, like `K1`; empty where it is just text."""
    views = _answer_views()
    return (
        [address for cursor, address in _anchors(views[-1]) if cursor.selectedText().strip() == text] if views else []
    )


# hands


def reach(target: str | QWidget) -> bool:
    """Whether its window is in front, where the keyboard is; asks for that where not.

    A window manager does this when a window is pressed, or when the one over it closes; offscreen there is none.
    """
    found = [target] if isinstance(target, QWidget) else visible(target)
    if not found:
        return False
    window = found[-1].window()
    if not window.isActiveWindow():
        window.activateWindow()
    return window.isActiveWindow()


def click(target: str | QWidget, at: QPoint | None = None) -> None:
    """Press and release the left button, in the middle or at a point, if it can be reached by a pointer."""
    widget = find(target) if isinstance(target, str) else target
    name = widget.objectName() or type(widget).__name__
    if not widget.isEnabled():
        raise NotThere(f"{name} is greyed out")
    modal = QApplication.activeModalWidget()
    if modal is not None and not (modal is widget or modal.isAncestorOf(widget)):
        raise NotThere(f"{name} is behind the dialog {modal.windowTitle()!r}")
    _scroll_to(widget)
    point = widget.rect().center() if at is None else at
    window = widget.window()
    hit = window.childAt(widget.mapTo(window, point)) if widget is not window else widget
    if hit is not None and hit is not widget and not widget.isAncestorOf(hit) and not hit.isAncestorOf(widget):
        raise NotThere(f"{name} is covered by {hit.objectName() or type(hit).__name__}")
    QTest.mouseClick(widget, LEFT, NONE, point)


def double_click(name: str) -> None:
    """Two presses as fast as a hand that was not sure about the first one."""
    widget = find(name)
    click(widget)
    if widget.isVisible() and widget.isEnabled():
        click(widget)


def click_row(name: str, title: str) -> None:
    view = _list(name)
    if view is None:
        raise NotThere(f"no visible {name}")
    model = view.model()
    for row in range(model.rowCount()):
        index = model.index(row, 0)
        if str(index.data()) == title:
            view.scrollTo(index)
            click(view.viewport(), view.visualRect(index).center())
            return
    raise NotThere(f"no row {title!r} in {name}: {rows(name)}")


def click_chip(text: str) -> None:
    """Click a reference in the newest answer."""
    view = _answer_views()[-1]
    for cursor, _address in _anchors(view):
        if cursor.selectedText().strip() == text:
            middle = QTextCursor(view.document())
            middle.setPosition((cursor.selectionStart() + cursor.selectionEnd()) // 2)
            click(view.viewport(), view.cursorRect(middle).center())
            return
    raise NotThere(f"no reference {text} in: {view.toPlainText()}")


def choose(text: str) -> None:
    """Choose a row of the menu that is open, by the beginning of its words."""
    menu = QApplication.activePopupWidget()
    if not isinstance(menu, QMenu):
        raise NotThere("no menu is open")
    for action in menu.actions():
        if isinstance(action, QAction) and action.text().startswith(text):
            QTest.mouseClick(menu, LEFT, NONE, menu.actionGeometry(action).center())
            return
    raise NotThere(f"no {text!r} in the menu: {[action.text() for action in menu.actions()]}")


def type_text(text: str) -> None:
    """Type where the keyboard is; what is not on it comes from an input method, as Chinese does."""
    type_into(_keyboard(), text)


def type_into(widget: QWidget, text: str) -> None:
    """Type in that widget, whether the keyboard is there or not."""
    for by_key, run in groupby(text, key=str.isascii):
        if by_key:
            QTest.keyClicks(widget, "".join(run))
        else:
            composed = QInputMethodEvent()
            composed.setCommitString("".join(run))
            QApplication.sendEvent(widget, composed)


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """Press and release a key where the keyboard is."""
    QTest.keyClick(_keyboard(), key, modifiers)


def press_on(widget: QWidget | None, key: Qt.Key, modifiers: Qt.KeyboardModifier = NONE) -> None:
    """Press a key in that widget, which has just come to the front."""
    assert widget is not None
    QTest.keyClick(widget, key, modifiers)


def _keyboard() -> QWidget:
    focused = QApplication.focusWidget()
    if focused is None or not focused.isVisible():
        raise NotThere("the keyboard is nowhere")
    return focused


def _scroll_to(widget: QWidget) -> None:
    above = widget.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea) and above.isAncestorOf(widget):
            above.ensureWidgetVisible(widget, 0, 8)
        above = above.parentWidget()


def _answer_views() -> list[QTextBrowser]:
    """The texts of answers in the transcript."""
    found = visible("messageView")
    views = found[-1].findChildren(QTextBrowser) if found else []
    return [view for view in views if view.isVisible() and not _said_by_the_person(view)]


def _said_by_the_person(view: QWidget) -> bool:
    above: QWidget | None = view
    while above is not None:
        if above.objectName() in ("userMessage", "approvalCard", "toolCall"):
            return True
        above = above.parentWidget()
    return False


def _anchors(view: QTextBrowser) -> Iterator[tuple[QTextCursor, str]]:
    """The linked runs of a text, with their addresses."""
    block = view.document().begin()
    while block.isValid():
        place = block.begin()
        while not place.atEnd():
            run = place.fragment()
            if run.charFormat().isAnchor():
                cursor = QTextCursor(view.document())
                cursor.setPosition(run.position())
                cursor.setPosition(run.position() + run.length(), QTextCursor.MoveMode.KeepAnchor)
                yield cursor, run.charFormat().anchorHref()
            place += 1
        block = block.next()


def _parts(widget: QWidget) -> Iterator[str]:
    own = _own_words(widget)
    if own is not None:
        yield own
        return
    inside = [child for child in widget.children() if isinstance(child, QWidget) and child.isVisible()]
    if not inside and widget.accessibleName():
        yield widget.accessibleName()
    for child in inside:
        if not child.isWindow():
            yield from _parts(child)


def _own_words(widget: QWidget) -> str | None:
    match widget:
        case QTextEdit() | QPlainTextEdit():
            return widget.toPlainText()
        case QLineEdit():
            return widget.text()
        case QAbstractButton():
            return widget.text() or widget.accessibleName()
        case QLabel():
            return widget.text()
        case ElidedLabel():
            return widget.text
        case Paragraph():
            return widget.text()
        case QAbstractItemView():
            model = widget.model()
            found = [str(model.index(row, 0).data()) for row in range(min(model.rowCount(), 30))]
            return "\n".join(found)
        case _:
            return None
