"""`devflow provider …`: keys only by standard input or a named variable, and what the server says."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import Any

import pytest

from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.cli.conftest import Home

KEY = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(models=("alpha", "beta"), key=KEY) as running:
        yield running


def add(run: Home, server: OpenAIServer, *words: str, **more: Any) -> str:
    added = run("provider", "add", "--name", "Mine", "--address", server.base_url, *words, **more)
    assert added.code == 0, added.err
    return added.out.strip()


def test_an_empty_home_has_no_provider_and_says_who_answers(run: Home) -> None:
    listed = run("provider", "list")
    assert (listed.code, listed.out) == (0, "")
    assert "offline assistant" in listed.err
    assert run("provider", "list", "--json").value == []


def test_a_provider_is_added_with_the_models_that_its_server_lists(run: Home, server: OpenAIServer) -> None:
    id = add(run, server, "--key-stdin", stdin=f"{KEY}\n".encode())
    (listed,) = run("provider", "list", "--json").value
    assert listed == {
        "id": id,
        "name": "Mine",
        "preset": "custom",
        "adapter": "openai_compat",
        "base_url": server.base_url,
        "models": ["alpha", "beta"],
        "settings": {},
        "has_key": True,
        "roles": ["main"],
    }


def test_an_empty_standard_input_is_no_key(run: Home, server: OpenAIServer) -> None:
    added = run("provider", "add", "--address", server.base_url, "--key-stdin", stdin=b"\n")
    assert added.code == 1
    assert "Nothing came on standard input." in added.err
    assert run("provider", "list", "--json").value == []


def test_the_key_comes_from_a_named_variable_and_is_shown_nowhere(run: Home, server: OpenAIServer) -> None:
    added = run("provider", "add", "--name", "Mine", "--address", server.base_url, "--key-env", "MY_KEY", MY_KEY=KEY)
    assert added.code == 0
    assert "only you can read" in added.err
    server.script(Turn("one two three"), Turn(calls=[Call("note", {"word": "ready"})]))  # the doctor tests it too
    shown = [added, run("provider", "list"), run("provider", "list", "--json"), run("doctor")]
    assert all(KEY not in result.out + result.err for result in shown)
    assert stat.S_IMODE((run.path / "keys.json").stat().st_mode) == 0o600
    others = [file for file in run.path.rglob("*") if file.is_file() and file.name != "keys.json"]
    assert not any(KEY.encode() in file.read_bytes() for file in others)
    missing = run("provider", "add", "--name", "X", "--address", server.base_url, "--key-env", "NOT_SET")
    assert missing.code == 1
    assert "NOT_SET is not set" in missing.err


def test_there_is_no_option_for_the_key_itself(run: Home, server: OpenAIServer) -> None:
    assert run("provider", "add", "--address", server.base_url, "--key", KEY).code == 2


def test_a_test_prints_each_line_and_its_exit_code_says_whether_a_chat_would_work(
    run: Home, server: OpenAIServer
) -> None:
    id = add(run, server, "--key-stdin", stdin=KEY.encode())
    server.script(Turn("one two three"), Turn(calls=[Call("note", {"word": "ready"})]))
    tested = run("provider", "test", "Mine")
    assert tested.code == 0
    assert [line.split()[0] for line in tested.out.splitlines()] == [*["✓"] * 5, "○"]
    assert tested.out.splitlines()[-1] == "○ Embeddings  Not offered"
    assert "alpha, beta" in tested.out
    server.script(Turn(status=404, error="model alpha is gone"), Turn("no tool"))
    report = run("provider", "test", id, "--json")
    assert report.code == 1
    lines = {line["what"]: line for line in report.value["lines"]}
    assert lines["streaming"] == {"what": "streaming", "state": "failed", "message": "404 model alpha is gone"}
    assert lines["tools"]["state"] == "failed"


def test_a_server_that_is_away_is_set_up_without_models_and_said_so(run: Home) -> None:
    added = run("provider", "add", "--preset", "ollama", "--address", "http://127.0.0.1:9")
    assert added.code == 0
    assert "Connection refused" in added.err
    assert "without models" in added.err
    assert run("provider", "test", "Ollama").code == 1


def test_anthropic_is_added_by_its_name_and_tested(run: Home) -> None:
    with AnthropicServer(models=("claude-x", "claude-y", "claude-z"), key=KEY) as server:
        words = ("--preset", "anthropic", "--address", server.base_url, "--key-stdin", "--json")
        added = run("provider", "add", *words, stdin=KEY.encode())
        assert (added.value["name"], added.value["adapter"]) == ("Anthropic", "anthropic")
        assert added.value["models"] == ["claude-x", "claude-y", "claude-z"]
        server.script(Turn("one two three"), Turn(calls=[Call("note", {"word": "ready"})]))
        assert run("provider", "test", "Anthropic").code == 0
        server.script("Because of the lock.")
        assert run("ask", "Why does it hang?").out.strip() == "Because of the lock."


def test_ollama_is_spoken_to_in_its_own_protocol_whatever_address_was_typed(run: Home) -> None:
    with OllamaServer(models=("qwen3:8b",)) as server:
        added = run("provider", "add", "--preset", "ollama", "--address", f"{server.base_url}/v1", "--json")
        assert (added.value["adapter"], added.value["models"]) == ("ollama", ["qwen3:8b"])
        server.script("Because of the lock.")
        assert run("ask", "Why does it hang?").out.strip() == "Because of the lock."
        assert server.requests[0].path == "/api/chat"


def test_named_models_are_taken_without_asking(run: Home) -> None:
    added = run(
        "provider", "add", "--preset", "deepseek", "--model", "deepseek-chat", "--context-window", "64000", "--json"
    )
    assert (added.value["name"], added.value["models"]) == ("DeepSeek", ["deepseek-chat"])
    assert added.value["settings"] == {"context_window": 64000}


def test_a_removed_provider_is_gone_with_its_key(run: Home, server: OpenAIServer) -> None:
    id = add(run, server, "--key-stdin", stdin=KEY.encode())
    assert run("provider", "remove", "Mine").out.strip() == id
    assert run("provider", "list", "--json").value == []
    assert KEY not in (run.path / "keys.json").read_text()
    gone = run("provider", "remove", id)
    assert (gone.code, gone.err.count("\n")) == (1, 1)


@pytest.mark.parametrize(
    "words, code, says",
    [
        (("--preset", "nobody"), 2, "Presets: openai"),
        ((), 2, "--address"),
        (("--address", "ftp://x"), 1, "http"),
        (("--address", "https://me:pw@x.example"), 1, "password"),
    ],
)
def test_a_bad_provider_is_refused_in_one_line(run: Home, words: tuple[str, ...], code: int, says: str) -> None:
    added = run("provider", "add", *words)
    assert added.code == code
    assert says in added.err
    assert added.err.count("\n") == 1
    assert run("provider", "list", "--json").value == []
