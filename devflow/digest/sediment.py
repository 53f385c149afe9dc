"""`Sediments`: what a conversation settled, written as a page of its knowledge base when the user asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from devflow.domain.errors import Refused
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_

Outcome = Literal["written", "updated", "unchanged"]


@dataclass(frozen=True, slots=True)
class SedimentedPage:
    """The page in `base`; `path` is relative to it. `model` is empty where none wrote title and summary.

    `outcome`: a new page, the conversation's former page brought up to date, or nothing new since that was written.
    """

    path: str
    title: str
    base: KnowledgeBase
    model: str = ""
    outcome: Outcome = "written"


class Sediments:
    """One page a conversation at a time."""

    async def write(self, conversation_id: str) -> SedimentedPage:
        """Write the page; raises `UserFacing` where there is none to write."""
        raise Refused(N_("This conversation belongs to no knowledge base."))

    async def close(self) -> None: ...
