"""The kit's controls: what they say, how they take the keyboard, and that nothing shifts."""

import pytest
from PySide6.QtCore import QPoint, QPointF, QSize, QStringListModel, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLayout, QLayoutItem, QLineEdit, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import getAllValidWrappers

from devflow.ui.widgets import (
    Button,
    Choice,
    ComboBox,
    ElidedLabel,
    EmptyState,
    FlowLayout,
    Label,
    OptionRow,
    Picker,
    Rail,
    Row,
    RowDelegate,
    RowList,
    SearchField,
    Segmented,
    Switch,
    Timeline,
    TimelineItem,
    UndoBar,
)
from devflow.ui.widgets.entry_parts import FactsGrid, Link
from devflow.ui.widgets.lists import Index
from tests.support.waiting import emission, until
from tests.ui.conftest import Look


def test_the_rail_is_a_row_of_tabs_for_assistive_technology(qtbot: QtBot, look: Look) -> None:
    rail = Rail(look)
    qtbot.addWidget(rail)
    chat = rail.add_tab("navChat", "chat", "Chat")
    inbox = rail.add_tab("navInbox", "inbox", "Inbox")
    rail.select(0)
    inbox.set_badge(12, "Inbox, 12 to review")

    spoken = QAccessible.queryAccessibleInterface(chat)
    assert spoken.role() == QAccessible.Role.PageTab
    assert spoken.state().selected
    assert not spoken.state().checkable
    other = QAccessible.queryAccessibleInterface(inbox)
    assert not other.state().selected
    assert other.text(QAccessible.Text.Name) == "Inbox, 12 to review"


def test_arrow_keys_move_along_the_rail(qtbot: QtBot, look: Look) -> None:
    rail = Rail(look)
    qtbot.addWidget(rail)
    for name in ("Chat", "Knowledge", "Inbox"):
        rail.add_tab(f"nav{name}", "chat", name)
    rail.select(0)
    chosen: list[int] = []
    rail.chosen.connect(chosen.append)
    QTest.keyClick(rail, Qt.Key.Key_Down)
    QTest.keyClick(rail, Qt.Key.Key_Up)
    QTest.keyClick(rail, Qt.Key.Key_Up)
    assert chosen == [1, 0, 2]


def test_a_badge_counts_to_99_and_hides_at_nothing(qtbot: QtBot, look: Look) -> None:
    rail = Rail(look)
    qtbot.addWidget(rail)
    button = rail.add_tab("navInbox", "inbox", "Inbox")
    button.set_badge(140, "Inbox, 140 to review")
    assert button.badge.text == "99+"
    assert not button.badge.isHidden()
    button.set_badge(0, "")
    assert button.badge.isHidden()
    assert button.accessibleName() == "Inbox"


def test_escape_clears_a_search_before_it_leaves(qtbot: QtBot, look: Look) -> None:
    field = SearchField(look, "Search entries", key="/")
    qtbot.addWidget(field)
    left: list[bool] = []
    field.escaped.connect(lambda: left.append(True))
    QTest.keyClicks(field, "lock")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert (field.text(), left) == ("", [])
    QTest.keyClick(field, Qt.Key.Key_Escape)
    assert left == [True]


def test_a_field_does_not_grow_when_it_is_focused(qtbot: QtBot, look: Look) -> None:
    holder = QWidget()
    column = QVBoxLayout(holder)
    first, second = QLineEdit(), QLineEdit()
    column.addWidget(first)
    column.addWidget(second)
    qtbot.addWidget(holder)
    holder.show()
    first.setFocus()
    height = first.height()
    second.setFocus()
    assert (first.height(), second.height()) == (30, height)


def test_space_toggles_a_switch_and_its_state_is_spoken(qtbot: QtBot, look: Look) -> None:
    switch = Switch(look, "Extract automatically")
    qtbot.addWidget(switch)
    switch.show()
    QTest.keyClick(switch, Qt.Key.Key_Space)
    spoken = QAccessible.queryAccessibleInterface(switch)
    assert switch.isChecked()
    assert spoken.role() == QAccessible.Role.CheckBox
    assert spoken.state().checked
    assert spoken.text(QAccessible.Text.Name) == "Extract automatically"
    assert switch.size() == QSize(32, 18)


def test_choosing_a_segment_tells_its_index_once(qtbot: QtBot, look: Look) -> None:
    both = Segmented(look, ["Library", "Wiki"])
    qtbot.addWidget(both)
    chosen: list[int] = []
    both.chosen.connect(chosen.append)
    both.select(1)
    both.part(0).click()
    assert (both.current, chosen) == (0, [0])


