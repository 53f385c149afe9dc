"""`devflow ask` as a real process: one headless turn through the same composer."""

from pathlib import Path

from devflow.domain.conversation import Origin
from devflow.domain.run import CallState
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.integration.agent.conftest import Bench
from tests.support.commands import devflow

QUESTION = "How should a sqlite transaction take the write lock?"
TITLE, CONTENT = "Take the sqlite write lock first", "A sqlite transaction begins IMMEDIATE to take the write lock."


async def test_offline_the_answer_quotes_the_library_with_its_reference(offline: Bench, home: Path) -> None:
    entry = await offline.publish(TITLE, CONTENT)
    asked = devflow(home, "ask", QUESTION)
    assert asked.code == 0
    assert "begins IMMEDIATE" in asked.out
    assert "[K1]" in asked.out
    assert entry.id in asked.err
    assert (await offline.core.knowledge.knowledge_get(entry.id)).reuse_count == 1


async def test_it_says_plainly_when_nothing_matches(offline: Bench, home: Path) -> None:
    await offline.publish(TITLE, CONTENT)
    asked = devflow(home, "ask", "What colour has the moon of Jupiter?")
    assert asked.code == 0
    assert "K1" not in asked.out
    assert "Nothing in the library matches." in asked.err


async def test_json_has_answer_sources_receipt_usage_and_events(bench: Bench, server: OpenAIServer, home: Path) -> None:
    entry = await bench.publish(TITLE, CONTENT)
    server.script("Begin IMMEDIATE [K1].")
    told = devflow(home, "ask", QUESTION, "--json").value
    assert told["answer"] == "Begin IMMEDIATE [K1]."
    (source,) = told["sources"]
    assert (source["id"], source["number"], source["cited"]) == (entry.id, "K1", True)
    match = source["match"]
    assert (match["tier"], match["fields"], match["similarity"]) == ("term", ["title", "content"], None)
    assert {"sqlite", "write", "lock"} <= set(match["places"]["title"]) <= set(match["terms"])
    assert told["receipt"]["library"]["outcome"] == "injected"
    assert told["receipt"]["pages"] == {"outcome": "not_used", "why": "no_kb"}
    assert told["usage"] == {"input_tokens": 100, "output_tokens": 10}
    assert [event["event"] for event in told["events"]][-1] == "run_changed"
    assert {"event": "library_search_done", "count": 1, "ids": [entry.id]}.items() <= next(
        event for event in told["events"] if event["event"] == "library_search_done"
    ).items()


async def test_the_turn_is_kept_as_a_conversation_of_the_command_line(
    bench: Bench, server: OpenAIServer, home: Path
) -> None:
    server.script("Yes.")
    told = devflow(home, "ask", QUESTION, "--json").value
    kept = await bench.core.conversations.get(told["conversation_id"])
    assert (kept.origin, kept.title) == (Origin.CLI, QUESTION)
    assert server.titles == []


async def test_no_inject_answers_without_the_library(bench: Bench, server: OpenAIServer, home: Path) -> None:
    await bench.publish(TITLE, CONTENT)
    server.script("Yes.")
    told = devflow(home, "ask", QUESTION, "--no-inject", "--json").value
    assert told["sources"] == []
    assert TITLE not in server.requests[0].system


async def test_only_the_tools_named_are_offered_and_they_run_without_asking(
    bench: Bench, server: OpenAIServer, home: Path
) -> None:
    server.script("No tools.", Turn(calls=[Call("write_file", {"path": "a.txt", "content": "x\n"})]), "Written.")
    workspace = str(bench.workspace)
    devflow(home, "ask", "Is it?", "--workspace", workspace)
    told = devflow(home, "ask", "Write.", "--workspace", workspace, "--allow", "write_file", "--json").value
    assert [request.tools for request in server.requests] == [[], ["write_file"], ["write_file"]]
    assert told["calls"][0]["state"] == CallState.DONE.value
    assert (bench.workspace / "a.txt").read_text() == "x\n"


async def test_an_unknown_tool_is_refused_with_the_names_there_are(offline: Bench, home: Path) -> None:
    asked = devflow(home, "ask", "Is it?", "--allow", "rm_rf")
    assert asked.code == 1
    assert "rm_rf" in asked.err
    assert "knowledge_search" in asked.err
    assert await offline.core.conversations.list() == ()


async def test_a_workspace_that_does_not_exist_is_refused(offline: Bench, home: Path, tmp_path: Path) -> None:
    assert devflow(home, "ask", "Is it?", "--workspace", str(tmp_path / "gone")).code == 1


async def test_the_question_can_come_from_standard_input(bench: Bench, server: OpenAIServer, home: Path) -> None:
    server.script("Yes.")
    assert devflow(home, "ask", "-", stdin="锁怎么取？".encode()).out == "Yes.\n"
    assert server.requests[0].last_user == "锁怎么取？"


async def test_no_question_is_wrong_usage_and_an_empty_one_is_refused(offline: Bench, home: Path) -> None:
    assert devflow(home, "ask").code == 2
    assert devflow(home, "ask", "  ").code == 1
    assert await offline.core.conversations.list() == ()


async def test_model_and_provider_can_be_named(bench: Bench, server: OpenAIServer, home: Path) -> None:
    server.script("Yes.", "Yes.")
    devflow(home, "ask", "Is it?", "--model", "other")
    assert server.requests[0].body["model"] == "other"
    devflow(home, "ask", "Is it?", "--provider", "Scripted")
    assert server.requests[1].body["model"] == "scripted"
    told = devflow(home, "ask", "Is it?", "--provider", "offline", "--json").value
    assert told["model"]["provider"] == "offline"
    gone = devflow(home, "ask", "Is it?", "--provider", "gone")
    assert gone.code == 1
    assert "Scripted" in gone.err


async def test_a_failing_server_is_an_error_with_what_to_do(bench: Bench, server: OpenAIServer, home: Path) -> None:
    server.script(Turn(status=401, error="Incorrect API key provided."))
    asked = devflow(home, "ask", "Is it?", "--json")
    assert asked.code == 1
    assert asked.out == ""
    assert '"hint"' in asked.err


async def test_an_answer_cut_at_the_output_limit_is_printed_with_its_problem(
    bench: Bench, server: OpenAIServer, home: Path
) -> None:
    server.script(Turn("Half of an", finish="length"), Turn("Half of an", finish="length"))
    asked = devflow(home, "ask", "Is it?", "--json")
    assert asked.code == 1
    assert (asked.value["answer"], asked.value["state"]) == ("Half of an", "failed")
    assert asked.value["problem"] == asked.error
    assert asked.error["code"] == "output_limit"
    assert "window" in asked.error["hint"]
    said = devflow(home, "ask", "Is it?")
    assert (said.code, said.out) == (1, "Half of an\n")
    assert "window" in said.err


async def test_an_answer_that_breaks_off_is_printed_with_its_problem(
    bench: Bench, server: OpenAIServer, home: Path
) -> None:
    server.script(Turn("Half of an", cut=True))
    asked = devflow(home, "ask", "Is it?", "--json")
    assert (asked.code, asked.value["answer"]) == (1, "Half of an")
    assert asked.value["problem"]["message"]
