"""Tokens, theme and icons: one source of every colour, followed live."""

import json
import re

import pytest
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction, QColor, QIcon, QIconEngine
from PySide6.QtWidgets import QApplication, QLabel, QToolButton
from pytestqt.qtbot import QtBot
from shiboken6 import delete

from devflow.app.paths import AppPaths
from devflow.ui.theme import ThemeController, ThemeMode, Tokens, stylesheet
from devflow.ui.widgets import Button
from tests.ui.conftest import Look


def test_every_colour_of_the_style_sheet_is_a_token(paths: AppPaths) -> None:
    for sheet in (paths.resources / "style").glob("*.qss"):
        assert not re.search(r"#[0-9a-fA-F]{3,8}\b", sheet.read_text(encoding="utf-8")), sheet.name


@pytest.mark.parametrize("name", ["light", "dark"])
def test_the_small_pictures_of_a_theme_use_its_colours(paths: AppPaths, name: str) -> None:
    folder = paths.resources / "style"
    colours = set(json.loads((folder / "tokens.json").read_text(encoding="utf-8"))["color"][name].values())
    for picture in (folder / name).glob("*.svg"):
        assert set(re.findall(r"#[0-9A-Fa-f]{6}", picture.read_text(encoding="utf-8"))) <= colours, picture.name


def test_a_misspelt_token_is_an_error_not_a_black_widget(paths: AppPaths) -> None:
    folder = paths.resources / "style"
    with pytest.raises(KeyError):
        stylesheet("QLabel { color: @texxt; }", Tokens.load(folder / "tokens.json").light, folder)


def test_both_themes_have_the_same_tokens(paths: AppPaths) -> None:
    tokens = Tokens.load(paths.resources / "style" / "tokens.json")
    assert tokens.light.colours.keys() == tokens.dark.colours.keys()


def test_a_change_of_theme_reaches_widgets_icons_and_the_palette_at_once(
    qapp: QApplication, qtbot: QtBot, look: Look
) -> None:
    label, action = QLabel("Text"), QAction()
    look.icons.put(action, "check", "text")
    qtbot.addWidget(label)
    light = _ink(action.icon())

    look.theme.set_mode(ThemeMode.DARK)

    label.ensurePolished()
    assert label.palette().color(label.foregroundRole()) == look.theme.color("text")
    assert qapp.palette().window().color() == look.theme.color("surface")
    assert _ink(action.icon()) == QColor(look.theme.hex("text"))
    assert _ink(action.icon()) != light


def test_the_system_is_followed_until_the_human_chooses(qapp: QApplication, paths: AppPaths) -> None:
    evening = False
    theme = ThemeController(qapp, paths.resources / "style", system_is_dark=lambda: evening)
    told: list[bool] = []
    theme.changed.connect(lambda: told.append(theme.palette.is_dark))
    evening = True
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert told == [True]
    theme.set_mode(ThemeMode.LIGHT)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert told == [True, False]
    theme.deleteLater()


def test_a_disabled_icon_has_the_disabled_colour(qapp: QApplication, look: Look) -> None:
    action = QAction()
    look.icons.put(action, "check", "text")
    assert _ink(action.icon(), QIcon.Mode.Disabled) == look.theme.color("text-disabled")


def test_a_checked_icon_has_the_colour_named_for_it(qapp: QApplication, look: Look) -> None:
    action = QAction()
    look.icons.put(action, "pin", "text-muted", on="accent-fg")
    assert _ink(action.icon(), state=QIcon.State.On) == look.theme.color("accent-fg")
    assert _ink(action.icon(), QIcon.Mode.Selected) == look.theme.color("text-muted")


def test_a_button_that_is_gone_does_not_trouble_a_change_of_theme(qapp: QApplication, look: Look) -> None:
    button = QToolButton()
    look.icons.put(button, "check")
    delete(button)
    look.theme.set_mode(ThemeMode.DARK)
    assert look.theme.palette.is_dark


def test_no_icon_is_drawn_by_an_engine_written_in_python(look: Look) -> None:
    """Qt frees engines when it likes; one of ours freed while a button took its next icon ended the process."""
    assert QIconEngine.__subclasses__() == []


@pytest.mark.parametrize("role", ["display", "body", "ui", "code"])
def test_fonts_are_whole_pixels_of_the_scale(qapp: QApplication, look: Look, role: str) -> None:
    font = look.theme.font(role)
    assert font.pixelSize() == look.theme.tokens.font_roles[role].px
    assert font.families()


def test_every_icon_draws_something(qapp: QApplication, look: Look) -> None:
    for name in look.icons.names():
        image = look.icons.pixmap(name, "text", 20).toImage()
        inked = any(image.pixelColor(x, y).alpha() for x in range(20) for y in range(20))
        assert inked, name


def test_a_button_is_as_high_as_the_design_says(qapp: QApplication, qtbot: QtBot, look: Look) -> None:
    for small, height in ((False, 28), (True, 24)):
        button = Button(look, "Publish", small=small, key="A")
        qtbot.addWidget(button)
        button.show()
        assert button.height() == height


def _ink(icon: QIcon, mode: QIcon.Mode = QIcon.Mode.Normal, state: QIcon.State = QIcon.State.Off) -> QColor:
    """The colour of the icon's most opaque pixel."""
    image = icon.pixmap(QSize(16, 16), mode, state).toImage()
    pixels = [image.pixelColor(x, y) for x in range(16) for y in range(16)]
    inked = max(pixels, key=lambda pixel: pixel.alpha())
    return QColor(inked.red(), inked.green(), inked.blue())
