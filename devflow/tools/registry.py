"""Which tools a conversation has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from devflow.tools import arguments as arguments_of
from devflow.tools.edit_file import EditFile
from devflow.tools.knowledge_base import CurrentKnowledgeBase, ListKnowledgeBasePages, QueryKnowledgeBase
from devflow.tools.knowledge_search import KnowledgeSearch
from devflow.tools.list_dir import ListDir
from devflow.tools.propose_knowledge import ProposeKnowledge
from devflow.tools.read_file import ReadFile
from devflow.tools.refusal import ToolRefused
from devflow.tools.run_command import RunCommand
from devflow.tools.search_files import SearchFiles
from devflow.tools.tool import ParsesArguments, Tool, ToolContext, ToolOutcome, Voided
from devflow.tools.workspace import Workspace
from devflow.tools.write_file import WriteFile

__all__ = ["Tool", "ToolContext", "ToolOutcome", "ToolRefused", "Voided", "parse_arguments", "tools_for"]


def tools_for(ctx: ToolContext) -> dict[str, Tool]:
    """The tools that a conversation has, by name, in the order in which the model sees them."""
    tools: list[Tool] = []
    if ctx.project is not None:
        workspace = Workspace(Path(ctx.project.path), ctx.home)
        tools += [
            ListDir(workspace),
            ReadFile(workspace),
            SearchFiles(workspace),
            WriteFile(workspace),
            EditFile(workspace),
            RunCommand(workspace),
        ]
    if ctx.kb_id is not None:
        tools += [QueryKnowledgeBase(), CurrentKnowledgeBase(), ListKnowledgeBasePages()]
    tools += [KnowledgeSearch(), ProposeKnowledge(), *ctx.sources]
    return {tool.spec.name: tool for tool in tools}


def parse_arguments(tool: Tool, text: str) -> dict[str, Any]:
    """The arguments of a call, checked against its schema; raises `ToolRefused` with a sentence for the model."""
    if isinstance(tool, ParsesArguments):
        return tool.parse(text)
    return arguments_of.parse_arguments(tool.spec.parameters, text, tool.spec.name)