def test_the_wheel_over_a_combo_box_scrolls_the_page_instead(qtbot: QtBot, look: Look) -> None:
    box = ComboBox(look, name="When")
    qtbot.addWidget(box)
    box.add("When the run ends", "on_complete")
    box.add("By hand", "manual_only")
    assert box.select_data("manual_only")
    assert not box.select_data("no such thing")
    assert box.currentData() == "manual_only"
    from PySide6.QtCore import QPoint
    from PySide6.QtGui import QWheelEvent

    turned = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    box.wheelEvent(turned)
    assert not turned.isAccepted()
    assert box.currentData() == "manual_only"


def test_a_picker_says_what_is_chosen(qtbot: QtBot, look: Look) -> None:
    picker = Picker(look, "Model", icon="cpu")
    qtbot.addWidget(picker)
    picker.set_choices([Choice("a", "small"), None, Choice("b", "large", "8k")], "b")
    assert picker.accessibleName() == "Model: large"


def test_a_label_that_does_not_fit_says_all_of_it_elsewhere(qtbot: QtBot, look: Look) -> None:
    label = ElidedLabel(look, "一个很长的标题 " * 10)
    qtbot.addWidget(label)
    label.resize(80, 20)
    label.show()
    assert label.toolTip() == label.accessibleName() == ("一个很长的标题 " * 10).strip()
    label.set_text("short")
    assert label.toolTip() == ""


def test_a_row_that_is_switched_off_says_why(qtbot: QtBot, look: Look) -> None:
    switch = Switch(look, "")
    row = OptionRow(look, "Idle wait", "After this time of quiet", switch)
    qtbot.addWidget(row)
    row.set_enabled(False, "Choose “when quiet” first")
    assert not switch.isEnabled()
    assert row.explanation.text() == "Choose “when quiet” first"
    assert switch.accessibleName() == "Idle wait"


def test_an_empty_state_has_at_most_two_acts(qtbot: QtBot, look: Look) -> None:
    done: list[str] = []
    empty = EmptyState(
        look, "inbox", "Nothing to review", "Why", [(name, lambda name=name: done.append(name)) for name in "abc"]
    )
    qtbot.addWidget(empty)
    assert [button.text() for button in empty.buttons] == ["a", "b"]
    empty.buttons[1].click()
    assert done == ["b"]


def test_an_empty_state_shows_the_whole_of_a_sentence_that_wraps_in_a_wide_pane(qtbot: QtBot, look: Look) -> None:
    empty = EmptyState(look, "chat", "Start with a question", "")
    qtbot.addWidget(empty)
    empty.resize(940, 600)
    empty.show()
    empty.say("Start with a question", "What the library knows about it comes with the answer, with references. " * 2)
    qtbot.waitUntil(lambda: empty.sentence.height() >= 2 * empty.sentence.fontMetrics().height())
    assert empty.sentence.height() >= empty.sentence.heightForWidth(empty.sentence.width())


def test_chips_wrap_to_the_next_line(qtbot: QtBot, look: Look) -> None:
    holder = QWidget()
    flow = FlowLayout(holder, gap=6)
    for text in ("one", "two", "three", "four"):
        flow.addWidget(QLabel(text * 4))
    qtbot.addWidget(holder)
    assert flow.heightForWidth(1000) < flow.heightForWidth(100)


class _Plain(RowDelegate):
    def paint_row(self, row: Row, index: Index) -> None:
        row.text(row.left, 0, row.rect.height(), str(index.data()))


def test_facts_stand_in_one_column_where_two_would_cut_them(qtbot: QtBot, look: Look) -> None:
    source, reused = Link(look, "Chat: a title of some length"), Link(look, "7 times")
    facts = FactsGrid([("Source", source), ("Reused", reused)])
    qtbot.addWidget(facts)
    facts.resize(600, 60)
    facts.show()
    assert source.mapTo(facts, QPoint()).y() == reused.mapTo(facts, QPoint()).y()
    facts.resize(330, 60)
    qtbot.waitUntil(lambda: source.mapTo(facts, QPoint()).y() < reused.mapTo(facts, QPoint()).y())
    assert source.width() == source.sizeHint().width()


def test_a_long_event_does_not_widen_the_timeline(qtbot: QtBot, look: Look) -> None:
    timeline = Timeline(look)
    qtbot.addWidget(timeline)
    timeline.set_items([TimelineItem("Published", "you · yesterday · " + "a long way " * 20)])
    assert timeline.minimumSizeHint().width() < 200


