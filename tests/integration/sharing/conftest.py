"""Conversations to export: the agent's bench, with a real model server."""

from tests.integration.agent.conftest import Bench, bench, processes, server, workspace

__all__ = ["Bench", "bench", "processes", "server", "workspace"]
