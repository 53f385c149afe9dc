"""`devflow ask --template`: a prompt template of the library with its variables filled in."""

from collections.abc import Iterator

import pytest

from tests.fakes.openai_server import OpenAIServer
from tests.integration.cli.conftest import Home

TEXT = "Review the file {{file}} of the storage room for {{ what }}. Name the line."


@pytest.fixture
def server(run: Home) -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        run("provider", "add", "--name", "Fake", "--address", server.base_url, "--model", "small")
        run("config", "set", "main_model", "Fake/small")
        yield server


def test_the_variables_are_filled_in_and_the_answer_says_with_what_it_was_asked(
    run: Home, server: OpenAIServer
) -> None:
    id = _template(run)
    server.script("Line 7.")
    asked = run("ask", "--template", id, "--var", "file=a b.py", "--var", "what=locks {{file}} a=b", "--json")
    assert (
        server.requests[0].last_user
        == "Review the file a b.py of the storage room for locks {{file}} a=b. Name the line."
    )
    assert asked.value["answer"] == "Line 7."
    assert asked.value["template"] == {"id": id, "title": "Review a file", "version": 3}


def test_a_message_follows_the_templates_text(run: Home, server: OpenAIServer) -> None:
    id = _template(run, "Summarise this change.\n")
    server.script("One.", "Two.")
    run("ask", "--template", id, "Only the tests.")
    assert run("ask", "--template", id, "-", stdin=b"+ begin\n").out == "Two.\n"
    assert [request.last_user for request in server.requests] == [
        "Summarise this change.\n\nOnly the tests.",
        "Summarise this change.\n\n+ begin\n",
    ]


def test_the_template_is_not_told_a_second_time_as_knowledge(run: Home, server: OpenAIServer) -> None:
    id = _template(run)
    note = run.add("Storage room locks", "In the storage room the file locks begin with BEGIN IMMEDIATE.")
    run("knowledge", "approve", note)
    server.script("Line 7.", "Nothing.")
    told = run("ask", "--template", id, "--var", "file=a.py", "--var", "what=locks", "--json").value
    assert [source["id"] for source in told["sources"]] == [note]
    asked = run("ask", "How do I review the file of the storage room and name the line?", "--json").value
    assert id in [source["id"] for source in asked["sources"]]


@pytest.mark.parametrize(
    "words,code,says",
    [
        (("--var", "file=a.py"), 1, "The template needs a value for what. Its variables: file, what."),
        (("--var", "file=a", "--var", "what=b", "--var", "c=d"), 1, "The template has no variable c."),
        (("--var", "nothing=a"), 1, "needs a value for file, what, and has no variable nothing."),
        (("--var", "file"), 2, "--var 'file' names no value. Write it as NAME=VALUE."),
        (("--var", "=a"), 2, "--var '=a' names no value."),
        (("--var", "file=a", "--var", "file=b"), 2, "--var gives file twice."),
    ],
)
def test_values_that_are_not_those_of_its_variables_are_refused_in_one_line(
    run: Home, words: tuple[str, ...], code: int, says: str
) -> None:
    refused = run("ask", "--template", _template(run), *words)
    assert (refused.code, refused.out, refused.err.count("\n")) == (code, "", 1)
    assert says in refused.err
    assert run("conversation", "list", "--json").value == []


def test_what_is_no_published_prompt_template_is_refused(run: Home) -> None:
    pitfall = run.add()
    refused = run("ask", "--template", pitfall, "--json")
    assert (refused.code, refused.error["code"]) == (1, "invalid_input")
    assert "knowledge list --kind prompt_template" in refused.error["hint"]
    waiting = _template(run, publish=False)
    refused = run("ask", "--template", waiting, "--json")
    assert (refused.code, refused.error["code"]) == (1, "refused")
    assert "devflow knowledge approve" in refused.error["hint"]
    assert run("ask", "--template", "nobody", "--json").error["code"] == "not_found"
    without = run("ask", "Is it?", "--var", "a=b", "--json")
    assert (without.code, without.error["hint"]) == (2, "Name the template with --template ENTRY_ID.")


def _template(run: Home, text: str = TEXT, *, publish: bool = True) -> str:
    words = ("--kind", "prompt_template", "--title", "Review a file", "--content", text)
    id = run("knowledge", "add", *words).out.strip()
    if publish:
        run("knowledge", "approve", id)
    return id
