"""The Inbox: candidates left, the one being judged right, its acts below. Every act has a key (spec 05, Inbox)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.errors import UserFacing
from devflow.domain.knowledge import INBOX, Entry
from devflow.knowledge.acts import Done
from devflow.ui.context import UiContext
from devflow.ui.joining import Joining
from devflow.ui.models.history import History, Step
from devflow.ui.models.review import Decided, Review, history_of
from devflow.ui.models.why import why_entry
from devflow.ui.models.words import reason_word, refusal
from devflow.ui.pages.inbox.actions import ActionBar
from devflow.ui.pages.inbox.candidates import Candidates
from devflow.ui.pages.inbox.detail import CandidateDetail
from devflow.ui.pages.inbox.key_sheet import key_sheet
from devflow.ui.pages.inbox.offers import EmptyHint, extract_now
from devflow.ui.pages.inbox.reasons import Reasons
from devflow.ui.widgets import HairlineSplitter, UndoBar
from devflow.ui.widgets.entry_editor import EntryEditor, Saved

_Key = Qt.Key
_CTRL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier


class InboxPage(QWidget):
    """Reads the service, shows it, and asks it to act; `history` outlives the page when the language changes."""

    def __init__(self, ctx: UiContext, history: History | None = None) -> None:
        super().__init__()
        self.setObjectName("inboxPage")
        self.setAccessibleName(ctx.t("Inbox"))
        self._ctx = ctx
        self._leaving: frozenset[str] = frozenset()
        self._last: Decided | None = None
        self._editing = False
        self.review = Review(ctx, history if history is not None else history_of(ctx, "inbox"), self)
        self.candidates = Candidates(ctx)
        self.list, self.model = self.candidates.list, self.candidates.model
        self.detail = CandidateDetail(ctx)
        self._joining = Joining(ctx, self, self.review)
        self.acts = ActionBar(ctx)
        self.hint = EmptyHint(ctx, self.candidates.offer, self.extract)
        self._right = QStackedWidget()
        self._blank = QWidget()
        self._lay_out()
        self.bar = UndoBar(ctx, self._right, above=64)
        self.bar.button.setObjectName("undoButton")
        self.reasons = Reasons(ctx, self._right, above=108)
        self._minutes = QTimer(self)
        self._minutes.setInterval(60_000)
        self._minutes.timeout.connect(self.list.viewport().update)
        self._plain, self._with_shift, self._with_ctrl, self._with_both = self._keys()
        self._connect()
        self.candidates.refresh()
        self.hint.refresh()

    # what the window calls

    def activate(self) -> None:
        """The human comes here: everything is shown, the keyboard goes to the list."""
        self.candidates.refresh(take_new=True)
        self.hint.refresh()
        self._minutes.start()
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def open_link(self, address: str) -> bool:
        """`devflow:inbox/<id>`: select that candidate."""
        kind, _, id = address.removeprefix("devflow:").partition("/")
        if kind != "inbox" or not id:
            return False
        self.candidates.go_to(id)
        return True

    def set_narrow(self, below_1180: bool, below_1040: bool) -> None:
        self.acts.set_narrow(below_1180)

    # acts

    def approve(self) -> None:
        if entries := self._decide_on(leaves=True):
            self.review.approve(entries)

    def reject(self) -> None:
        if entries := self._decide_on(leaves=True):
            self.review.archive(entries)

    def send_to_review(self) -> None:
        if entries := self._decide_on(leaves=False):
            self.review.send_to_review(entries)

    def widen(self) -> None:
        if self.detail.entry is not None:
            self.review.widen(self.detail.entry)

    def edit(self) -> None:
        if not self._editing and self.detail.entry is not None:
            self._ctx.tasks.launch(self._edit(self.detail.entry), what="edit a candidate", owner=self)

    def merge(self) -> None:
        """Of the marked ones, or of the current one with the similar one that is shown beside it."""
        if entries := self._mergeable():
            self._joining.merge(entries)
        elif self.detail.entry is not None:
            self._ctx.shell.notify(self._ctx.t("Nothing resembles this candidate: mark with X what belongs together"))

    def compare(self) -> None:
        shown = self.detail.similar.current
        if self.detail.entry is not None and shown is not None:
            self._joining.compare(self.detail.entry, shown.entry, shown.contradicts)

    def dismiss(self) -> None:
        """The similar entry that is shown does not contradict the current one."""
        shown = self.detail.similar.current
        if self.detail.entry is not None and shown is not None:
            self._joining.dismiss(self.detail.entry, shown.entry)

    def _mergeable(self) -> tuple[Entry, ...]:
        marked = self.candidates.entries(self.list.selected_ids())
        if len(marked) > 1:
            return marked
        entry, shown = self.detail.entry, self.detail.similar.current
        return () if entry is None or shown is None else (entry, shown.entry)

    def undo(self) -> None:
        self.review.undo()

    def redo(self) -> None:
        self.review.redo()

    def extract(self) -> None:
        if self.candidates.extract.isEnabled():
            self._ctx.tasks.launch(self._extract(), what="extract now", owner=self, refused=self._extract_refused)

    def show_keys(self) -> None:
        self._ctx.tasks.launch(self._show_keys(), what="key sheet", owner=self)

    def _decide_on(self, *, leaves: bool) -> tuple[Entry, ...]:
        """The entries an act reaches; the next one becomes current first, the rows leave when the act is committed."""
        ids = tuple(id for id in self.list.selected_ids() if id not in self._leaving)
        entries = self.candidates.entries(ids)
        if not entries:
            return ()
        if leaves:
            self._leaving |= frozenset(ids)
            self.list.move_off(self._leaving)
        elif len(entries) == 1:
            self.list.step(1)
        else:
            self.list.unmark()
        return entries

    async def _edit(self, entry: Entry) -> None:
        self._editing = True
        try:
            editor = EntryEditor(self._ctx, entry, parent=self.window())
            await self._ctx.dialogs.run(editor)
        finally:
            self._editing = False
        if editor.saved is not None:
            self._saved(editor.saved, entry)
        self.list.setFocus()

    def _saved(self, saved: Saved, before: Entry) -> None:
        done: Done = saved.done
        title = done.entries[0].title
        words = (
            self._ctx.t("Published “{title}”", title=title)
            if saved.published
            else self._ctx.t("Saved “{title}”", title=title)
        )
        if saved.published:
            self.list.move_off(self._leaving | {before.id})
        self.review.done(done, words)

    async def _extract(self) -> None:
        button = self.candidates.extract
        button.setEnabled(False)
        button.setMinimumWidth(button.width())
        button.set_label(self._ctx.t("Extracting…"))
        try:
            self._ctx.shell.notify(await extract_now(self._ctx))
        finally:
            button.setEnabled(True)
            button.set_label(self._ctx.t("Extract now"))
            button.setMinimumWidth(0)
        self.hint.refresh()

    def _extract_refused(self, error: UserFacing) -> None:
        self._ctx.shell.notify(refusal(self._ctx.t, error))

    async def _show_keys(self) -> None:
        await self._ctx.dialogs.run(key_sheet(self._ctx, self.window()))

    # what comes back

    def _decided(self, decided: Decided) -> None:
        self._last = decided
        self._leaving -= frozenset(decided.step.ids)
        self.candidates.absorb(decided.entries, returning=decided.took_back)
        self.reasons.hide()
        if decided.took_back:
            back = [entry.id for entry in decided.entries if entry.status in INBOX]
            if back:
                self.candidates.focus_when_there(back[0])
            self.bar.show_message(self._ctx.t("Undone: {act}", act=decided.step.words))
            return
        self.bar.show_undo(decided.step.words, self.review.undo)
        if decided.archived:
            self.reasons.offer()

    def _refused(self, ids: tuple[str, ...]) -> None:
        self._leaving -= frozenset(ids)
        self.candidates.refresh()

    def _reason(self, code: str) -> None:
        if self._last is not None and self._last.archived:
            self.review.give_reason(self._last.step, code)

    def _reasoned(self, step: Step, code: str) -> None:
        if self._last is not None and self._last.step == step:
            words = self._ctx.t("{act} · {reason}", act=step.words, reason=reason_word(self._ctx.t, code))
            self.bar.show_undo(words, self.review.undo)

    def _current_changed(self, _index: QModelIndex) -> None:
        self._show_current()

    def _show_current(self) -> None:
        entry = self.model.entry(self.list.current_id)
        if entry is not None and entry != self.detail.entry:
            self.detail.show_entry(entry)
        match = self.model.why(self.list.current_id)
        self.detail.why.show_why(None if match is None else why_entry(self._ctx.t, match))
        self._show_acts()

    def _show_acts(self) -> None:
        entries = self.candidates.entries(self.list.selected_ids())
        self.acts.show_for(entries, may_merge=bool(self._mergeable()))

    def _loaded(self) -> None:
        if self.model.rowCount():
            self._right.setCurrentWidget(self._work)
        else:
            self.detail.show_entry(None)
            self._right.setCurrentWidget(self._blank if self.candidates.filtered else self.hint)
        self._show_current()

    def _may_explain(self, _what: object = None) -> None:
        """The reasons for an empty inbox may be others now."""
        self.hint.refresh()

    def _others_changed(self, ids: frozenset[str]) -> None:
        if self.detail.entry is not None and ids != {self.detail.entry.id}:
            self.detail.refresh_beside()

    # keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        event.ignore()
        self._key(event)

    def _key(self, event: QKeyEvent) -> None:
        modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        table = {
            Qt.KeyboardModifier.NoModifier: self._plain,
            _SHIFT: self._with_shift,
            _CTRL: self._with_ctrl,
            _CTRL | _SHIFT: self._with_both,
        }.get(modifiers, {})
        key = _Key(event.key())
        if _Key.Key_1 <= key <= _Key.Key_4 and not modifiers:
            if self.reasons.take(key - _Key.Key_0):
                event.accept()
        elif (act := table.get(key)) is not None:
            event.accept()
            act()

    def _keys(self) -> tuple[Mapping[Qt.Key, Callable[[], object]], ...]:
        plain: dict[Qt.Key, Callable[[], object]] = {
            _Key.Key_J: self._down,
            _Key.Key_Down: self._down,
            _Key.Key_K: self._up,
            _Key.Key_Up: self._up,
            _Key.Key_A: self.approve,
            _Key.Key_R: self.reject,
            _Key.Key_E: self.edit,
            _Key.Key_Return: self.edit,
            _Key.Key_Enter: self.edit,
            _Key.Key_S: self.send_to_review,
            _Key.Key_W: self.widen,
            _Key.Key_M: self.merge,
            _Key.Key_X: self.list.toggle,
            _Key.Key_Y: self.detail.why.toggle,
            _Key.Key_Slash: self._to_filter,
            _Key.Key_Question: self.show_keys,
            _Key.Key_Escape: self._escape,
        }
        shifted: dict[Qt.Key, Callable[[], object]] = {
            _Key.Key_J: self._extend_down,
            _Key.Key_Down: self._extend_down,
            _Key.Key_K: self._extend_up,
            _Key.Key_Up: self._extend_up,
            _Key.Key_Question: self.show_keys,
            _Key.Key_Slash: self.show_keys,
        }
        return plain, shifted, {_Key.Key_Z: self.undo, _Key.Key_Y: self.redo}, {_Key.Key_Z: self.redo}

    def _down(self) -> None:
        self.list.step(1)

    def _up(self) -> None:
        self.list.step(-1)

    def _extend_down(self) -> None:
        self.list.extend(1)

    def _extend_up(self) -> None:
        self.list.extend(-1)

    def _escape(self) -> None:
        if not self.list.unmark():
            self.bar.dismiss()
            self.reasons.hide()
        self.list.setFocus()

    def _to_filter(self) -> None:
        self.candidates.filter.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.candidates.filter.selectAll()

    # building

    def _lay_out(self) -> None:
        self._work = QWidget()
        work = QVBoxLayout(self._work)
        work.setContentsMargins(0, 0, 0, 0)
        work.setSpacing(0)
        work.addWidget(self.detail, 1)
        work.addWidget(self.acts)
        for part in (self._blank, self._work, self.hint):
            self._right.addWidget(part)
        splitter = HairlineSplitter(self._ctx)
        splitter.setObjectName("inboxSplitter")
        self.candidates.setMinimumWidth(320)
        self.candidates.setMaximumWidth(520)
        splitter.addWidget(self.candidates)
        splitter.addWidget(self._right)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([383, 824])  # and the hairline: 384
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(splitter)

    def _connect(self) -> None:
        self.list.keyed.connect(self._key)
        self.list.chosen.connect(self._current_changed)
        self.list.opened.connect(self._opened)
        self.list.marks_changed.connect(self._show_acts)
        self.model.filled.connect(self._show_current)
        self.candidates.loaded.connect(self._loaded)
        self.candidates.extract_asked.connect(self.extract)
        self.detail.widen_asked.connect(self.widen)
        self.acts.approve.connect(self.approve)
        self.acts.to_review.connect(self.send_to_review)
        self.acts.edit.connect(self.edit)
        self.acts.reject.connect(self.reject)
        self.acts.merge.connect(self.merge)
        self.detail.similar.compare.connect(self.compare)
        self.detail.similar.dismiss.connect(self.dismiss)
        self.detail.shown.connect(self._show_acts)
        self.acts.keys.connect(self.show_keys)
        self.review.decided.connect(self._decided)
        self.review.reasoned.connect(self._reasoned)
        self.review.refused.connect(self._refused)
        self.reasons.chosen.connect(self._reason)
        self.bar.expired.connect(self.reasons.hide)
        self.bar.undone.connect(self.reasons.hide)
        events = self._ctx.events
        events.entries_changed.connect(self._others_changed)
        events.extraction_changed.connect(self._may_explain)
        events.conversations_changed.connect(self._may_explain)
        events.providers_changed.connect(self._may_explain)
        events.settings_changed.connect(self._may_explain)

    def _opened(self, _index: QModelIndex) -> None:
        self.edit()
