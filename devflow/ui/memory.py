"""The window's memory: geometry and splitters, kept in the settings group `window`."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QByteArray
from PySide6.QtWidgets import QMainWindow, QWidget

from devflow.ui.widgets.splitter import HairlineSplitter

GROUP = "window"


def remember(window: QMainWindow, page: str, before: Mapping[str, Any]) -> dict[str, Any]:
    """What to store: the geometry, the page in front, and the sizes of every splitter that has a name."""
    splitters = dict(before.get("splitters") or {})
    for splitter in _named(window):
        if splitter.isVisibleTo(window) or splitter.objectName() not in splitters:
            splitters[splitter.objectName()] = splitter.sizes()
    geometry = base64.b64encode(window.saveGeometry().data()).decode("ascii")
    return {**before, "geometry": geometry, "page": page, "splitters": splitters}


def recall_geometry(window: QMainWindow, stored: Mapping[str, Any]) -> bool:
    """Put the window where it was; False when nothing usable is stored."""
    raw = stored.get("geometry")
    if not isinstance(raw, str):
        return False
    try:
        return window.restoreGeometry(QByteArray(base64.b64decode(raw, validate=True)))
    except ValueError:
        return False


def recall_splitters(root: QWidget, stored: Mapping[str, Any]) -> None:
    """Give every named splitter under `root` its sizes back; ones that no longer fit its panes are left out."""
    known = stored.get("splitters")
    if not isinstance(known, Mapping):
        return
    for splitter in _named(root):
        sizes = known.get(splitter.objectName())
        if not isinstance(sizes, list) or not all(isinstance(size, int) and size >= 0 for size in sizes):
            continue
        if len(sizes) == splitter.count() and sum(sizes) > 0:
            splitter.setSizes(sizes)


def _named(root: QWidget) -> list[HairlineSplitter]:
    return [splitter for splitter in root.findChildren(HairlineSplitter) if splitter.objectName()]
