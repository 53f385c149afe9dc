"""What another program may do in the library: read, propose or manage, by the user's choice (spec 06, MCP server)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from devflow.domain.errors import Refused
from devflow.domain.knowledge import Entry, Status
from devflow.domain.messages import N_

CLIENT_MAX = 80
NAMELESS = "unknown"


class Right(StrEnum):
    """Each holds those before it. None of them publishes."""

    READ = "read"
    PROPOSE = "propose"
    MANAGE = "manage"

    def holds(self, other: Right) -> bool:
        order = tuple(Right)
        return order.index(self) >= order.index(other)


DEFAULT = Right.PROPOSE


class RightMissing(Refused):
    """The user gave this program a narrower right than the act needs."""

    code = "right_missing"


@dataclass(frozen=True, slots=True)
class Visitor:
    """Another program: the name it goes by, and its right. What it proposed is its own, by that name."""

    client: str
    right: Right

    @property
    def source_ref(self) -> str:
        return f"mcp:{self.client}"

    def owns(self, entry: Entry) -> bool:
        return entry.source_ref == self.source_ref

    def sees(self, entry: Entry) -> bool:
        """Below *manage*: what is published, and its own."""
        return self.right.holds(Right.MANAGE) or entry.status is Status.PUBLISHED or self.owns(entry)

    def require(self, right: Right) -> None:
        """Raise RightMissing unless it has that right."""
        if not self.right.holds(right):
            raise RightMissing(
                N_("This needs the right to {needed}; the user allowed {allowed}."),
                N_("The user can allow it: `devflow mcp --allow {needed}`."),
                needed=right.value,
                allowed=self.right.value,
            )


def client_name(given: str) -> str:
    """A program's name as the timeline shows it: one line, of printable characters, not too long."""
    shown = "".join(char if char.isprintable() else " " for char in given)
    return " ".join(shown.split())[:CLIENT_MAX].strip() or NAMELESS
