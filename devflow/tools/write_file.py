"""`write_file`: make or replace a text file of the workspace, after a human has seen the diff."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devflow.domain.request import ToolSpec
from devflow.tools.encodings import TextForm
from devflow.tools.writing import WritingTool

CONTENT_MAX = 1_000_000  # characters


class WriteFile(WritingTool):
    spec = ToolSpec(
        "write_file",
        "Create a text file of the project, or replace its whole content. The user sees the diff and must approve it.",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File relative to the project folder.", "minLength": 1},
                "content": {"type": "string", "description": "The whole new content.", "maxLength": CONTENT_MAX},
            },
            "required": ["path", "content"],
            "additionalProperties": False,
        },
    )

    def new_text(self, arguments: Mapping[str, Any], old: str | None, form: TextForm) -> str:
        return str(arguments["content"])