def test_han_characters_do_not_move_a_line_of_text(qtbot: QtBot) -> None:
    latin, han = Label("Inbox", "heading"), Label("收件箱", "heading")
    for label in (latin, han):
        qtbot.addWidget(label)
        label.show()
    assert latin.height() == han.height() == 22


def test_letters_typed_in_a_list_are_left_to_the_pages_shortcuts(qtbot: QtBot, look: Look) -> None:
    rows = RowList(look, "Candidates")
    qtbot.addWidget(rows)
    rows.setItemDelegate(_Plain(look, rows, height=32))
    rows.setModel(QStringListModel(["alpha", "beta", "gamma"]))
    rows.setCurrentIndex(rows.model().index(0, 0))
    rows.show()
    QTest.keyClicks(rows, "g")
    assert rows.currentIndex().row() == 0
    rows.step(1)
    assert rows.currentIndex().row() == 1


async def test_the_undo_bar_acts_once_and_goes(qtbot: QtBot, look: Look) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    host.resize(600, 400)
    host.show()
    bar = UndoBar(look, host)
    undone: list[str] = []
    bar.show_undo("Published “First”", lambda: undone.append("first"))
    bar.show_undo("Published “Second”", lambda: undone.append("second"))
    assert bar.isVisible()
    await until(lambda: bar.geometry().bottom() == 400 - 12 - 1, bar._rising.valueChanged)
    bar.button.click()
    bar.button.click()
    assert undone == ["second"]
    assert not bar.isVisible()


async def test_the_undo_bar_waits_while_the_pointer_rests_on_it(qtbot: QtBot, look: Look) -> None:
    host = QWidget()
    qtbot.addWidget(host)
    QLineEdit(host).setFocus()
    host.resize(600, 400)
    host.show()
    bar = UndoBar(look, host)
    bar.show_undo("Archived", lambda: None)
    bar.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, True)
    left = bar._left
    await emission(bar._clock.timeout)
    assert bar._left == left
    bar.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    bar._left = 60
    await emission(bar.expired)
    assert not bar.isVisible()


async def test_the_focus_ring_is_for_the_keyboard_only(qtbot: QtBot, qapp: QApplication, look: Look) -> None:
    holder = QWidget()
    column = QVBoxLayout(holder)
    buttons = [Button(look, text) for text in ("Publish", "Edit")]
    for button in buttons:
        column.addWidget(button)
    qtbot.addWidget(holder)
    holder.show()
    holder.activateWindow()
    await until(holder.isActiveWindow, qapp.focusWindowChanged)

    buttons[0].setFocus(Qt.FocusReason.MouseFocusReason)
    assert _rings(holder) == []
    QTest.keyClick(buttons[0], Qt.Key.Key_Tab)
    (ring,) = _rings(holder)
    assert ring.geometry() == buttons[1].geometry().adjusted(-3, -3, 3, 3)
    QTest.mouseClick(buttons[0], Qt.MouseButton.LeftButton)
    buttons[0].setFocus(Qt.FocusReason.MouseFocusReason)
    assert _rings(holder) == []
    buttons[1].setFocus(Qt.FocusReason.ShortcutFocusReason)
    assert len(_rings(holder)) == 1
    buttons[1].hide()
    assert _rings(holder) == []


def test_an_enter_in_a_field_presses_no_button(qtbot: QtBot, look: Look) -> None:
    holder = QWidget()
    column = QVBoxLayout(holder)
    field, button = QLineEdit(), Button(look, "Delete", variant="danger")
    column.addWidget(field)
    column.addWidget(button)
    qtbot.addWidget(holder)
    holder.show()
    button.clicked.connect(lambda: pytest.fail("nobody clicked"))
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert field.isVisible()


def _rings(holder: QWidget) -> list[QWidget]:
    """The overlays that are on the screen."""
    return [child for child in holder.findChildren(QWidget) if type(child).__name__ == "_Overlay" and child.isVisible()]


def test_a_settings_row_leaves_no_freed_layout_item_to_be_taken_for_something_else(qtbot: QtBot, look: Look) -> None:
    def items() -> int:
        return sum(isinstance(each, QLayoutItem) and not isinstance(each, QLayout) for each in getAllValidWrappers())

    row = OptionRow(look, "Network", "", Button(look, "One"), Button(look, "Two"))
    qtbot.addWidget(row)
    before = items()
    row.set_enabled(False)
    row.set_controls(Button(look, "Three"))
    row.set_enabled(True)
    assert items() == before
    assert [button.text() for button in row.findChildren(Button) if button.isEnabled()][-1] == "Three"
