"""One build for all packaging tests: sdist from the clone, wheel from the sdist, offline."""

import os
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Built:
    wheel: Path
    sdist: Path


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment whose `devflow` comes from the wheel; its dependencies are those of the test environment."""

    folder: Path

    @property
    def python(self) -> Path:
        return self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")

    @property
    def devflow(self) -> Path:
        return self.folder / ("Scripts/devflow.exe" if os.name == "nt" else "bin/devflow")

    def run(self, *command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run far from the clone, so that nothing of it is found by accident."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run(
            command, cwd=self.folder, env={**kept, **environment}, capture_output=True, text=True, check=False
        )


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    # `build` makes the wheel out of the sdist, so a file that the sdist forgets is missing in both.
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(wheel, sdist)


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    there = Installed(tmp_path_factory.mktemp("empty") / "venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(there.folder)], check=True)
    command = [sys.executable, "-m", "pip", "--quiet", "--python", str(there.python)]
    subprocess.run([*command, "install", "--no-deps", "--no-index", str(built.wheel)], check=True)
    asked = there.run(there.python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    # A path line, not a site directory: the dependencies are seen, the clone's editable install is not.
    Path(asked.stdout.strip(), "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return there
