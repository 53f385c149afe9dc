"""The window's dialogs: settings."""
