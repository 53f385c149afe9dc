"""The inbox: read, decide, take back; by keys or by clicks."""

from devflow.ui.pages.inbox.page import InboxPage

__all__ = ["InboxPage"]
