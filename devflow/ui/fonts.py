"""The type scale as QFont: whole pixels, the system face first, then a face that has Han."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtGui import QFont, QFontDatabase

_MONO_ROLES = frozenset({"code", "code-small"})
# Generic names are no files: fontconfig, DirectWrite and Core Text resolve them.
_GENERIC = frozenset({"sans-serif", "monospace"})


@dataclass(frozen=True, slots=True)
class FontRole:
    """Size in px, OpenType weight and line height in px."""

    px: int
    weight: int
    line: int


class Fonts:
    """Makes the fonts of the scale; families that are not installed are left out, which spares Qt its aliases."""

    def __init__(self, families: Mapping[str, tuple[str, ...]], roles: Mapping[str, FontRole]) -> None:
        self._roles = dict(roles)
        self._roles["code-small"] = FontRole(px=12, weight=400, line=18)
        self._roles["small-strong"] = FontRole(px=12, weight=500, line=18)
        self._roles["section"] = FontRole(px=13, weight=600, line=20)
        self._families = {kind: _installed(names) for kind, names in families.items()}
        self._made: dict[str, QFont] = {}

    def font(self, role: str) -> QFont:
        """A copy of the role's font; an unknown role raises KeyError."""
        if role not in self._made:
            self._made[role] = self._make(role)
        return QFont(self._made[role])

    def line(self, role: str) -> int:
        """The role's line height, in px."""
        return self._roles[role].line

    def _make(self, role: str) -> QFont:
        spec = self._roles[role]
        mono = role in _MONO_ROLES
        font = QFont()
        font.setFamilies(self._families["mono" if mono else "ui"])
        font.setPixelSize(spec.px)
        font.setWeight(QFont.Weight(spec.weight))
        if mono:
            font.setStyleHint(QFont.StyleHint.Monospace)
            font.setFixedPitch(True)
            for tag in ("liga", "calt"):
                font.setFeature(QFont.Tag(tag), 0)
        return font


def _installed(names: tuple[str, ...]) -> list[str]:
    return [name for name in names if name in _GENERIC or QFontDatabase.hasFamily(name)]
