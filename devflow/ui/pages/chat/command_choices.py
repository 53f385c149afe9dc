"""What may stand behind `/model`, `/kb` and `/export`, and which one was meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.ui.context import UiContext
from devflow.ui.pages.chat.commands import Command
from devflow.ui.pages.chat.completion_popup import Offer
from devflow.ui.pages.chat.kb_picker import KbPicker
from devflow.ui.pages.chat.pickers import ModelPicker

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Several:
    """More than one fits, or with `none` not one: `names` are those that may have been meant."""

    names: tuple[str, ...]
    none: bool = False


class CommandChoices:
    """Reads what the two pickers at the composer's foot know."""

    def __init__(self, ctx: UiContext, models: ModelPicker, bases: KbPicker) -> None:
        self._ctx = ctx
        self._models = models
        self._bases = bases

    def offers(self, command: Command, typed: str) -> Sequence[Offer]:
        """The choices that fit what was typed; the one in use is chosen first."""
        match command.argument:
            case "model":
                offers = self._model_offers()
            case "base":
                offers = self._base_offers()
            case "format":
                offers = self._format_offers()
            case _:
                return ()
        wanted = typed.casefold()
        return [each for each in offers if wanted in f"{each.data} {each.text} {each.detail}".casefold()]

    def model(self, name: str) -> ModelChoice | Several:
        known = {choice.model: choice for choice in self._choices()}
        found = _meant(name, known)
        return known[found] if isinstance(found, str) else found

    def base(self, name: str) -> KnowledgeBase | None | Several:
        """None: no knowledge base."""
        if name.casefold() == NONE:
            return None
        known = {base.name: base for base, there in self._bases.bases if there}
        found = _meant(name, known)
        return known[found] if isinstance(found, str) else found

    def _choices(self) -> Iterable[ModelChoice]:
        yield from (choice for choice, _ in self._models.models if choice != OFFLINE)
        yield OFFLINE

    def _model_offers(self) -> list[Offer]:
        t, shown = self._ctx.t, self._models.shown
        named = [(choice, provider) for choice, provider in self._models.models if choice != OFFLINE]
        offers = [Offer(each.model, each.model, name, "cpu", current=each == shown) for each, name in named]
        return [*offers, Offer(OFFLINE.model, t("Offline assistant"), "", "cpu", current=shown == OFFLINE)]

    def _base_offers(self) -> list[Offer]:
        t, current = self._ctx.t, self._bases.base
        offers = [
            Offer(
                base.name,
                base.name,
                "" if there else t("Folder not found"),
                "book",
                enabled=there,
                current=base == current,
            )
            for base, there in self._bases.bases
        ]
        return [*offers, Offer(NONE, t("No knowledge base"), "", "book", current=current is None)]

    def _format_offers(self) -> list[Offer]:
        t = self._ctx.t
        return [
            Offer("markdown", "Markdown", t("Plain text that every editor opens"), "file"),
            Offer("html", "HTML", t("One page for any browser, readable offline"), "globe"),
            Offer("pdf", "PDF", t("Pages to print or to send"), "download"),
        ]


NONE = "none"


def _meant(name: str, known: Iterable[str]) -> str | Several:
    """The one of exactly that name, else the only one that begins with it, else the only one that holds it."""
    names, wanted = list(dict.fromkeys(known)), name.casefold()
    for fits in (
        [each for each in names if each.casefold() == wanted],
        [each for each in names if each.casefold().startswith(wanted)],
        [each for each in names if wanted in each.casefold()],
    ):
        if len(fits) == 1:
            return fits[0]
        if fits:
            return Several(tuple(fits[:_SHOWN]))
    return Several(tuple(names[:_SHOWN]), none=True)
