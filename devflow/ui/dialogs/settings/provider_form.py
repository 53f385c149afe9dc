"""One provider's name, address, key and models, and the test of its server."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from devflow.domain.errors import InvalidInput, UserFacing
from devflow.domain.messages import Translator
from devflow.models.keys import NOTICE
from devflow.models.registry import key_needed
from devflow.providers import urls
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.models_field import ModelsField
from devflow.ui.dialogs.settings.page import ProblemLine, sentence_of
from devflow.ui.dialogs.settings.provider_edit import ProviderEdit
from devflow.ui.dialogs.settings.providers import Providers
from devflow.ui.dialogs.settings.test_panel import TestPanel
from devflow.ui.widgets import Button, ElidedLabel, Label, NoticeStrip


class ProviderForm(QWidget):
    """Edits what `show_edit` gave it. `remove_wanted(ProviderEdit)` when the human wants it gone."""

    remove_wanted = Signal(object)

    def __init__(self, ctx: UiContext, providers: Providers) -> None:
        super().__init__()
        self._ctx = ctx
        self._providers = providers
        self._edit: ProviderEdit | None = None
        t = ctx.t
        self.name = _line("providerName", t("Name"))
        self.address = _line("providerAddress", t("Address"))
        self.key = _line("providerKey", t("Key"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.models = ModelsField(ctx)
        self.window_size = _line("providerWindow", t("Context window, in tokens"))
        self.window_size.setPlaceholderText(t("What the server says"))
        self.tests = TestPanel(ctx)
        self.wrong = {
            "name": ProblemLine(self.name),
            "base_url": ProblemLine(self.address),
            "key": ProblemLine(self.key),
            "models": ProblemLine(self.models.line),
            "context_window": ProblemLine(self.window_size),
        }
        for name, line in self.wrong.items():
            line.setObjectName(f"problem-{name}")
        self.preview = ElidedLabel(ctx, "", role="code-small", color="text-muted", middle=True)
        self.preview.setObjectName("addressPreview")
        self.remove = Button(ctx, t("Remove"), variant="link")
        self.remove.setObjectName("removeProviderButton")
        self.forget = Button(ctx, t("Forget it"), variant="link")
        self.forget.setObjectName("forgetKeyButton")
        self.key_page = Button(ctx, t("Where to get one"), variant="link")
        self.key_page.setObjectName("keyPageButton")
        self.notice = NoticeStrip(ctx, t(NOTICE), "warning")
        self.notice.setObjectName("keyNotice")
        self._notice = QWidget()  # with room above the strip
        around = QVBoxLayout(self._notice)
        around.setContentsMargins(0, 6, 0, 0)
        around.addWidget(self.notice)
        self._lay_out()
        self._connect()

    def show_edit(self, edit: ProviderEdit) -> None:
        """Show that provider; what is typed right now is left as it is."""
        self._edit = edit
        shown = ((self.name, edit.name), (self.address, edit.address), (self.key, edit.key or ""))
        for field, text in (*shown, (self.window_size, edit.window)):
            if field.text() != text:
                field.setText(text)
                field.setCursorPosition(0)
        self._show_address(edit)
        self._show_key(edit)
        self.models.show_models(edit.models, edit.offered, asking=edit.listing is not None)
        for name, line in self.wrong.items():
            if name not in ("key", "base_url"):
                error = edit.wrong.get(name)
                line.say("" if error is None else sentence_of(self._ctx.t, error))
        if not edit.models and edit.offered and "models" not in edit.wrong:
            count = len(edit.offered)
            words = self._ctx.t.n("{count} model: choose it", "{count} models: choose those to use", count)
            self.wrong["models"].say(words, "muted")
        self.tests.show_edit(edit)

    def field(self, name: str) -> QWidget:
        """The field that an error names."""
        fields: dict[str, QWidget] = {"base_url": self.address, "key": self.key, "models": self.models.line}
        fields["context_window"] = self.window_size
        return fields.get(name, self.name)

    # what the fields say

    def _show_address(self, edit: ProviderEdit) -> None:
        """The address that a chat will be sent to, or what is wrong with what was typed so far."""
        t, line = self._ctx.t, self.wrong["base_url"]
        wrong = edit.wrong.get("base_url")
        try:
            self.preview.set_text(f"POST {urls.preview(edit.address, edit.adapter)}", "text-muted")
            self.preview.show()
        except InvalidInput as error:
            self.preview.hide()
            wrong = wrong or error
        if edit.address.strip() or "base_url" in edit.wrong:
            line.say("" if wrong is None else sentence_of(t, wrong))
        else:  # nothing was typed yet: that is no mistake
            line.say(t("An address looks like http://127.0.0.1:11434."), "faint")

    def _show_key(self, edit: ProviderEdit) -> None:
        t, place = self._ctx.t, self._providers.place
        kept = edit.has_key and edit.key is None
        self.key.setPlaceholderText(key_hint(t, edit, place))
        self.forget.set_label(t("None is needed there") if edit.moved else t("Forget it"))
        self.forget.setVisible(kept)
        self.key_page.setVisible(bool(edit.preset.key_page) and not kept)
        self.key_page.setToolTip(edit.preset.key_page)
        self._notice.setVisible(place == "file" and (edit.has_key or bool(edit.key)))
        error = edit.wrong.get("key") or (_moved(edit) if edit.moved else None)
        self.wrong["key"].say("" if error is None else sentence_of(t, error))

    # what the human does

    def _connect(self) -> None:
        self.name.textEdited.connect(self._name_typed)
        self.address.textEdited.connect(self._address_typed)
        self.key.textEdited.connect(self._key_typed)
        self.window_size.textEdited.connect(self._window_typed)
        self.models.changed.connect(self._models_chosen)
        self.models.refresh_wanted.connect(self._list_models)
        self.tests.wanted.connect(self._test)
        self.tests.cancelled.connect(self._cancel)
        self.remove.clicked.connect(self._remove)
        self.forget.clicked.connect(self._forget)
        self.key_page.clicked.connect(self._open_key_page)

    def _change(self, name: str, value: object) -> None:
        if self._edit is not None:
            self._providers.change(self._edit, name, value)

    def _name_typed(self, text: str) -> None:
        self._change("name", text)

    def _address_typed(self, text: str) -> None:
        self._change("base_url", text)

    def _key_typed(self, text: str) -> None:
        """An emptied field means what it meant before anything was typed: the stored key, if there is one."""
        self._change("key", text or None)

    def _window_typed(self, text: str) -> None:
        self._change("context_window", text)

    def _models_chosen(self, models: tuple[str, ...]) -> None:
        self._change("models", models)

    def _forget(self) -> None:
        self._change("key", "")

    def _list_models(self) -> None:
        if self._edit is not None:
            self._providers.list_models(self._edit)

    def _test(self) -> None:
        if self._edit is not None:
            self._providers.test(self._edit)

    def _cancel(self) -> None:
        if self._edit is not None:
            self._providers.cancel(self._edit)

    def _remove(self) -> None:
        if self._edit is not None:
            self.remove_wanted.emit(self._edit)

    def _open_key_page(self) -> None:
        if self._edit is not None:
            self._ctx.shell.open_link(self._edit.preset.key_page)

    # layout

    def _lay_out(self) -> None:
        t = self._ctx.t
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for title, field, links, below in (
            (t("Name"), self.name, (self.remove,), (self.wrong["name"],)),
            (t("Address"), self.address, (), (self.preview, self.wrong["base_url"])),
            (t("Key"), self.key, (self.key_page, self.forget), (self.wrong["key"], self._notice)),
            (t("Models"), self.models, (), (self.wrong["models"],)),
            (t("Context window, in tokens"), self.window_size, (), (self.wrong["context_window"],)),
        ):
            column.addLayout(_head(title, field, links))
            column.addSpacing(3)
            column.addWidget(field)
            for widget in below:
                column.addWidget(widget)
            column.addSpacing(9)
        column.addSpacing(3)
        column.addWidget(self.tests)


def key_hint(t: Translator, edit: ProviderEdit, place: str | None) -> str:
    """What stands in the empty field: never a key, but whether there is one."""
    if edit.moved:
        return t("The key for {origin}", origin=edit.origin)
    if edit.has_key and edit.key is None:
        return t("Stored in a file only you can read") if place == "file" else t("Stored in the keychain")
    if edit.key == "" and edit.has_key:
        return t("Forgotten when you save")
    match edit.preset.key:
        case "required":
            return t("Paste the key")
        case "none":
            return t("Not needed here")
        case _:
            return t("Only if the server wants one")


def _moved(edit: ProviderEdit) -> UserFacing:
    """The sentence of `KeyNeeded`, before Save meets it."""
    stored = "" if edit.config is None else urls.origin(edit.config.base_url)
    return key_needed(stored, edit.origin)


def _line(name: str, words: str) -> QLineEdit:
    line = QLineEdit()
    line.setObjectName(name)
    line.setAccessibleName(words)
    return line


def _head(title: str, field: QWidget, links: tuple[Button, ...]) -> QHBoxLayout:
    row = QHBoxLayout()
    row.setSpacing(12)
    label = Label(title, "small")
    label.setBuddy(field)
    row.addWidget(label)
    row.addStretch(1)
    for link in links:
        row.addWidget(link, 0, Qt.AlignmentFlag.AlignVCenter)
    return row
