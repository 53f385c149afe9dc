"""How a configured MCP server stands, and what can go wrong with one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from devflow.domain.errors import UserFacing
from devflow.domain.messages import N_


class Phase(StrEnum):
    STOPPED = "stopped"
    STARTING = "starting"
    RUNNING = "running"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ServerState:
    """`tools` are the names it offers, `left_out` those that cannot be offered. `pid` is a program's, while it runs.

    `version` is the protocol's, `server` what it calls itself. `problem` is why it failed.
    """

    phase: Phase = Phase.STOPPED
    tools: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    pid: int | None = None
    version: str = ""
    server: str = ""
    problem: UserFacing | None = None


STOPPED = ServerState()


class McpUnavailable(UserFacing):
    """A server is not there to be called; nothing was done."""

    code = "mcp_unavailable"


class McpFailed(UserFacing):
    """A call did not come to a good end."""

    code = "mcp_failed"


# A reason is called `what` in the sentence, so that one that is known beforehand is said in the reader's language.


def not_started(name: str, reason: str) -> McpUnavailable:
    return McpUnavailable(
        N_("The MCP server {name} could not be started: {what}."),
        N_("Check it in Settings, under Tools."),
        name=name,
        what=reason,
    )


def too_slow(name: str, seconds: float) -> McpUnavailable:
    return McpUnavailable(
        N_("The MCP server {name} was not ready within {seconds} seconds."),
        N_("Check it in Settings, under Tools."),
        name=name,
        seconds=f"{seconds:g}",
    )


def ended(name: str, reason: str) -> McpUnavailable:
    return McpUnavailable(
        N_("The MCP server {name} ended: {what}."),
        N_("It is started again when it is next needed."),
        name=name,
        what=reason,
    )


def ended_in_call(name: str, reason: str) -> McpFailed:
    return McpFailed(
        N_("The MCP server {name} ended during the call ({what}); the call may have had an effect."),
        N_("It is started again when it is next needed."),
        name=name,
        what=reason,
    )


def no_answer(name: str, seconds: float) -> McpFailed:
    return McpFailed(
        N_("The MCP server {name} did not answer within {seconds} seconds; the call may have had an effect."),
        N_("A longer time can be set in Settings, under Tools."),
        name=name,
        seconds=f"{seconds:g}",
    )


def refused(name: str, reason: str) -> McpFailed:
    return McpFailed(N_("The MCP server {name} refused the call: {what}"), "", name=name, what=reason)


def not_understood(name: str) -> McpFailed:
    return McpFailed(N_("The MCP server {name} answered with something that is not MCP."), "", name=name)


def gone(name: str) -> McpUnavailable:
    return McpUnavailable(
        N_("The MCP server {name} was removed, switched off or changed meanwhile."),
        N_("Look at it in Settings, under Tools."),
        name=name,
    )
