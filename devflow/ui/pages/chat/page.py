"""The Chat page: conversations, transcript with composer, sources; or the welcome page while there is nothing yet."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QApplication, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from devflow.domain.conversation import OFFLINE
from devflow.domain.errors import UserFacing
from devflow.domain.events import CallOutput, MessageEnded, MessageStarted, RunChanged, TextArrived
from devflow.domain.run import RunState
from devflow.ui.context import UiContext
from devflow.ui.models.conversations import shown_title
from devflow.ui.pages.chat.anchored_scroll import COLUMN
from devflow.ui.pages.chat.command_acts import CommandActs
from devflow.ui.pages.chat.command_completion import CommandCompletion
from devflow.ui.pages.chat.composer import AWAITING, IDLE, RUNNING, Composer
from devflow.ui.pages.chat.conversation_acts import ConversationActs
from devflow.ui.pages.chat.conversation_list import ConversationPane
from devflow.ui.pages.chat.live_text import LiveTexts
from devflow.ui.pages.chat.page_acts import PageActs
from devflow.ui.pages.chat.page_completion import PageCompletion
from devflow.ui.pages.chat.page_status import ChatStatus
from devflow.ui.pages.chat.session import ChatSession
from devflow.ui.pages.chat.side_panes import SidePanes
from devflow.ui.pages.chat.sources_panel import SourcesPanel
from devflow.ui.pages.chat.top_bar import TopBar
from devflow.ui.pages.chat.transcript import Transcript
from devflow.ui.pages.chat.turn_acts import TurnActs
from devflow.ui.pages.chat.turn_views import TurnView
from devflow.ui.pages.welcome import WelcomeView
from devflow.ui.widgets import EmptyState, Hairline, UndoBar

_SIDE = 24


class ChatPage(QWidget):
    """Wires the parts; what they show comes from `ChatSession`, what they do goes through `PageActs`."""

    def __init__(self, ctx: UiContext) -> None:
        super().__init__()
        self.setObjectName("chatPage")
        self._ctx = ctx
        self._sources_of: str | None = None
        self._welcomed = False
        self.live = LiveTexts()
        self.session = ChatSession(ctx, self)
        self.turn_acts = TurnActs(self)
        self._stage = QWidget()
        self.toast = UndoBar(ctx, self._stage)
        self.toast.button.setObjectName("chatUndoButton")
        self.acts = PageActs(ctx, self.session, self.turn_acts, self.toast, self)
        self.conversation_acts = ConversationActs(ctx, self.toast, self)
        self.status = ChatStatus(ctx, self)
        self.list = ConversationPane(ctx, self.conversation_acts)
        self.top = TopBar(ctx)
        self.transcript = Transcript(ctx, self.turn_acts, self.live)
        self.composer = Composer(ctx)
        self.completion = PageCompletion(ctx, self.composer.field, self.composer, self)
        self.commands = CommandActs(ctx, self)
        self.command_completion = CommandCompletion(
            ctx, self.composer.field, self.composer, self.completion.popup, self, self.commands
        )
        self.sources = SourcesPanel(ctx)
        self._build()
        self._wire()
        self._shortcuts()
        self._show(fresh=True)
        self.list.refresh()
        ctx.tasks.launch(self.session.reopen(), what="reopen conversation", owner=self)

    # what the window asks

    def activate(self) -> None:
        """The page came to the front."""
        self.composer.focus()

    def open_link(self, address: str) -> bool:
        """`devflow:conversation/<id>`, `devflow:message/<conversation>/<message>`."""
        kind, _, rest = address.removeprefix("devflow:").partition("/")
        conversation, _, message = rest.partition("/")
        if kind not in ("conversation", "message") or not conversation:
            return False
        self.session.open(conversation, message or None)
        return True

    def close_page(self) -> None:
        """Nothing typed is lost."""
        self.session.save_draft()

    # building

    def _build(self) -> None:
        t = self._ctx.t
        self.empty = EmptyState(
            self._ctx,
            "chat",
            t("Start with a question"),
            t("What the library knows about it comes with the answer, with references."),
        )
        self._middle_stack = QStackedWidget()
        self._middle_stack.addWidget(self.empty)
        self._middle_stack.addWidget(self.transcript)
        self._composer_row = QHBoxLayout()
        self._composer_row.setContentsMargins(_SIDE, 0, _SIDE, 16)
        self._composer_row.addWidget(self.composer)
        self.middle = QWidget()
        self.middle.setMinimumWidth(360)
        self.middle.installEventFilter(self)
        column = QVBoxLayout(self.middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.top)
        column.addWidget(Hairline())
        stage = QVBoxLayout(self._stage)
        stage.setContentsMargins(0, 0, 0, 0)
        stage.addWidget(self._middle_stack)
        column.addWidget(self._stage, 1)
        column.addLayout(self._composer_row)
        self.panes = SidePanes(self._ctx, self, self.list, self.middle, self.sources)
        self.welcome = WelcomeView(self._ctx)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self.panes)
        self._stack.addWidget(self.welcome)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)

    def _wire(self) -> None:
        events = self._ctx.events
        events.message_started.connect(self._message_started)
        events.text_arrived.connect(self._text_arrived)
        events.message_ended.connect(self._message_ended)
        events.call_output.connect(self._call_output)
        events.run_changed.connect(self._run_changed)
        self.session.shown.connect(self._show)
        self.transcript.older_wanted.connect(self.session.show_more)
        self.list.opened.connect(self._open)
        self.list.message_opened.connect(self.session.open)
        self.list.new_wanted.connect(self.start_new)
        self.list.left.connect(self._left_list)
        self.list.model.modelReset.connect(self._choose_face)
        self.list.model.dataChanged.connect(self._choose_face)
        self.list.read.connect(self._choose_face)
        self.top.list_wanted.connect(self.panes.toggle_list)
        self.top.retrieval_set.connect(self.acts.set_retrieval)
        self.top.sources_set.connect(self.panes.want_sources)
        self.top.menu_wanted.connect(self._conversation_menu)
        self.panes.changed.connect(self._show_panes)
        self.sources.closed.connect(self._close_sources)
        self.sources.opened.connect(self._ctx.shell.open_link)
        self.sources.judged.connect(self.acts.judge)
        self.turn_acts.open_sources.connect(self._open_sources)
        self.turn_acts.decide.connect(self._decided)
        self.commands.changed.connect(self.command_completion.look)
        self.acts.sent.connect(self._sent)
        self.acts.unsent.connect(self._unsent)
        self.acts.unqueued.connect(self._unqueued)
        self.acts.branched.connect(self._open)
        self.conversation_acts.restored.connect(self._open)
        self.conversation_acts.export_wanted.connect(self.commands.export)
        self.acts.refused_edit.connect(self._edit_refused)
        composer = self.composer
        composer.submitted.connect(self.commands.submit)
        composer.stop_wanted.connect(self.acts.stop)
        composer.field.paged.connect(self.transcript.page)
        composer.typed.connect(self.session.typed)
        composer.queue_edit_wanted.connect(self._edit_queued)
        composer.queue_cancel_wanted.connect(self._cancel_queued)
        composer.base.base_chosen.connect(self.acts.set_base)
        composer.workspace.project_chosen.connect(self.acts.set_project)
        composer.model.model_chosen.connect(self.acts.set_model)
        composer.model.known.connect(self._show_composer)
        self.welcome.ask.connect(self.acts.send)
        self.welcome.project_chosen.connect(self.acts.set_project)
        self.welcome.base_chosen.connect(self.acts.set_base)

    def _shortcuts(self) -> None:
        for keys, act in (("Ctrl+K", self._search), ("Ctrl+N", self.start_new), ("F6", self._go_to_card)):
            QShortcut(QKeySequence(keys), self).activated.connect(act)

    # showing

    def _show(self, fresh: bool) -> None:
        conversation = self.session.conversation
        turns = self.session.turns
        self.top.title.set_text(self._title())
        self.top.show_retrieval(self.session.retrieval)
        self.top.more.setVisible(conversation is not None)
        self._middle_stack.setCurrentWidget(self.transcript if turns else self.empty)
        if turns or fresh:
            marks, at = self.session.references, self.session.at_message
            self.transcript.show_turns(turns, marks, fresh=fresh, at_message=at)
        if fresh:
            self._sources_of = None
            self.composer.set_text(conversation.draft.text if conversation else "")
            self.list.select(self.session.id)
        self._show_composer()
        self._show_sources()
        self.status.show_turn(self.session.newest)
        self.list.select(self.session.id)
        self._choose_face()

    def _title(self) -> str:
        conversation = self.session.conversation
        return shown_title(self._ctx.t, conversation.title if conversation else "")

    def _show_composer(self) -> None:
        turn, composer = self.session.newest, self.composer
        conversation = self.session.conversation
        composer.set_mode(AWAITING if turn and turn.awaiting else RUNNING if turn and turn.open_run else IDLE)
        composer.queue.show_text(conversation.queued_words if conversation else "")
        composer.base.show_base(self.session.base)
        composer.offer_pages(self.session.base is not None)
        self.completion.set_base(self.session.base)
        composer.workspace.show_project(self.session.project)
        composer.model.show_choice(self.session.model)
        offline = composer.model.shown == OFFLINE
        composer.note.setVisible(self.session.project is None and not offline)
        measures = [each.run.measure for each in self.session.turns[-2:] if each.run and each.run.measure]
        composer.meter.show_measure(None if offline or not measures else measures[-1])

    def _show_sources(self) -> None:
        turn = self._turn_of_sources()
        sources = turn.sources() if turn is not None else ()
        self.sources.show_sources(sources)
        self.panes.have_sources(any(each.sources() for each in self.session.turns[-20:]) or bool(sources))

    def _turn_of_sources(self) -> TurnView | None:
        """The one whose line was pressed, else the newest that was given something."""
        for turn in self.session.turns:
            if turn.user.id == self._sources_of:
                return turn
        return next((turn for turn in reversed(self.session.turns) if turn.sources()), self.session.newest)

    def _choose_face(self, *_changed: object) -> None:
        """Welcome while no conversation has a message; it hands the composer back with the first one."""
        if not self.list.loaded:
            return
        wanted = not self.list.any_messages and not self.session.turns
        if wanted == self._welcomed:
            return
        self._welcomed = wanted
        had_focus = self.composer.field.hasFocus()
        if wanted:
            self.welcome.set_composer(self.composer)
            self.welcome.refresh()
            self._stack.setCurrentWidget(self.welcome)
        else:
            self._composer_row.addWidget(self.composer)
            self._stack.setCurrentWidget(self.panes)
        self.composer.show()
        if had_focus or wanted:
            self.composer.focus()

    # streaming

    def _message_started(self, event: MessageStarted) -> None:
        self.live.started(event)

    def _text_arrived(self, event: TextArrived) -> None:
        live = self.live.arrived(event)
        if event.conversation_id != self.session.id:
            return
        self.status.arrived(event.text)
        thinking = live.reasoning if live is not None and event.reasoning else None
        if not event.reasoning or thinking is not None:
            self.transcript.append(event.message_id, event.text, thinking=thinking)

    def _message_ended(self, event: MessageEnded) -> None:
        self.live.ended(event)
        if event.conversation_id == self.session.id:
            self.transcript.finish(event.message_id)
            self.session.refresh()

    def _call_output(self, event: CallOutput) -> None:
        self.live.printed(event)
        if event.conversation_id == self.session.id:
            self.transcript.show_output(event.call_id, event.text)

    def _run_changed(self, event: RunChanged) -> None:
        if event.state is not RunState.EXECUTING:
            self.live.tools_done(event.run_id)

    # what the human does

    def start_new(self) -> None:
        self.session.start_new()
        self.list.search.clear()
        self.composer.focus()

    def _open(self, conversation_id: str) -> None:
        if conversation_id != self.session.id:
            self.session.open(conversation_id)
        self.panes.fold_list()

    def _left_list(self) -> None:
        self.panes.fold_list()
        self.composer.focus()

    def _search(self) -> None:
        self.panes.show_list()
        self.list.focus_search()

    def _go_to_card(self) -> None:
        card = self.transcript.card()
        if card is not None:
            self.transcript.show_widget(card)
            card.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _decided(self, card: QWidget, *_decision: object) -> None:
        """The card goes: the keyboard must not fall to whatever comes next."""
        focused = QApplication.focusWidget()
        if focused is None or focused is card or card.isAncestorOf(focused):
            self.composer.focus()

    def _sent(self) -> None:
        self.composer.set_text("")
        self.transcript.to_end()
        self._sources_of = None
        self.list.search.clear()

    def _unsent(self, text: str, error: UserFacing) -> None:
        t = self._ctx.t
        self.composer.set_text(text)
        self._ctx.shell.notify(" ".join(part for part in (error.render(t), error.render_hint(t)) if part))

    def _edit_queued(self) -> None:
        conversation = self.session.conversation
        if conversation is None or not conversation.queued:
            return
        self.acts.unqueue(self.composer.text)

    def _unqueued(self, typed: str, text: str) -> None:
        """`text` stands in the draft; what was typed since the press goes on behind it."""
        queued = text.removesuffix(typed).strip("\n")
        self.composer.set_text("\n\n".join(part for part in (queued, self.composer.text) if part.strip()))
        self.session.typed(self.composer.text)
        self.composer.focus()

    def _cancel_queued(self) -> None:
        conversation = self.session.conversation
        if conversation is None or not conversation.queued:
            return
        queued = conversation.queued
        self.acts.set_queued("")
        self.toast.show_undo(self._ctx.t("Not sent"), lambda: self.acts.set_queued(queued), key="")

    def _edit_refused(self, message_id: str) -> None:
        block = self.transcript.block_of(message_id)
        if block is not None:
            block.user.refuse_edit()

    def _open_sources(self, user_message_id: str) -> None:
        """Show that turn's sources; where they stand there already, the second press puts them away."""
        turn = self._turn_of_sources()
        already = self.panes.sources_shown and turn is not None and turn.user.id == user_message_id
        self._sources_of = user_message_id
        self._show_sources()
        self.panes.want_sources(not already)

    def _close_sources(self) -> None:
        self.panes.want_sources(False)

    def _show_panes(self) -> None:
        self.top.list_button.setVisible(self.panes.list_folds)
        self.top.sources.setChecked(self.panes.sources_shown)

    def _conversation_menu(self) -> None:
        if self.session.conversation is not None:
            menu = self.conversation_acts.menu(self, self.session.conversation)
            menu.popup(self.top.more.mapToGlobal(self.top.more.rect().bottomLeft()))

    # geometry

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        if watched is self.middle and isinstance(event, QResizeEvent):
            side = max(_SIDE, (self.middle.width() - COLUMN) // 2)
            self._composer_row.setContentsMargins(side, 0, side, 16)
        return False
