"""Who acts, and what an act returns."""

from __future__ import annotations

from dataclasses import dataclass

from devflow.domain.errors import HumanOnly
from devflow.domain.ids import new_id
from devflow.domain.knowledge import Entry
from devflow.domain.messages import N_
from devflow.store.timeline import Act


@dataclass(frozen=True, slots=True)
class Actor:
    """`name` is what the timeline shows: `user`, `ai`, `system` or `mcp:<client>`. Only a human publishes.

    `manages`: a program that the user allowed to change the configuration.
    """

    name: str
    human: bool = False
    manages: bool = False

    @classmethod
    def user(cls) -> Actor:
        return cls("user", human=True)

    @classmethod
    def ai(cls) -> Actor:
        return cls("ai")

    @classmethod
    def system(cls) -> Actor:
        return cls("system")

    @classmethod
    def mcp(cls, client: str, *, manages: bool = False) -> Actor:
        return cls(f"mcp:{client}", manages=manages)

    def act(self, operation: str | None = None) -> Act:
        """A new act of this actor, or one more step of a running operation."""
        return Act(self.name, operation or new_id())


@dataclass(frozen=True, slots=True)
class Done:
    """A committed act: the operation that undo names, the entries as they are now, and the ids of those that were
    not added because they repeat what is there (they got a "seen again" event instead)."""

    operation: str
    entries: tuple[Entry, ...]
    repeated: tuple[str, ...] = ()


def require_human(actor: Actor, refusal: str, *, agent_child: bool = False) -> None:
    """Raise HumanOnly with the sentence `refusal` unless a human acts, and not through a command of the agent's.

    Children of the agent's `run_command` carry a marker in their environment; other programs' shells cannot be told
    apart from the human (spec 01).
    """
    if agent_child:
        raise HumanOnly(
            refusal,
            N_("This terminal was started by the assistant. Do it in the window, or in a terminal of your own."),
        )
    if not actor.human:
        raise HumanOnly(refusal, N_("A human decides it in the inbox."))
