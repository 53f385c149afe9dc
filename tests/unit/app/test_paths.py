"""Where the data directory is, and who may read it."""

import os
import stat
from pathlib import Path

import platformdirs
import pytest

from devflow.app.paths import NoDataDirectory, app_paths


def test_an_explicit_home_wins_over_the_environment(tmp_path: Path) -> None:
    paths = app_paths(tmp_path / "named", {"DEVFLOW_HOME": str(tmp_path / "environment")})
    assert paths.home == tmp_path / "named"
    assert not (tmp_path / "environment").exists()


def test_the_environment_names_the_home_when_no_flag_does(tmp_path: Path) -> None:
    assert app_paths(environ={"DEVFLOW_HOME": str(tmp_path / "environment")}).home == tmp_path / "environment"


def test_without_either_the_platform_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platformdirs, "user_data_path", lambda name, appauthor: tmp_path / "platform" / name)
    assert app_paths(environ={}).home == tmp_path / "platform" / "devflow"


def test_a_relative_home_does_not_move_with_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert app_paths(Path("here")).home == tmp_path / "here"


def test_everything_of_the_user_stands_inside_the_home(home: Path) -> None:
    paths = app_paths(home)
    mine = (paths.database, paths.backups, paths.logs, paths.locks, paths.keys)
    assert all(path.is_relative_to(home) for path in mine)


def test_new_directories_are_closed_to_other_users(home: Path) -> None:
    paths = app_paths(home)
    made = (paths.home, paths.backups, paths.logs, paths.locks)
    closed = 0o700 if os.name == "posix" else 0o777  # Windows has no such modes: the profile's own rights hold there
    assert {stat.S_IMODE(directory.stat().st_mode) for directory in made} == {closed}


def test_the_programs_own_data_is_found(home: Path) -> None:
    paths = app_paths(home)
    assert (paths.migrations / "env.py").is_file()
    assert paths.resources.is_dir()


def test_a_home_that_is_a_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(NoDataDirectory) as refused:
        app_paths(tmp_path / "taken")
    assert str(tmp_path / "taken") in str(refused.value)
    assert "--home" in refused.value.hint
