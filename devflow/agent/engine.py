"""What every part of the agent is given."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from devflow.domain.conversation import ModelChoice
from devflow.domain.events import CallOutput, CallsChanged, Hub, MessageEnded, RunChanged
from devflow.domain.knowledge import Project
from devflow.domain.run import Run
from devflow.knowledge.service import Knowledge
from devflow.knowledge.settings import Settings
from devflow.models.calibration import Calibration
from devflow.prompt.lookup import Lookups
from devflow.prompt.templates import Templates
from devflow.providers.protocol import Provider
from devflow.store.database import Database
from devflow.store.lock import ProcessLock
from devflow.tools.registry import tools_for
from devflow.tools.rules import read_rules
from devflow.tools.tool import Tool, ToolContext, ToolSources
from devflow.wiki.registry import KnowledgeBases
from devflow.wiki.skills import Skills


class ModelSource(Protocol):
    """What the agent needs of the model registry (`devflow.models.registry.Models` in the product)."""

    async def main_choice(self) -> ModelChoice: ...

    async def resolve(self, choice: ModelChoice) -> Provider: ...


@dataclass(frozen=True, slots=True)
class Engine:
    """`home` is the data directory, which no file tool may touch; `lock` says which processes live."""

    db: Database
    hub: Hub
    settings: Settings
    knowledge: Knowledge
    models: ModelSource
    templates: Templates
    lookups: Lookups
    calibration: Calibration
    lock: ProcessLock
    home: Path
    bases: KnowledgeBases
    skills: Skills
    sources: ToolSources | None = None

    async def tool_context(
        self,
        conversation_id: str,
        project: Project | None,
        *,
        kb_id: str | None,
        read_untrusted: bool = False,
        only: Collection[str] | None = None,
    ) -> ToolContext:
        """`only`: the tools that are wanted, so that no server is started for others; None: all of them."""
        return ToolContext(
            conversation_id=conversation_id,
            project=project,
            knowledge=self.knowledge,
            home=self.home,
            rules=await read_rules(self.settings),
            read_untrusted=read_untrusted,
            kb_id=kb_id,
            bases=self.bases,
            sources=await self.sources.tools(project, only) if self.sources is not None else (),
        )

    def tools(self, context: ToolContext, only: tuple[str, ...] | None) -> dict[str, Tool]:
        """The conversation's tools; with `only` just those of them that are named."""
        every = tools_for(context)
        return {name: tool for name, tool in every.items() if only is None or name in only}

    # events --------------------------------------------------------------------------------------------------------

    def run_changed(self, run: Run) -> None:
        self.hub.publish(RunChanged(run.id, run.conversation_id, run.state))

    def calls_changed(self, run: Run, message_id: str) -> None:
        self.hub.publish(CallsChanged(run.id, run.conversation_id, message_id))

    def call_output(self, run: Run, call_id: str, text: str) -> None:
        self.hub.publish(CallOutput(run.id, run.conversation_id, call_id, text))

    def message_ended(self, run: Run, message_id: str) -> None:
        self.hub.publish(MessageEnded(run.id, run.conversation_id, message_id))
