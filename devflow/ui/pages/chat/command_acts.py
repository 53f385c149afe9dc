"""What the commands of the composer do. Nothing of them reaches the model, and nothing typed is lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from shiboken6 import isValid

from devflow.domain.commands import SlashCommand, command_of
from devflow.domain.errors import UserFacing
from devflow.domain.skill import BrokenSkill, Skill
from devflow.ui.context import UiContext
from devflow.ui.dialogs.digest import choose_and_digest
from devflow.ui.pages.chat.command_choices import CommandChoices, Several
from devflow.ui.pages.chat.command_note import Act, CommandNote
from devflow.ui.pages.chat.command_sheet import CommandSheet
from devflow.ui.pages.chat.command_works import CommandWorks
from devflow.ui.pages.chat.commands import FORMATS, Command, built_in, find, format_of, nearest
from devflow.ui.pages.chat.completion_popup import Offer
from devflow.ui.pages.chat.skill_words import skill_line

if TYPE_CHECKING:
    from devflow.ui.pages.chat.page import ChatPage


class CommandActs(QObject):
    """Takes what was submitted: an ordinary message goes on to `PageActs.send`, a command is run here."""

    changed = Signal()
    """Other skills than before were found."""

    def __init__(self, ctx: UiContext, page: ChatPage) -> None:
        super().__init__(page)
        self._ctx = ctx
        self._page = page
        self._own = built_in(ctx.t)
        self._skills: tuple[Skill, ...] = ()
        self._broken: tuple[BrokenSkill, ...] = ()
        self._busy = False
        self._places: tuple[str | None, str | None] = (None, None)
        self._works = CommandWorks(ctx, page.composer.command_note, self)
        self.choices = CommandChoices(ctx, page.composer.model, page.composer.base)
        page.session.shown.connect(self._shown)
        page.composer.typed.connect(self._typed)
        page.acts.sent.connect(self._sent)
        self.freshen()

    @property
    def note(self) -> CommandNote:
        return self._page.composer.command_note

    def commands(self) -> tuple[Command, ...]:
        """The application's own, then the skills; a skill does not take the name of one of ours."""
        skills = tuple(
            Command(skill.name, skill_line(self._ctx.t, skill), "quote", "text", skill=True)
            for skill in self._skills
            if find(self._own, skill.name) is None
        )
        return (*self._own, *skills)

    def waits(self, command: Command) -> str:
        """Why the command cannot run now; empty where it can."""
        turn = self._page.session.newest
        if command.waits and turn is not None and turn.open_run:
            return self._ctx.t("Runs when the reply has ended")
        return ""

    def arguments(self, command: Command, typed: str) -> Sequence[Offer]:
        return self.choices.offers(command, typed)

    def submit(self, text: str) -> None:
        """Enter: send a message, or run a command."""
        command = command_of(text, known={skill.name for skill in self._skills})
        if command is None:
            self.note.dismiss()
            self._page.acts.send(text)
        elif not self._busy:
            self._busy = True
            self._ctx.tasks.launch(self._run(text, command), what="run a command", owner=self)

    def export(self, conversation_id: str) -> None:
        """The menu's way to `/export`; any conversation's."""
        self._ctx.tasks.launch(self._works.export(conversation_id), what="export a conversation", owner=self)

    # one command

    async def _run(self, text: str, typed: SlashCommand) -> None:
        t = self._ctx.t
        try:
            found = find(self.commands(), typed.name)
            if found is None:
                await self._read_skills()
                found = find(self.commands(), typed.name)
            if found is None:
                self._unknown(text, typed)
                return
            if why := self.waits(found):
                self._refuse(f"{found.typed}: {why}")
                return
            if typed.rest and not found.argument:
                said = t("{command} takes nothing behind it.", command=found.typed)
                self._refuse(said, self._as_message(text))
                return
            await self._act_of(found)(found, typed.rest)
        except UserFacing as error:
            if isValid(self):
                self._restore(text)
                self._refuse(" ".join(part for part in (error.render(t), error.render_hint(t)) if part))
        finally:
            self._busy = False

    def _act_of(self, command: Command) -> Callable[[Command, str], Awaitable[None]]:
        if command.skill:
            return self._send_with_skill
        acts: dict[str, Callable[[Command, str], Awaitable[None]]] = {
            "new": self._new,
            "model": self._model,
            "kb": self._kb,
            "help": self._help,
            "export": self._export,
            "sediment": self._sediment,
            "digest": self._digest,
        }
        return acts[command.name]

    async def _new(self, command: Command, rest: str) -> None:
        await self._begin(command, rest)
        self._page.start_new()
        if rest:
            self._page.acts.send(rest)

    async def _help(self, command: Command, rest: str) -> None:
        await self._begin(command, rest)
        await self._ctx.dialogs.run(self._sheet())

    def _show_help(self) -> None:
        self._ctx.tasks.launch(self._ctx.dialogs.run(self._sheet()), what="show the commands", owner=self)

    def _sheet(self) -> CommandSheet:
        return CommandSheet(self._ctx, self.commands(), self._broken, self._page.window())

    async def _model(self, command: Command, rest: str) -> None:
        t = self._ctx.t
        if not rest:
            await self._begin(command, rest)
            self._page.composer.model.open()
            return
        match self.choices.model(rest):
            case Several(names, none):
                fits = t("No model fits “{name}”.", name=rest) if none else t("Several models fit “{name}”.", name=rest)
                self._refuse_choice(command, fits, names)
            case choice:
                await self._begin(command, rest)
                self._page.acts.set_model(choice)

    async def _kb(self, command: Command, rest: str) -> None:
        t = self._ctx.t
        if not rest:
            await self._begin(command, rest)
            self._page.composer.base.open()
            return
        match self.choices.base(rest):
            case Several(names, none):
                no, several = t("No knowledge base fits “{name}”."), t("Several knowledge bases fit “{name}”.")
                self._refuse_choice(command, (no if none else several).format(name=rest), names)
            case base:
                await self._begin(command, rest)
                self._page.acts.set_base(base)

    async def _export(self, command: Command, rest: str) -> None:
        t = self._ctx.t
        named = format_of(rest) if rest else None
        if rest and named is None:
            self._refuse_choice(command, t("A conversation cannot be saved as “{name}”.", name=rest), FORMATS)
            return
        conversation = await self._spoken(t("There is nothing to export yet."))
        if conversation is not None:
            await self._begin(command, rest)
            await self._works.export(conversation, named)

    async def _sediment(self, command: Command, rest: str) -> None:
        conversation = await self._spoken(self._ctx.t("There is nothing to write a page of yet."))
        if conversation is not None:
            await self._begin(command, rest)
            self._works.sediment(conversation)

    async def _digest(self, command: Command, rest: str) -> None:
        t, base = self._ctx.t, self._page.session.base
        if base is None:
            choose = ("chooseBase", t("Choose one"), self._page.composer.base.open)
            self._refuse(t("Pages go into a knowledge base, and none is chosen here."), choose)
            return
        await self._begin(command, rest)
        await choose_and_digest(self._ctx, base)

    async def _spoken(self, otherwise: str) -> str | None:
        """The open conversation, if something was said in it."""
        session = self._page.session
        if session.id is None or not session.turns:
            self._refuse(otherwise)
            return None
        return session.id

    async def _send_with_skill(self, command: Command, rest: str) -> None:
        """What follows is the message; the skill's name is not part of it."""
        self.note.dismiss()
        self._page.acts.send(rest, skill=command.name)

    # what is said of it

    def _unknown(self, text: str, typed: SlashCommand) -> None:
        t = self._ctx.t
        broken = [each.problem for each in self._broken if each.folder.name.casefold() == typed.name.casefold()]
        if broken:
            self._refuse(f"{broken[0].render(t)} {broken[0].render_hint(t)}".strip(), self._as_message(text))
            return
        near = [self._instead(f"/{line}", typed.rest) for line in nearest(self.commands(), typed.name)]
        if not near:
            near = [("commandHelp", "/help", self._show_help)]
        self._refuse(t("/{name} is no command here.", name=typed.name), *near, self._as_message(text))

    def _refuse_choice(self, command: Command, text: str, names: Sequence[str]) -> None:
        self._refuse(text, *(self._instead(f"{command.typed} {name}") for name in names))

    def _refuse(self, text: str, *acts: Act) -> None:
        self.note.say(text, "warning", acts, asks=True)

    def _as_message(self, text: str) -> Act:
        return ("sendAsMessage", self._ctx.t("Send as a message"), lambda: self._send_anyway(text))

    def _send_anyway(self, text: str) -> None:
        self.note.dismiss()
        self._page.acts.send(text)

    def _instead(self, line: str, rest: str = "") -> Act:
        """Offers that command; what stood behind the other one stays."""
        return ("commandInstead", line, lambda: self._put(f"{line} {rest}".rstrip()))

    def _put(self, line: str) -> None:
        """Write that command instead, to be looked at before it runs."""
        self.note.dismiss()
        composer = self._page.composer
        composer.set_text(line)
        self._page.session.typed(line)
        composer.focus()

    # the text

    async def _begin(self, command: Command, rest: str) -> None:
        """The command is carried out: it leaves the composer, and the log of lookups says that none was made."""
        session = self._page.session
        line = f"{command.typed} {rest}" if rest else command.typed
        conversation, base = session.id or "", session.base
        self.note.dismiss()
        self._page.composer.set_text("")
        session.typed("")
        if base is not None:
            await self._ctx.services.turns.ran_command(conversation, base, line)

    def _restore(self, text: str) -> None:
        composer = self._page.composer
        if not composer.text.strip():
            composer.set_text(text)
            self._page.session.typed(text)

    # what the page tells

    def _typed(self, _text: str) -> None:
        self.note.text_changed()

    def _sent(self) -> None:
        self.note.dismiss()

    def _shown(self, fresh: bool) -> None:
        if fresh:
            self.note.text_changed()
        session = self._page.session
        base, project = session.base, session.project
        places = (base.path if base is not None else None, project.path if project is not None else None)
        if places != self._places:
            self._places = places
            self.freshen()

    def freshen(self) -> None:
        """Look for skills again: somebody may have written one meanwhile."""
        self._ctx.tasks.launch(self._read_skills(), what="look for skills", owner=self)

    async def _read_skills(self) -> None:
        places = self._places
        found = await self._ctx.services.skills.found(*places)
        if places != self._places:
            return
        self._broken = found.broken
        if found.skills != self._skills:
            self._skills = found.skills
            self.changed.emit()
