"""The first start on an empty home, without a key and without a network: something useful at once (spec 00, 1)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import ROOT, Result, devflow, environment
from tests.support.remote import RemoteWindow

NO_NETWORK = ROOT / "tests" / "support" / "no_network"

WELCOME = {"en": "Start with a question", "zh_CN": "从一个问题开始"}
OFFLINE = {"en": "Offline assistant", "zh_CN": "离线助手"}


@pytest.fixture(params=["en", "zh_CN"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def attempts(tmp_path: Path) -> Path:
    """Lines of every attempt to leave the machine, by any process of the test."""
    return tmp_path / "attempts.log"


@pytest.fixture
def alone(attempts: Path, language: str) -> dict[str, str]:
    """The environment of a machine without a network, in that language."""
    return {
        "LANGUAGE": language,
        "PYTHONPATH": os.pathsep.join((str(NO_NETWORK), str(ROOT))),
        "NETWORK_ATTEMPTS": str(attempts),
    }


def test_the_samples_are_loaded_by_a_click_and_the_first_question_is_answered_with_references(
    home: Path, language: str, alone: dict[str, str], attempts: Path
) -> None:
    with RemoteWindow(home, environ=alone) as window:
        window.finds("welcomePage")
        window.sees(WELCOME[language], on="welcomePage")
        window.sees(OFFLINE[language], on="statusLine")

        window.clicks("loadSamplesButton")
        window.finds("suggestionButton")
        question = window.words("suggestionButton").splitlines()[-1]
        window.clicks("suggestionButton")

        window.finds("messageView")
        window.is_answered("K1")
        assert question in window.words("messageView")
        (address,) = set(window.do("chips", "K1"))
        assert address.startswith("devflow:entry/")
        window.finds("sourcesPanel")
        window.sees("K1", on="sourcesPanel")
        window.do("click_chip", "K1")
        window.finds("entryDetail")
        window.sees(window.do("current_row", "entryList"), on="entryDetail")

        assert window.close() == 0
        assert window.complaints == ""
    used = [entry for entry in devflow(home, "knowledge", "list", "--json").value if entry["reuse_count"]]
    assert used
    assert all(entry["reuse_count"] == 1 for entry in used)
    assert not attempts.exists(), attempts.read_text()


def test_the_samples_go_with_one_click_as_they_came_and_the_keyboard_stays_in_the_composer(
    home: Path, alone: dict[str, str], attempts: Path
) -> None:
    with RemoteWindow(home, environ=alone) as window:
        window.finds("welcomePage")
        window.clicks("loadSamplesButton")
        window.finds("removeSamplesButton")
        window.do("type", "a word")
        assert window.words("composer") == "a word", "a click on a step leaves the keyboard where it was"
        window.clicks("removeSamplesButton")
        window.finds("loadSamplesButton")
        window.misses("suggestionButton")
        assert window.close() == 0
    assert devflow(home, "knowledge", "list", "--json").value == []
    assert not attempts.exists(), attempts.read_text()


QUESTIONS = {
    "en": ("What colour has the moon of Jupiter?", "Nothing in the library matches."),
    "zh_CN": ("木星的卫星是什么颜色？", "知识库中没有匹配的条目。"),
}


def test_ask_says_plainly_when_nothing_matches(
    home: Path, language: str, alone: dict[str, str], attempts: Path
) -> None:
    question, plainly = QUESTIONS[language]
    asked = _ask(home, alone, question)
    assert asked.code == 0
    assert plainly in asked.err
    assert "K1" not in asked.out
    assert asked.out.strip(), "the assistant says so in the answer too"
    assert not attempts.exists(), attempts.read_text()


def _ask(home: Path, environ: dict[str, str], question: str) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "devflow", "--home", str(home), "ask", question],
        cwd=ROOT,
        env={**environment(), **environ},
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def test_the_denied_network_of_these_tests_is_one(attempts: Path) -> None:
    """The denial itself: an attempt is counted and fails."""
    code = "import socket\ntry: socket.create_connection(('example.org', 80))\nexcept OSError as e: print(e.errno)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(NO_NETWORK), "NETWORK_ATTEMPTS": str(attempts)},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stdout.strip() == "101"
    assert attempts.read_text() == "example.org\n"
