"""What is shipped is whole, and runs away from the clone."""

import tarfile
import zipfile
from pathlib import Path

import pytest

import devflow
from tests.packaging.conftest import ROOT, Built, Installed

pytestmark = pytest.mark.slow


def shipped(folder: str) -> set[str]:
    """Files under a top-level folder of the clone, without what Python leaves behind."""
    return {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_the_wheel_carries_the_package_its_migrations_and_its_resources(built: Built) -> None:
    names = set(zipfile.ZipFile(built.wheel).namelist())
    expected = shipped("devflow") | {f"devflow/_data/{name}" for name in shipped("migrations") | shipped("resources")}
    assert names - {name for name in names if ".dist-info/" in name} == expected


def test_the_sdist_carries_what_the_clone_has(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {name for folder in ("devflow", "migrations", "resources", "tests") for name in shipped(folder)}
    assert wanted | {"pyproject.toml", "dev.py", "README.md", "LICENSE", "CHANGELOG.md"} <= names


def test_the_wheel_names_its_licence_and_its_command(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        (folder,) = {name.partition("/")[0] for name in archive.namelist() if ".dist-info/" in name}
        metadata = archive.read(f"{folder}/METADATA").decode()
        commands = archive.read(f"{folder}/entry_points.txt").decode()
    assert "License-Expression: MIT" in metadata
    assert f"Version: {devflow.__version__}" in metadata
    assert "devflow = devflow.cli:main" in commands


def test_an_installed_devflow_finds_its_data_inside_the_package(installed: Installed, tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from devflow.app.paths import app_paths; paths = app_paths(Path('home')); "
        "print(paths.migrations, paths.resources, sep='\\n')"
    )
    found = installed.run(installed.python, "-c", program)
    assert found.returncode == 0, found.stderr
    for line in found.stdout.splitlines():
        assert Path(line).is_dir()
        assert Path(line).is_relative_to(installed.folder)


def test_an_installed_devflow_speaks_chinese(installed: Installed) -> None:
    program = (
        "from pathlib import Path; from devflow.app.paths import app_paths; from devflow.app.i18n import translator; "
        "print(translator(app_paths(Path('home')).resources, 'zh_CN').language)"
    )
    assert installed.run(installed.python, "-c", program).stdout.strip() == "zh_CN"


def test_an_installed_devflow_tells_its_version(installed: Installed) -> None:
    told = installed.run(installed.devflow, "--version")
    assert (told.returncode, told.stderr) == (0, "")
    assert devflow.__version__ in told.stdout


def test_an_installed_devflow_makes_its_database_in_an_empty_home(installed: Installed, home: Path) -> None:
    checked = installed.run(installed.devflow, "--home", str(home), "doctor")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert (home / "devflow.db").is_file()


def test_python_m_devflow_is_the_same_command(installed: Installed) -> None:
    assert installed.run(installed.python, "-m", "devflow", "--version").stdout.startswith("devflow ")
