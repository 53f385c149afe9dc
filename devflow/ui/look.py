"""What a widget needs to look right: theme, icons and words. `UiContext` is one; so is anything with these three."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from devflow.domain.messages import Translator
    from devflow.ui.icons import IconProvider
    from devflow.ui.theme import ThemeController


class Look(Protocol):
    """First constructor argument of every widget of the kit."""

    @property
    def theme(self) -> ThemeController: ...

    @property
    def icons(self) -> IconProvider: ...

    @property
    def t(self) -> Translator: ...
