"""The settings dialog."""

from devflow.ui.dialogs.settings.dialog import SettingsDialog

__all__ = ["SettingsDialog"]
