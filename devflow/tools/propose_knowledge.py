"""`propose_knowledge`: the model puts a candidate into the inbox, where a human decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devflow.domain.knowledge import CONTENT_MAX, TITLE_MAX, Kind, draft
from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.knowledge.service import Actor
from devflow.tools.policy import Effect, Subject
from devflow.tools.tool import ToolContext, ToolOutcome


class ProposeKnowledge:
    risk = Risk.WRITES
    default = Effect.ALLOW  # nothing is published by it: the inbox is the approval
    spec = ToolSpec(
        "propose_knowledge",
        "Propose something worth keeping for later conversations: a pitfall, a rule, a pattern, a diagnosis. "
        "It becomes a candidate that the user reviews; do not propose what the library already says.",
        {
            "type": "object",
            "properties": {
                "kind": {"type": "string", "enum": [*Kind]},
                "title": {"type": "string", "description": "One line.", "minLength": 1, "maxLength": TITLE_MAX},
                "content": {
                    "type": "string",
                    "description": "Markdown, readable without this conversation.",
                    "minLength": 1,
                    "maxLength": CONTENT_MAX,
                },
                "tags": {"type": "array", "items": {"type": "string"}, "default": []},
                "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": 0.5},
            },
            "required": ["kind", "title", "content"],
            "additionalProperties": False,
        },
    )

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        return Subject(self.spec.name, self.risk, arguments["title"])

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any] | None:
        return None

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome:
        proposed = draft(
            kind=arguments["kind"],
            title=arguments["title"],
            content=arguments["content"],
            tags=arguments["tags"],
            confidence=arguments["confidence"],
            project_id=ctx.project.id if ctx.project is not None else None,
            source_ref=f"conv:{ctx.conversation_id}",
        )
        done = await ctx.knowledge.knowledge_submit(
            [proposed], actor=Actor.ai(), detail={"conversation": ctx.conversation_id}
        )
        if done.repeated:
            return ToolOutcome("The library already has exactly this entry; it was noted that it came up again.")
        return ToolOutcome("The candidate is in the inbox; the user decides whether it is published.")
