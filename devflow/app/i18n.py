"""The language of the user: which one it is, and its catalogue.

Catalogues are gettext's, in `resources/i18n/<language>/LC_MESSAGES/devflow.mo`; `dev.py i18n` makes them. English is
the source and needs none.
"""

from __future__ import annotations

import gettext
import locale
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from devflow.domain.messages import Translator

DOMAIN = "devflow"
SYSTEM = "system"
ENGLISH = "en"
CHINESE = "zh_CN"


def translator(resources: Path, language: str = SYSTEM, environ: Mapping[str, str] = os.environ) -> Translator:
    """Return the translator for `language`: a code such as `zh_CN`, or `system` for the language of the desktop.

    A language without a catalogue falls back to English.
    """
    wanted = system_language(environ) if language == SYSTEM else _known(language)
    if wanted == ENGLISH:
        return Translator(ENGLISH, gettext.NullTranslations())
    catalogue = gettext.translation(DOMAIN, resources / "i18n", languages=[wanted], fallback=True)
    found = isinstance(catalogue, gettext.GNUTranslations)
    return Translator(wanted if found else ENGLISH, catalogue)


def languages(resources: Path) -> tuple[str, ...]:
    """The languages that can be chosen, English first."""
    found = sorted(file.parent.parent.name for file in (resources / "i18n").glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return (ENGLISH, *found)


def system_language(environ: Mapping[str, str] = os.environ) -> str:
    """The desktop's language as one that DevFlow speaks: `zh_CN` for any Chinese, else `en`."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := environ.get(name):
            return _known(value.partition(":")[0])
    return _known(_platform_language())


def _known(code: str) -> str:
    return CHINESE if code.lower().startswith("zh") else ENGLISH


def _platform_language() -> str:
    """Windows and macOS do not tell graphical programs their language through the environment."""
    if sys.platform == "win32":
        import ctypes

        return locale.windows_locale.get(ctypes.windll.kernel32.GetUserDefaultUILanguage(), "")
    if sys.platform == "darwin":
        asked = subprocess.run(
            ["/usr/bin/defaults", "read", "-g", "AppleLocale"], capture_output=True, text=True, timeout=5, check=False
        )
        return asked.stdout.strip()
    return ""
