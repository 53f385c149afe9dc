"""DevFlow: what you learn while you build software with AI becomes reviewed knowledge."""

__version__ = "0.1.0"
