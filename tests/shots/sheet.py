"""Lay the pictures on one sheet: a row for each scene, a column for each theme and language."""

import os
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QPainter

from tests.shots.scenes import SCENES

CELL = (640, 400)
GAP = 16


def contact_sheet(folder: Path, scale: int) -> Path:
    """Write `contact-100.png` or `contact-200.png` and return it."""
    app = QGuiApplication.instance() or QGuiApplication(["sheet"])
    variants = ("light-zh", "light-en", "dark-zh", "dark-en") if scale == 1 else ("light-zh", "dark-en")
    suffix = "@2x" if scale == 2 else ""
    rows = [
        [folder / f"{scene.name}-{variant}{suffix}.png" for variant in variants]
        for scene in SCENES
        if any((folder / f"{scene.name}-{variant}{suffix}.png").exists() for variant in variants)
    ]
    width = GAP + len(variants) * (CELL[0] + GAP)
    height = GAP + max(1, len(rows)) * (CELL[1] + GAP)
    sheet = QImage(width, height, QImage.Format.Format_RGB32)
    sheet.fill(QColor("#808080"))
    painter = QPainter(sheet)
    painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
    for row, files in enumerate(rows):
        for column, file in enumerate(files):
            picture = QImage(str(file))
            if picture.isNull():
                continue
            cell = QRect(GAP + column * (CELL[0] + GAP), GAP + row * (CELL[1] + GAP), *CELL)
            keep, smooth = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            painter.drawImage(cell.topLeft(), picture.scaled(cell.size(), keep, smooth))
    painter.end()
    del app
    target = folder / f"contact-{scale}00.png"
    sheet.save(str(target))
    return target
