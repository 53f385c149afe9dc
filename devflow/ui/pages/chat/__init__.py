"""The Chat page."""

from devflow.ui.pages.chat.page import ChatPage

__all__ = ["ChatPage"]
