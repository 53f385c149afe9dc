"""Play the scenes in every theme and language and save a picture of each."""

import asyncio
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import qasync
from PySide6.QtWidgets import QApplication

from devflow.app.desktop import Desktop
from devflow.app.desktop_run import make_application
from devflow.app.paths import app_paths
from devflow.ui.theme import ThemeMode
from tests.shots.scenes import SCENES
from tests.shots.stage import Stage

SIZE = (1280, 800)
LANGUAGES = ("en", "zh_CN")
THEMES = (ThemeMode.LIGHT, ThemeMode.DARK)


def take(folder: Path, scale: int, only: Sequence[str]) -> int:
    """At 100 % every theme and language, at 200 % light Chinese and dark English."""
    os.environ.setdefault("PYTHON_KEYRING_BACKEND", "tests.support.keychain.Keychain")
    os.environ["DEVFLOW_SHARED_SKILLS"] = ""  # nobody's own skills in the pictures
    app = make_application([])
    qasync.run(_take(app, folder, scale, only))
    return 0


async def _take(app: QApplication, folder: Path, scale: int, only: Sequence[str]) -> None:
    for language in LANGUAGES:
        with tempfile.TemporaryDirectory() as home:
            desktop = await Desktop.open(app, app_paths(Path(home)), appearance={"language": language})
            stage = Stage(app, desktop, language)
            try:
                await _play(stage, folder, scale, only)
            finally:
                await desktop.close()
                stage.on_close.close()


async def _play(stage: Stage, folder: Path, scale: int, only: Sequence[str]) -> None:
    stage.window.resize(*SIZE)
    stage.window.show()
    await stage.settled()
    for scene in SCENES:
        stage.target = stage.window
        await scene.play(stage)
        for theme in THEMES:
            if only and scene.name not in only:
                continue
            if scale == 2 and (theme is ThemeMode.LIGHT) != stage.zh:
                continue
            stage.window.ctx.theme.set_mode(theme)
            await asyncio.sleep(0.05)
            name = f"{scene.name}-{theme.value}-{'zh' if stage.zh else 'en'}{'@2x' if scale == 2 else ''}.png"
            stage.grab(folder / name)
        stage.close_dialogs()
        await stage.settled()
