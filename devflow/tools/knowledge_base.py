"""The conversation's knowledge base as tools: search it, say which it is, list its pages (seed §5.8, spec 02, Tools).

The search is the very one that every turn makes by itself; a model that wants to know more asks again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devflow.domain.errors import NotFound
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.retrieval.pages import UNKNOWN_WINDOW_CHARS, PageHit, PageSearch, search_knowledge_base
from devflow.retrieval.references import parse_explicit_page_refs
from devflow.tools.policy import Effect, Subject
from devflow.tools.tool import ToolContext, ToolOutcome
from devflow.wiki.page_index import is_content
from devflow.wiki.registry import KnowledgeBases

NONE_SELECTED = "No knowledge base is selected in this conversation."
PAGES_MAX = 200
INDEXING_S = 2.0


class _BaseTool:
    """Reads the conversation's knowledge base and nothing else: no approval is needed."""

    risk = Risk.READS
    default = Effect.ALLOW
    spec: ToolSpec

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        return Subject(self.spec.name, self.risk, str(arguments.get("query", "")))

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any] | None:
        return None


class QueryKnowledgeBase(_BaseTool):
    spec = ToolSpec(
        "query_knowledge_base",
        "Search the user's current knowledge base for pages relevant to a query. Use this when the user asks a"
        " follow-up question that may require pulling additional context from the knowledge base beyond what's already"
        " in the conversation.",
        {
            "type": "object",
            "properties": {"query": {"type": "string", "description": "A question, or words of the page."}},
            "required": ["query"],
            "additionalProperties": False,
        },
    )

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome:
        base = await _base_of(ctx)
        if base is None or ctx.bases is None:
            return ToolOutcome("", NONE_SELECTED)
        query = arguments["query"]
        if not query.strip():
            return ToolOutcome("", "The query must not be empty.")
        found = await search_base(ctx.bases, base, query)
        missing = [f"There is no page {reference}." for reference in found.missing]
        if not found.hits:
            return ToolOutcome("\n".join([f"No page found in {base.name!r}.", *missing]))
        pages = [_page(number, hit) for number, hit in enumerate(found.hits, 1)]
        if found.matching > len(found.hits):
            pages.append(f"{len(found.hits)} of {found.matching} matching pages shown.")
        return ToolOutcome("\n\n".join([*pages, *missing]))


class CurrentKnowledgeBase(_BaseTool):
    spec = ToolSpec(
        "current_knowledge_base",
        "Say which knowledge base this conversation belongs to: its name, its folder, how many pages it has.",
        {"type": "object", "properties": {}, "additionalProperties": False},
    )

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome:
        base = await _base_of(ctx)
        if base is None or ctx.bases is None:
            return ToolOutcome(NONE_SELECTED)
        progress = await ctx.bases.refresh(base, within=INDEXING_S)
        return ToolOutcome(f"name: {base.name}\npath: {base.path}\npages: {progress.pages}")


class ListKnowledgeBasePages(_BaseTool):
    spec = ToolSpec(
        "list_knowledge_base_pages",
        "List the pages of the current knowledge base: path and title of each.",
        {
            "type": "object",
            "properties": {
                "folder": {"type": "string", "description": "Only pages below it, such as wiki/topics.", "default": ""},
                "offset": {"type": "integer", "minimum": 0, "default": 0},
                "limit": {"type": "integer", "minimum": 1, "maximum": PAGES_MAX, "default": PAGES_MAX},
            },
            "additionalProperties": False,
        },
    )

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        return Subject(self.spec.name, self.risk, str(arguments.get("folder", "")))

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome:
        base = await _base_of(ctx)
        if base is None or ctx.bases is None:
            return ToolOutcome("", NONE_SELECTED)
        await ctx.bases.refresh(base, within=INDEXING_S)
        folder, offset, limit = arguments["folder"].strip("/"), arguments["offset"], arguments["limit"]
        pages = [
            page
            for page in await ctx.bases.ask(base, lambda index: index.pages())
            if is_content(page) and (not folder or page.path.startswith(f"{folder}/"))
        ]
        if not pages:
            return ToolOutcome(f"No pages in {folder}." if folder else f"{base.name!r} has no pages yet.")
        shown = [f"{page.path}  {page.title}" for page in pages[offset : offset + limit]]
        left = len(pages) - offset - len(shown)
        if left > 0:
            shown.append(f"{left} more: ask with offset {offset + len(shown)}.")
        return ToolOutcome("\n".join(shown))


async def search_base(bases: KnowledgeBases, base: KnowledgeBase, query: str) -> PageSearch:
    """What the tool finds; the MCP server's tool of the same name finds it here too."""
    await bases.refresh(base, within=INDEXING_S)
    return await bases.ask(
        base,
        lambda index: search_knowledge_base(
            index, query, explicit_refs=parse_explicit_page_refs(query), total_budget_chars=UNKNOWN_WINDOW_CHARS
        ),
    )


async def _base_of(ctx: ToolContext) -> KnowledgeBase | None:
    if ctx.kb_id is None or ctx.bases is None:
        return None
    try:
        return await ctx.bases.get(ctx.kb_id)
    except NotFound:
        return None


def _page(number: int, hit: PageHit) -> str:
    return f"[{number}] {hit.title}\npath: {hit.path}\nfound by: {hit.hit_reason.value}\n{hit.snippet}"
