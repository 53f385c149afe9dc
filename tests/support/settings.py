"""What a person does in the settings dialog, by clicks and keys: `async with settings(person, "Data") as dialog:`."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QListView

from devflow.ui.dialogs.settings import SettingsDialog
from tests.support import hands
from tests.support.person import Person

CTRL = Qt.KeyboardModifier.ControlModifier


@dataclass
class OpenSettings:
    person: Person

    @property
    def dialog(self) -> SettingsDialog:
        found = hands.find("settingsDialog")
        assert isinstance(found, SettingsDialog)
        return found

    @property
    def foot(self) -> str:
        return hands.words(hands.find("settingsFoot"))

    async def page(self, title: str) -> None:
        """Click a page in the column at the left."""
        await self.person.until(lambda: hands.reach("settingsNav"), "the dialog in front")
        hands.click_row("settingsNav", title)
        await self.person.until(lambda: self.dialog.current == title.lower().split()[0], f"the page {title}")

    def is_on(self, name: str) -> bool:
        found = hands.find(name)
        assert isinstance(found, QAbstractButton)
        return found.isChecked()

    def choice(self, name: str) -> str:
        found = hands.find(name)
        assert isinstance(found, QComboBox)
        return found.currentText()

    def choices(self, name: str) -> list[str]:
        found = hands.find(name)
        assert isinstance(found, QComboBox)
        return [found.itemText(row) for row in range(found.count())]

    async def chooses(self, name: str, text: str) -> None:
        """Move to that choice of a combo box with the arrow keys."""
        box = hands.find(name)
        assert isinstance(box, QComboBox)
        wanted = self.choices(name).index(text)
        box.setFocus(Qt.FocusReason.TabFocusReason)
        while box.currentIndex() != wanted:
            QTest.keyClick(box, Qt.Key.Key_Down if box.currentIndex() < wanted else Qt.Key.Key_Up)
        await self.person.until(lambda: self.choice(name) == text, f"{text!r} in {name}")

    async def types(self, name: str, text: str) -> None:
        """Click into a field and type over what is there."""
        await self.person.clicks(name)
        field = hands.find(name)
        # a spin box selects its number and not its unit: what is typed stands before the unit
        if hasattr(field, "selectAll"):
            field.selectAll()
        else:
            hands.press(Qt.Key.Key_A, CTRL)
        if text:
            hands.type_text(text)
        else:
            hands.press(Qt.Key.Key_Delete)

    def text(self, name: str) -> str:
        found = hands.find(name)
        assert isinstance(found, QLineEdit)
        return found.text()

    def hint(self, name: str) -> str:
        found = hands.find(name)
        assert isinstance(found, QLineEdit)
        return found.placeholderText()

    def ticks(self, model: str) -> None:
        """Click a row of the popup with the server's models."""
        view = hands.find("modelsList")
        assert isinstance(view, QListView)
        rows = (view.model().index(row, 0) for row in range(view.model().rowCount()))
        index = next(index for index in rows if index.data() == model)
        view.scrollTo(index)
        QTest.mouseClick(view.viewport(), hands.LEFT, hands.NONE, view.visualRect(index).center())

    async def adds(self, preset: str) -> None:
        """Choose a kind of server from the menu of the Add button."""
        await self.person.clicks("addProviderButton")
        hands.choose(preset)
        await self.person.finds("providerName")

    async def tests(self) -> None:
        """Press Test and wait for its end."""
        await self.person.clicks("testProviderButton")
        await self.person.until(lambda: not hands.visible("cancelTestButton"), "the end of the test")

    def result(self, what: str) -> str:
        """The words beside a line of the test, as they are spoken: `Key: Accepted`."""
        return hands.find(f"test-{what}").accessibleName()

    async def saves(self) -> None:
        """Save; the dialog closes because everything was stored."""
        await self.person.clicks("saveSettingsButton")
        await self.person.misses("settingsDialog")

    async def cancels(self) -> None:
        await self.person.clicks("cancelSettingsButton")
        await self.person.misses("settingsDialog")


@contextlib.asynccontextmanager
async def settings(person: Person, page: str = "Providers") -> AsyncIterator[OpenSettings]:
    """The dialog, opened from the rail, at a page by its title. What is left open is left without saving."""
    await person.clicks("navSettings")
    opened = OpenSettings(person)
    await person.finds("settingsProviders")
    if page != "Providers":
        await opened.page(page)
    yield opened
    if hands.visible("settingsDialog"):
        await opened.cancels()
