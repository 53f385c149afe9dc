"""Settings, Providers: the model servers, one form, and which model does what."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QSizePolicy, QSpacerItem, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.drafts import Drafts
from devflow.ui.dialogs.settings.page import SettingsPage
from devflow.ui.dialogs.settings.provider_edit import ProviderEdit
from devflow.ui.dialogs.settings.provider_form import ProviderForm
from devflow.ui.dialogs.settings.provider_list import ProviderList, ProviderRow
from devflow.ui.dialogs.settings.provider_words import OFFLINE_COLOR, Standing
from devflow.ui.dialogs.settings.roles_row import RolesRow
from devflow.ui.widgets import Button, FlowLayout, Label, NoticeStrip, Paragraph

_LIST_WIDTH = 208
_STRIPS = 2
_STEADY = 440
"""The form's usual height, so that the roles under it stay where they are when another provider is chosen."""


class ProvidersPage(SettingsPage):
    def __init__(self, ctx: UiContext, drafts: Drafts) -> None:
        t = ctx.t
        super().__init__(ctx, "settingsProviders", t("Providers"))
        self._drafts = drafts
        self._providers = drafts.providers
        self.add = Button(ctx, t("Add…"), icon="plus")
        self.add.setObjectName("addProviderButton")
        self.add.clicked.connect(self._open_menu)
        self.head.addWidget(self.add)
        self._strips = QVBoxLayout()
        self._strips.setSpacing(6)
        self.list = ProviderList(ctx, t("Providers"), self)
        self.list.chosen.connect(self._chosen)
        self.form = ProviderForm(ctx, self._providers)
        self.form.remove_wanted.connect(self._remove)
        self._offline: QWidget | None = None
        self._side = side = QVBoxLayout()
        side.setContentsMargins(0, 0, 0, 0)
        side.addWidget(self.form)
        side.addStretch(1)
        self.form.hide()
        self.column.addSpacing(10)
        self.column.addLayout(self._strips)
        row = QHBoxLayout()
        row.setSpacing(20)
        left = QVBoxLayout()
        left.addWidget(self.list)
        left.addStretch(1)
        holder = QWidget()
        holder.setFixedWidth(_LIST_WIDTH)
        left.setContentsMargins(0, 0, 0, 0)
        holder.setLayout(left)
        row.addWidget(holder)
        row.addLayout(side, 1)
        row.addSpacerItem(QSpacerItem(0, _STEADY, QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Minimum))
        self.column.addLayout(row)
        self.column.addSpacing(17)
        self.column.addWidget(RolesRow(ctx, drafts))
        self.finish()
        self._providers.listed.connect(self._show_rows)
        self._providers.edited.connect(self._edited)
        self._providers.found_changed.connect(self._show_found)
        self._providers.keys_known.connect(self._show_rows)
        self._show_rows()
        self._show_found()
        self.list.go_to(self._first())

    # showing

    def _show_rows(self) -> None:
        t, current = self._ctx.t, self.list.current
        rows = [
            ProviderRow(edit, edit.name.strip() or t("No name yet"), self._providers.standing(edit))
            for edit in self._providers.edits
        ]
        offline = ProviderRow(None, t("Offline assistant"), Standing(OFFLINE_COLOR, t("Always available")))
        self.list.show_rows([*rows, offline])
        if self.list.current is None:
            kept = current is not None and current.edit in self._providers.edits
            self.list.go_to(current.edit if kept and current is not None else self._first())

    def _first(self) -> ProviderEdit | None:
        return next(iter(self._providers.edits), None)

    def _edited(self, edit: ProviderEdit) -> None:
        self._show_rows()
        if self.list.current is not None and self.list.current.edit is edit:
            self.form.show_edit(edit)

    def _chosen(self, _index: QModelIndex) -> None:
        row = self.list.current
        if row is None:
            return
        if row.edit is None:
            if self._offline is None:
                self._offline = self._offline_pane()
                self._side.insertWidget(0, self._offline)
            self.form.hide()
            self._offline.show()
        else:
            self.form.show_edit(row.edit)
            if self._offline is not None:
                self._offline.hide()
            self.form.show()

    def _show_found(self) -> None:
        """Servers that run on this machine are offered before anything is asked."""
        while (item := self._strips.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        t = self._ctx.t
        for place, server in enumerate(self._providers.found[:_STRIPS]):
            words = t.n(
                "Found {name} on this machine, {count} model",
                "Found {name} on this machine, {count} models",
                len(server.models),
                name=server.name,
            )
            strip = NoticeStrip(self._ctx, words, "info", link=t("Use it"))
            strip.setObjectName(f"foundServer-{place}")
            strip.link.setObjectName(f"useFoundServerButton-{place}")
            strip.acted.connect(self._use_found)
            self._strips.addWidget(strip)
        if self._providers.found:
            self._strips.addSpacing(6)

    def _offline_pane(self) -> QWidget:
        t = self._ctx.t
        pane = QWidget()
        pane.setObjectName("offlinePane")
        column = QVBoxLayout(pane)
        column.setContentsMargins(0, 6, 0, 0)
        column.setSpacing(6)
        column.addWidget(Label(t("Offline assistant"), "heading"))
        for text in (
            t(
                "Answers by quoting the library, word for word and with references. It needs no server, no key and no"
                " network, and is always there."
            ),
            t("It writes nothing of its own and cannot extract entries from conversations: for that, add a model."),
        ):
            column.addWidget(Paragraph(self._ctx, text, "ui"))
        column.addSpacing(14)
        column.addWidget(Label(t("Add a model"), "section"))
        holder = QWidget()
        flow = FlowLayout(holder, gap=8)
        for preset in self._providers.presets:
            button = Button(self._ctx, preset.name or t("Another server"), variant="suggestion")
            button.setObjectName(f"addPreset-{preset.id}")
            button.clicked.connect(self._preset_clicked)
            flow.addWidget(button)
        column.addWidget(holder)
        return pane

    # what the human does

    def select(self, edit: ProviderEdit) -> None:
        self.list.go_to(edit)

    def _open_menu(self) -> None:
        t = self._ctx.t
        menu = QMenu(self)
        menu.setObjectName("addProviderMenu")
        menu.aboutToHide.connect(menu.deleteLater)
        for server in self._providers.found:
            action = QAction(t("{name}, found on this machine", name=server.name), menu)
            action.setData(server)
            menu.addAction(action)
        if self._providers.found:
            menu.addSeparator()
        for local in (False, True):
            for preset in self._providers.presets:
                if preset.name and preset.is_local == local:
                    action = QAction(preset.name, menu)
                    action.setData(preset.id)
                    menu.addAction(action)
            menu.addSeparator()
        other = QAction(t("Another server…"), menu)
        other.setData(self._providers.presets[-1].id)
        menu.addAction(other)
        menu.triggered.connect(self._picked)
        corner = self.add.mapToGlobal(self.add.rect().bottomRight())
        corner.setX(corner.x() - menu.sizeHint().width())
        menu.popup(corner)

    def _picked(self, action: QAction) -> None:
        data = action.data()
        if isinstance(data, str):
            self._add(data)
        else:
            self.select(self._providers.add_found(data))

    def _preset_clicked(self) -> None:
        button = self.sender()
        if isinstance(button, Button):
            self._add(button.objectName().partition("-")[2])

    def _add(self, preset_id: str) -> None:
        """A new form, with the keyboard where the first thing is missing."""
        preset = self._providers.preset(preset_id)
        self.select(self._providers.add(preset, preset.name or self._ctx.t("My server")))
        field = self.form.address if not preset.base_url else self.form.key if preset.key == "required" else self.list
        field.setFocus()

    def _use_found(self) -> None:
        strip = self.sender()
        if isinstance(strip, NoticeStrip):
            place = int(strip.objectName().rpartition("-")[2])
            self.select(self._providers.add_found(self._providers.found[place]))

    def _remove(self, edit: ProviderEdit) -> None:
        self._ctx.tasks.launch(self._ask_and_remove(edit), what="remove a provider", owner=self)

    async def _ask_and_remove(self, edit: ProviderEdit) -> None:
        t = self._ctx.t
        if edit.config is not None:
            text = t("Its key is forgotten, and no role uses it any more. Conversations keep their answers.")
            title = t("Remove {name}?", name=edit.config.name)
            if not await self._ctx.dialogs.confirm(title, text, act=t("Remove"), danger=True):
                return
        await self._providers.remove(edit)
        self._drafts.forget_provider(edit.id)

    def first_field(self) -> QWidget | None:
        return self.list

    def show_wrong(self, field: str, error: UserFacing) -> QWidget | None:
        row = self.list.current
        if row is None or row.edit is None:
            return None
        row.edit.wrong[field if field in self.form.wrong else "name"] = error
        self.form.show_edit(row.edit)
        return self.form.field(field)
