"""What may stand behind `/model`, `/kb` and `/export`, and which one was meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

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
        known = {name: choice for name, choice, _ in self._named_models()}
        found = _meant(name, known)
        return known[found] if isinstance(found, str) else found

    def base(self, name: str) -> KnowledgeBase | None | Several:
        """None: no knowledge base."""
        if name.casefold() == NONE:
            return None
        known = {name: base for name, base, there in self._named_bases() if there}
        found = _meant(name, known)
        return known[found] if isinstance(found, str) else found

    def _named_models(self) -> list[tuple[str, ModelChoice, str]]:
        """Each with a name that no other has, and its provider's."""
        models = [(choice, provider) for choice, provider in self._models.models if choice != OFFLINE]
        names = _apart([(choice.model, provider) for choice, provider in models])
        named = [(name, choice, provider) for name, (choice, provider) in zip(names, models, strict=True)]
        return [*named, (OFFLINE.model, OFFLINE, "")]

    def _named_bases(self) -> list[tuple[str, KnowledgeBase, bool]]:
        bases = self._bases.bases
        names = _apart([(base.name, PurePath(base.path).parent.name) for base, _ in bases])
        return [(name, base, there) for name, (base, there) in zip(names, bases, strict=True)]

    def _model_offers(self) -> list[Offer]:
        t, shown = self._ctx.t, self._models.shown
        return [
            Offer(
                name,
                choice.model if choice != OFFLINE else t("Offline assistant"),
                provider,
                "cpu",
                current=choice == shown,
            )
            for name, choice, provider in self._named_models()
        ]

    def _base_offers(self) -> list[Offer]:
        t, current = self._ctx.t, self._bases.base
        offers = [
            Offer(name, name, "" if there else t("Folder not found"), "book", enabled=there, current=base == current)
            for name, base, there in self._named_bases()
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


def _apart(named: Sequence[tuple[str, str]]) -> list[str]:
    """The names; of equal ones each with what it belongs to, as in `qwen3 (Ollama)`."""
    count = Counter(name for name, _ in named)
    return [f"{name} ({of})" if count[name] > 1 and of else name for name, of in named]


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
