"""`knowledge_search`: the model looks into the published library by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devflow.domain.knowledge import Entry, Kind
from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.tools.policy import Effect, Subject
from devflow.tools.tool import ToolContext, ToolOutcome

TEXT_MAX = 1_200  # characters of one entry


class KnowledgeSearch:
    risk = Risk.READS
    default = Effect.ALLOW
    spec = ToolSpec(
        "knowledge_search",
        "Search the user's library of reviewed knowledge (pitfalls, rules, patterns, notes) by words.",
        {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words that the entry would contain.", "minLength": 1},
                "kind": {"type": "string", "description": "Only entries of this kind.", "enum": [*Kind]},
                "limit": {"type": "integer", "minimum": 1, "maximum": 10, "default": 5},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    )

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        return Subject(self.spec.name, self.risk, arguments["query"])

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any] | None:
        return None

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome:
        found = await ctx.knowledge.knowledge_search(
            arguments["query"], kind=arguments.get("kind"), limit=arguments["limit"]
        )
        if not found.hits:
            return ToolOutcome("No published entry matches.")
        return ToolOutcome("\n\n".join(_entry(hit.entry) for hit in found.hits))


def _entry(entry: Entry) -> str:
    text = entry.content.strip()
    if len(text) > TEXT_MAX:
        text = f"{text[:TEXT_MAX].rstrip()} […{len(text) - TEXT_MAX:,} more characters]"
    about = [entry.kind.value, f"changed {entry.updated_at:%Y-%m-%d}"]
    if entry.tags:
        about.append("tags: " + ", ".join(entry.tags))
    if entry.project is not None:
        about.append(f"project: {entry.project.name}")
    return f"## {entry.title}\n({'; '.join(about)})\n{text}"
