"""What a tool is, and what it is given."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from devflow.domain.knowledge import Project
from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.knowledge.service import Knowledge
from devflow.tools.policy import AnyRule, Effect, Situation, Subject, Verdict, verdict
from devflow.tools.refusal import ToolRefused
from devflow.wiki.registry import KnowledgeBases


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a call may touch. Without a `project` there is no workspace and there are no file tools.

    `home` is DevFlow's data directory, out of bounds for every file tool. `read_untrusted` says that the run has read
    text from outside, after which rules for writing and running ask again. `sources` are the tools of MCP servers.
    `kb_id` is the conversation's knowledge base, to be found in `bases`; without one there are no tools for it.
    `progress` takes the newest output while a tool runs, replacing what it took before; None: nobody looks.
    """

    conversation_id: str
    project: Project | None
    knowledge: Knowledge
    home: Path
    rules: tuple[AnyRule, ...] = ()
    read_untrusted: bool = False
    sources: tuple[Tool, ...] = ()
    kb_id: str | None = None
    bases: KnowledgeBases | None = None
    progress: Callable[[str], None] | None = None

    @property
    def workspace(self) -> str:
        """The folder that rules name; empty without a project."""
        return self.project.path if self.project is not None else ""

    def judge(self, subject: Subject, default: Effect) -> Verdict:
        """Whether a human must say yes first (and why); raises `ToolRefused` where a rule says no."""
        situation = Situation(self.workspace, self.conversation_id, self.rules, self.read_untrusted)
        said = verdict(subject, default, situation)
        if said.effect is Effect.DENY:
            raise ToolRefused(f"A rule of the user denies {subject.tool} for {subject.target}.")
        return said


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """What the model gets: plain text, which the composer fences. A failure has its sentence in `error`."""

    text: str
    error: str = ""


@dataclass(frozen=True, slots=True)
class Voided:
    """Nothing was done: what was approved is no longer what would happen. `preview` is what to show and approve now."""

    preview: Mapping[str, Any]
    why: str


class ToolStopped(asyncio.CancelledError):
    """The call was cancelled while it ran, and is over: `outcome` says what is known. `over`: it ended by itself."""

    def __init__(self, outcome: ToolOutcome, *, over: bool = False) -> None:
        super().__init__()
        self.outcome = outcome
        self.over = over


class Tool(Protocol):
    """One tool. Arguments are what `parse_arguments` returned."""

    @property
    def spec(self) -> ToolSpec: ...

    @property
    def risk(self) -> Risk: ...

    @property
    def default(self) -> Effect:
        """What is done with a call that no rule is about."""
        ...

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        """What a rule's pattern is held against (for a file tool the path inside the workspace)."""
        ...

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any] | None:
        """What the approval card shows, as JSON; raises `ToolRefused` where the call cannot work at all."""
        ...

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome | Voided:
        """Do it. `preview` is the approved one; `Voided` when it no longer holds. Raises `UserFacing` when refused."""
        ...


class ToolSources(Protocol):
    """Where tools come from that are not DevFlow's own (`mcp_source.McpSource` in the product)."""

    async def tools(self, project: Project | None, only: Collection[str] | None = None) -> tuple[Tool, ...]:
        """The tools there are now, within a bounded time; `only` those of these names, if it is not None."""
        ...


@runtime_checkable
class ParsesArguments(Protocol):
    """A tool whose arguments are checked by somebody else, against a schema that is theirs."""

    def parse(self, text: str) -> dict[str, Any]:
        """The arguments as the model sent them; raises `ToolRefused` for what nobody could take."""
        ...


def needs_approval(tool: Tool, arguments: Mapping[str, Any], ctx: ToolContext) -> bool:
    """Whether a human must say yes before `run`; raises `ToolRefused` for what is denied outright."""
    return ctx.judge(tool.subject(arguments), tool.default).effect is Effect.ASK
