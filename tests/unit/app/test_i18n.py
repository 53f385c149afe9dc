"""Which language the user gets."""

from pathlib import Path

import pytest

from devflow.app.i18n import languages, system_language, translator
from devflow.app.paths import app_paths


@pytest.fixture
def resources(home: Path) -> Path:
    return app_paths(home).resources


@pytest.mark.parametrize(
    "environ,expected",
    [
        ({"LANG": "zh_CN.UTF-8"}, "zh_CN"),
        ({"LANG": "zh_TW.UTF-8"}, "zh_CN"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh_CN"),
        ({"LANGUAGE": "en:zh_CN", "LANG": "zh_CN.UTF-8"}, "en"),
    ],
)
def test_the_language_of_the_system_is_read_from_its_environment(environ: dict[str, str], expected: str) -> None:
    assert system_language(environ) == expected


def test_english_is_the_source_and_needs_no_catalogue(resources: Path) -> None:
    t = translator(resources, "en")
    assert t.language == "en"
    assert t("Publish") == "Publish"


def test_chinese_comes_from_the_catalogue(resources: Path) -> None:
    t = translator(resources, "system", {"LANG": "zh_CN.UTF-8"})
    assert t.language == "zh_CN"
    assert t("Check its permissions, or name another one with --home or DEVFLOW_HOME.").startswith("检查")


def test_a_language_whose_catalogue_is_missing_falls_back_to_english(tmp_path: Path) -> None:
    t = translator(tmp_path, "zh_CN")
    assert t.language == "en"
    assert t("Publish") == "Publish"


def test_the_languages_to_choose_from_are_those_with_a_catalogue(resources: Path) -> None:
    assert languages(resources) == ("en", "zh_CN")


def test_the_library_has_one_name_in_chinese(resources: Path) -> None:
    """DESIGN.md, Words: the library is 知识库, as in 知识库条目; what it holds are 条目."""
    catalogue = (resources / "i18n" / "zh_CN" / "LC_MESSAGES" / "devflow.po").read_text(encoding="utf-8")
    assert "知识库" in catalogue
    assert "条目库" not in catalogue
