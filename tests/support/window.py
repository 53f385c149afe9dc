"""What the tests of the window share: the real look, dialogs that answer from a list, and a whole window.

A conftest of Qt tests imports the fixtures by name.
"""

import contextlib
import gc
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QApplication, QDialog

from devflow.app.paths import AppPaths, app_paths
from devflow.domain.messages import Translator, english
from devflow.ui.application import shared_theme
from devflow.ui.icons import IconProvider
from devflow.ui.theme import ThemeController, ThemeMode
from devflow.ui.window import Pages

if TYPE_CHECKING:
    from devflow.app.desktop import Desktop


@dataclass(slots=True)
class Look:
    """The look of a widget that stands alone."""

    theme: ThemeController
    icons: IconProvider
    t: Translator


@dataclass(slots=True)
class ScriptedDialogs:
    """`Dialogs` that answers from `answers`, in order, and remembers what was asked.

    An answer is what the method returns; for `run`, a function that is given the dialog and acts on it before it is
    closed, or a result code.
    """

    answers: list[Any] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def will(self, *answers: Any) -> None:
        self.answers.extend(answers)

    async def confirm(self, title: str, text: str, *, act: str, danger: bool = False) -> bool:
        return bool(self._answer("confirm", title))

    async def prompt(self, title: str, label: str, *, value: str = "", act: str, multiline: bool = False) -> str | None:
        return self._text(self._answer("prompt", title))

    async def tell(self, title: str, text: str, *, details: str = "") -> None:
        self.asked.append(("tell", title))

    async def choose_folder(self, title: str, start: str = "") -> str | None:
        return self._text(self._answer("choose_folder", title))

    async def choose_file(self, title: str, start: str = "", filters: Sequence[str] = ()) -> str | None:
        return self._text(self._answer("choose_file", title))

    async def choose_files(self, title: str, start: str = "", filters: Sequence[str] = ()) -> Sequence[str]:
        return [str(path) for path in self._answer("choose_files", title) or ()]

    async def choose_save(self, title: str, start: str = "", filters: Sequence[str] = ()) -> str | None:
        return self._text(self._answer("choose_save", title))

    async def run(self, dialog: QDialog) -> int:
        answer = self._answer("run", dialog.windowTitle())
        try:
            if isinstance(answer, int):
                return answer
            result = answer(dialog)
            if hasattr(result, "__await__"):
                result = await result
            return int(result or dialog.result())
        finally:
            dialog.close()
            dialog.deleteLater()

    def _answer(self, kind: str, title: str) -> Any:
        self.asked.append((kind, title))
        if not self.answers:
            raise AssertionError(f"nobody expected the question {kind}: {title}")
        return self.answers.pop(0)

    @staticmethod
    def _text(answer: Any) -> str | None:
        return None if answer is None else str(answer)


@pytest.fixture(autouse=True)
def garbage_on_this_thread() -> Iterator[None]:
    """As in the application (`devflow/ui/garbage.py`): no QObject may die on the store's thread."""
    gc.disable()
    yield
    gc.collect()
    gc.enable()


@pytest.fixture
def paths(home: Path) -> AppPaths:
    return app_paths(home)


@pytest.fixture
def look(qapp: QApplication, paths: AppPaths) -> Look:
    """The real theme (light) and icons, English words."""
    theme = shared_theme(qapp, paths.resources)
    theme.set_mode(ThemeMode.LIGHT)
    return Look(theme, IconProvider(theme, paths.resources / "icons"), english())


@pytest.fixture
def dialogs() -> ScriptedDialogs:
    return ScriptedDialogs()


OpenWindow = Callable[..., contextlib.AbstractAsyncContextManager["Desktop"]]


@pytest.fixture
def open_window(qapp: QApplication, paths: AppPaths, dialogs: ScriptedDialogs) -> OpenWindow:
    """`async with open_window() as desktop:` shows the real window over `home`, and ends it in order.

    `desktop.window`, `desktop.core`, `desktop.tasks`; may be called again after the block: a restart.
    """

    @contextlib.asynccontextmanager
    async def opened(pages: Pages | None = None) -> AsyncIterator["Desktop"]:
        from devflow.app.desktop import Desktop

        desktop = await Desktop.open(qapp, paths, dialogs=dialogs, pages=pages)
        desktop.window.show()
        try:
            yield desktop
        finally:
            await desktop.close()

    return opened
