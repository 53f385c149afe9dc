"""Configured MCP servers as real processes: what they offer, what they answer, and how they live and die."""

import asyncio
import json
import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devflow.app.core import Core, close_core, open_core
from devflow.app.paths import app_paths
from devflow.domain.errors import UserFacing
from devflow.tools.mcp_config import Http, McpDraft, McpServer
from devflow.tools.mcp_servers import McpServers
from devflow.tools.mcp_source import McpSource
from devflow.tools.mcp_state import Phase
from devflow.tools.mcp_tool import McpTool
from devflow.tools.tool import ToolOutcome
from tests.support.mcp import FAKES, lives, odd, small, until

MakeSource = Callable[..., Awaitable[McpSource]]


@pytest.fixture
async def core(tmp_path: Path) -> AsyncIterator[Core]:
    opened = await open_core(app_paths(tmp_path / "home"), background=False)
    yield opened
    await close_core(opened)


@pytest.fixture
async def make(core: Core) -> AsyncIterator[MakeSource]:
    made: list[McpSource] = []

    async def source(*drafts: McpDraft, **options: Any) -> McpSource:
        servers = McpServers(core.settings, core.keys)
        for draft in drafts:
            await servers.add(draft)
        made.append(McpSource(servers, core.settings, core.hub, **options))
        return made[-1]

    yield source
    for one in made:
        await one.close()


async def only(source: McpSource) -> McpServer:
    (server,) = await source.servers.list()
    return server


async def tool(source: McpSource, name: str) -> McpTool:
    found = {each.spec.name.rpartition("__")[2]: each for each in await source.tools(None)}
    assert isinstance(found[name], McpTool)
    return found[name]  # type: ignore[return-value]


async def ask(source: McpSource, name: str, **arguments: Any) -> ToolOutcome:
    outcome = await (await tool(source, name)).run(arguments, None)  # type: ignore[arg-type]
    assert isinstance(outcome, ToolOutcome)
    return outcome


# what it offers and answers -----------------------------------------------------------------------------------------


async def test_a_server_offers_its_tools_and_answers_in_text(make: MakeSource) -> None:
    source = await make(small())
    tools = {each.spec.name: each.spec for each in await source.tools(None)}
    assert "mcp__small__echo" in tools
    assert tools["mcp__small__add"].parameters["required"] == ["a", "b"]
    assert "Add two numbers." in tools["mcp__small__add"].description
    assert await ask(source, "echo", text="grüezi 你好") == ToolOutcome("grüezi 你好")
    assert json.loads((await ask(source, "add", a=2, b=3)).text) == {"sum": 5}
    seen = (await ask(source, "picture")).text
    assert seen.startswith("one pixel\n[an image, image/png, ")
    assert seen.endswith("bytes: not shown to you]")


async def test_what_a_server_calls_an_error_is_a_failed_call(make: MakeSource) -> None:
    outcome = await ask(await make(small()), "fail")
    assert outcome.error.startswith("The MCP server small reports an error: ")
    assert "the flux is not capacitated" in outcome.error


@pytest.mark.parametrize("how", [(), ("--modern",)])
async def test_a_tool_that_a_server_learns_meanwhile_is_offered(make: MakeSource, how: tuple[str, ...]) -> None:
    """By the handshake and its notification; and where there is no handshake any more, by listening."""
    source = await make(small(*how))
    await ask(source, "learn", newcomer="newcomer")
    server = await only(source)
    await until(lambda: "newcomer" in source.state(server).tools)
    assert (await ask(source, "newcomer")).text == "I am newcomer"
    assert source.state(server).version == ("2026-07-28" if how else "2025-11-25")


async def test_odd_names_become_names_that_every_model_takes(make: MakeSource) -> None:
    source = await make(odd("names", name="größe 2"))
    names = [each.spec.name for each in await source.tools(None)]
    assert len(names) == len({*names})
    assert all(len(name) <= 64 and name.startswith("mcp__gr_e_2__") for name in names), names
    assert all(name.isascii() and name.replace("_", "").replace("-", "").isalnum() for name in names), names
    state = source.state(await only(source))
    assert (len(state.tools), state.left_out) == (7, ("name", "deep", "large", "unsound"))


async def test_a_description_is_cut_and_hides_nothing(make: MakeSource) -> None:
    source = await make(odd("names"))
    said = (await tool(source, "described")).spec.description
    assert said.startswith("Tool 'described' of the user's MCP server 'odd'; the server says of it: ab\\u202ecd\\x07")
    assert len(said) < 1_700


async def test_half_of_a_surrogate_pair_in_an_answer_is_marked(make: MakeSource) -> None:
    assert "cut \ufffd here" in (await ask(await make(odd(call_timeout=5)), "halves")).text


async def test_a_long_answer_is_cut_in_the_middle(make: MakeSource) -> None:
    text = (await ask(await make(odd()), "large")).text
    assert len(text) < 41_000
    assert text.startswith("begin xxx")
    assert text.endswith("xxx end")
    assert "characters were left out" in text


async def test_two_servers_are_started_side_by_side_and_keep_their_tools_apart(make: MakeSource) -> None:
    source = await make(odd(name="one"), odd(name="two"))
    names = {each.spec.name for each in await source.tools(None)}
    assert {"mcp__one__echo", "mcp__two__echo"} <= names


async def test_only_the_server_of_a_wanted_name_is_started(make: MakeSource) -> None:
    source = await make(odd(name="one"), odd(name="two"))
    assert [each.spec.name for each in await source.tools(None, ("mcp__two__pid", "read_file"))] == ["mcp__two__pid"]
    one, two = await source.servers.list()
    assert (source.state(one).phase, source.state(two).phase) == (Phase.STOPPED, Phase.RUNNING)


async def test_without_a_server_the_sdk_is_not_even_imported() -> None:
    program = (
        "import asyncio, sys, pathlib, tempfile\n"
        "from devflow.app.core import opened\n"
        "from devflow.app.paths import app_paths\n"
        "async def main():\n"
        "    with tempfile.TemporaryDirectory() as home:\n"
        "        async with opened(app_paths(pathlib.Path(home))) as core:\n"
        "            await core.mcp.tools(None)\n"
        "asyncio.run(main())\n"
        "print([name for name in ('mcp', 'mcp_types', 'httpx2', 'starlette') if name in sys.modules])\n"
    )
    ran = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (ran.stdout.strip(), ran.stderr) == ("[]", "")


async def test_the_windows_collector_never_walks_the_sdk(tmp_path: Path) -> None:
    """That would stop the window for 80 ms (`ui/garbage`: what is there at the start is set aside, too)."""
    program = (
        "import asyncio, gc, pathlib, sys\n"
        "gc.disable()\n"
        "from devflow.app.core import opened\n"
        "from devflow.app.paths import app_paths\n"
        "from tests.support.mcp import odd\n"
        "async def main():\n"
        "    async with opened(app_paths(pathlib.Path(sys.argv[1]))) as core:\n"
        "        server = await core.mcp.servers.add(odd())\n"
        "        gc.freeze()\n"
        "        print((await core.mcp.test(server)).phase.value, gc.get_count()[0] < 40_000)\n"
        "asyncio.run(main())\n"
    )
    ran = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert (ran.stdout.strip(), ran.stderr) == ("running True", "")


# how it dies --------------------------------------------------------------------------------------------------------


async def test_a_crash_fails_the_call_in_flight_and_the_next_one_works(make: MakeSource) -> None:
    source = await make(odd())
    before = (await ask(source, "pid")).text
    with pytest.raises(UserFacing) as failed:
        await ask(source, "crash")
    said = "The MCP server odd ended during the call (exit code 7: something broke inside)"
    assert str(failed.value) == f"{said}; the call may have had an effect."
    after = (await ask(source, "pid")).text
    assert after != before
    assert not lives(int(before))


async def test_a_server_that_keeps_dying_is_left_alone_for_a_while(make: MakeSource, tmp_path: Path) -> None:
    starts = tmp_path / "starts"
    source = await make(odd("counts", str(starts), "short"))
    for _ in range(6):
        await source.tools(None)
    assert len(starts.read_text(encoding="utf-8").splitlines()) <= 3
    state = source.state(await only(source))
    assert state.phase is Phase.FAILED


async def test_a_server_that_cannot_start_says_why_without_its_secrets(make: MakeSource) -> None:
    source = await make(odd("dies"))
    assert await source.tools(None) == ()
    ((server, problem),) = await source.failed()
    assert server.name == "odd"
    assert "cannot find my configuration" in str(problem)
    assert "abcdefghijkl" not in str(problem)


@pytest.mark.parametrize(
    "how, words",
    [
        ("babbles", "what it sends is not MCP"),
        ("roars", "it sent a message of more than 8 MB"),
        ("wrong", "protocol version"),
    ],
)
async def test_what_is_no_mcp_server_is_found_out(make: MakeSource, how: str, words: str) -> None:
    source = await make(odd(how))
    assert await source.tools(None) == ()
    ((_, problem),) = await source.failed()
    assert words in str(problem)


async def test_a_program_that_is_not_there_is_named_as_such(make: MakeSource) -> None:
    from devflow.tools.mcp_config import Stdio

    source = await make(McpDraft("nobody", Stdio("no-such-program-anywhere")))
    assert await source.tools(None) == ()
    ((_, problem),) = await source.failed()
    assert str(problem) == "The MCP server nobody could not be started: there is no such program or folder."


async def test_a_server_that_never_answers_does_not_hold_up_a_turn(make: MakeSource) -> None:
    source = await make(odd("silent", name="silent"), odd(name="good"), turn_wait_s=0.3)
    loop = asyncio.get_running_loop()
    await source.tools(None, ("mcp__good__echo",))  # imports the SDK
    began = loop.time()
    names = {each.spec.name.partition("__")[2] for each in await source.tools(None)}
    assert "good__echo" in names
    assert not any(name.startswith("silent") for name in names)
    await source.tools(None)
    assert loop.time() - began < 1.5  # the second look does not wait again


async def test_a_call_that_is_not_answered_in_time_fails(make: MakeSource) -> None:
    source = await make(odd(call_timeout=1))
    with pytest.raises(UserFacing, match="did not answer within 1 seconds"):
        await ask(source, "hang")
    assert (await ask(source, "echo", text="a")).text == 'echo: {"text": "a"}'


async def test_a_stopped_call_is_taken_back_from_the_server(make: MakeSource, tmp_path: Path) -> None:
    source = await make(odd())
    arrived = tmp_path / "arrived"
    call = asyncio.create_task(ask(source, "hang", text=str(arrived)))
    await until(arrived.exists)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert len(json.loads((await ask(source, "given_up")).text)) == 1


@pytest.mark.parametrize("name", ["flood", "endless"])
async def test_endless_output_ends_the_server_and_fails_the_call(make: MakeSource, name: str) -> None:
    source = await make(odd())
    with pytest.raises(UserFacing, match="ended during the call"):
        await ask(source, name)
    assert (await ask(source, "echo")).text == "echo: {}"


async def test_an_answer_that_is_not_mcp_fails_the_call_alone(make: MakeSource) -> None:
    source = await make(odd())
    pid = (await ask(source, "pid")).text
    with pytest.raises(UserFacing, match="answered with something that is not MCP"):
        await ask(source, "nonsense")
    assert (await ask(source, "pid")).text == pid


# how it lives -------------------------------------------------------------------------------------------------------


async def test_an_idle_server_is_ended_and_started_again_when_it_is_needed(make: MakeSource) -> None:
    source = await make(odd(), idle_s=0.3)
    pid = int((await ask(source, "pid")).text)
    server = await only(source)
    await until(lambda: source.state(server).phase is Phase.STOPPED)
    assert not lives(pid)
    assert int((await ask(source, "pid")).text) != pid


async def test_at_rest_nothing_is_planned_but_the_look_whether_it_is_idle(make: MakeSource) -> None:
    """So that neither side uses CPU (`python -m tests.tools.mcp_reference` measures it)."""
    source = await make(odd(name="one"), small(name="two"))
    await source.tools(None)

    async def planned() -> list[str]:
        loop: Any = asyncio.get_running_loop()
        return sorted(handle._callback.__qualname__ for handle in loop._scheduled if not handle.cancelled())

    assert await source._thread.run(planned) == ["Session._look_whether_idle"] * 2


@pytest.mark.parametrize("how", [(), ("deaf",), ("parent",)])
async def test_closing_leaves_no_process_behind(make: MakeSource, how: tuple[str, ...], tmp_path: Path) -> None:
    told = tmp_path / "child"
    source = await make(odd(*how, *([str(told)] if how == ("parent",) else [])))
    pids = [int((await ask(source, "pid")).text)]
    if how == ("parent",):
        pids.append(int(told.read_text(encoding="utf-8")))
    loop = asyncio.get_running_loop()
    began = loop.time()
    await source.close()
    assert loop.time() - began < 2.0
    await until(lambda: not any(map(lives, pids)), within=2)


async def test_servers_end_when_devflow_is_killed(make: MakeSource, tmp_path: Path) -> None:
    """Their input closes, and no other server holds it open."""
    program = (
        "import asyncio, pathlib, sys\n"
        "from devflow.app.core import opened\n"
        "from devflow.app.paths import app_paths\n"
        "from tests.support.mcp import odd\n"
        "async def main():\n"
        "    async with opened(app_paths(pathlib.Path(sys.argv[1]))) as core:\n"
        "        for name in ('one', 'two'):\n"
        "            server = await core.mcp.servers.add(odd(name=name))\n"
        "            print((await core.mcp.test(server)).pid, flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    killed = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(tmp_path / "other"), stdout=asyncio.subprocess.PIPE
    )
    assert killed.stdout is not None
    pids = [int(await killed.stdout.readline()) for _ in range(2)]
    assert all(map(lives, pids))
    killed.kill()
    await killed.wait()
    await until(lambda: not any(map(lives, pids)))


async def test_closing_does_not_wait_for_a_server_that_is_still_starting(make: MakeSource) -> None:
    source = await make(odd("silent"), turn_wait_s=0.2)
    await source.tools(None)
    pid = source.state(await only(source))
    loop = asyncio.get_running_loop()
    began = loop.time()
    await source.close()
    assert loop.time() - began < 2.0
    assert pid.phase is Phase.STARTING


async def test_a_server_gets_a_bare_environment_its_own_values_and_the_mark(make: MakeSource) -> None:
    environ = {**os.environ, "OPENAI_API_KEY": "sk-outside", "LANG": "C.UTF-8", "MINE": "from outside"}
    source = await make(small(values={"TOKEN": "its own", "REFERS": "${env:MINE}!"}), environ=environ)
    seen = json.loads((await ask(source, "environment")).text)
    assert "OPENAI_API_KEY" not in seen
    assert (seen["TOKEN"], seen["REFERS"], seen["DEVFLOW_AGENT_CHILD"]) == ("its own", "from outside!", "1")
    assert seen["LANG"] == "C.UTF-8"


async def test_a_reference_to_a_variable_that_is_not_set_is_named(make: MakeSource) -> None:
    source = await make(odd(values={"TOKEN": "${env:NO_SUCH_VARIABLE}"}))
    assert await source.tools(None) == ()
    ((_, problem),) = await source.failed()
    assert "The environment variable NO_SUCH_VARIABLE is not set" in str(problem)


async def test_a_server_that_is_switched_off_or_removed_ends_and_is_called_no_more(make: MakeSource) -> None:
    source = await make(odd())
    echo = await tool(source, "echo")
    server = await only(source)
    pid = int((await ask(source, "pid")).text)
    await source.servers.set_enabled(server.id, False)
    await until(lambda: not lives(pid))
    assert await source.tools(None) == ()
    with pytest.raises(UserFacing, match="was removed, switched off or changed"):
        await echo.run({}, None)  # type: ignore[arg-type]


async def test_a_changed_server_is_started_anew_with_what_it_is_now(make: MakeSource) -> None:
    source = await make(small(values={"COLOUR": "red"}))
    server = await only(source)
    assert json.loads((await ask(source, "environment")).text)["COLOUR"] == "red"
    await source.servers.change(server.id, small(values={"COLOUR": "blue"}))
    assert json.loads((await ask(source, "environment")).text)["COLOUR"] == "blue"


async def test_values_are_in_no_log_and_not_in_the_database(
    make: MakeSource, core: Core, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    source = await make(small(values={"TOKEN": "hunter2-hunter2"}))
    await ask(source, "echo", text="a")
    await source.close()
    assert "hunter2" not in caplog.text
    database = core.paths.database
    files = [file for file in database.parent.glob(f"{database.name}*") if file.is_file()]
    assert files
    assert not any(b"hunter2" in file.read_bytes() for file in files)


# behind an address --------------------------------------------------------------------------------------------------


class HttpServer:
    """The SDK's server behind an address, in a process of its own, so that it can be ended and started again."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port: int = probe.getsockname()[1]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    async def start(self) -> None:
        self._begin()
        await until(self._listens, within=20)

    def _begin(self) -> None:
        command = [sys.executable, str(FAKES / "mcp_server.py"), "--http", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


@pytest.fixture
def http_server() -> Iterator[HttpServer]:
    server = HttpServer()
    yield server
    server.stop()


async def test_a_server_behind_an_address_works_and_survives_its_restart(
    make: MakeSource, http_server: HttpServer
) -> None:
    await http_server.start()
    source = await make(McpDraft("remote", Http(http_server.url)))
    assert (await ask(source, "echo", text="far")).text == "far"
    assert "mcp__remote__add" in {each.spec.name for each in await source.tools(None)}
    http_server.stop()
    with pytest.raises(UserFacing, match="The MCP server remote ended"):
        await ask(source, "echo", text="nobody")
    await http_server.start()
    assert (await source.test(await only(source))).phase is Phase.RUNNING
    assert (await ask(source, "echo", text="again")).text == "again"


async def test_a_server_that_forgot_our_session_is_asked_for_a_new_one(
    make: MakeSource, http_server: HttpServer
) -> None:
    await http_server.start()
    source = await make(McpDraft("remote", Http(http_server.url)))
    assert (await ask(source, "echo", text="far")).text == "far"
    http_server.stop()
    await http_server.start()
    assert (await ask(source, "echo", text="again")).text == "again"


async def test_an_address_where_nobody_answers_is_said(make: MakeSource, http_server: HttpServer) -> None:
    source = await make(McpDraft("remote", Http(http_server.url)))
    assert await source.tools(None) == ()
    ((_, problem),) = await source.failed()
    assert str(problem).startswith("The MCP server remote could not be started: ")


async def test_headers_are_sent_and_a_refusal_is_named(make: MakeSource) -> None:
    heard: list[str] = []
    with _Refusing(heard) as port:
        url = f"http://127.0.0.1:{port}/mcp"
        source = await make(McpDraft("guarded", Http(url), values={"Authorization": "Bearer secret-token"}))
        assert await source.tools(None) == ()
    ((_, problem),) = await source.failed()
    assert "HTTP 401" in str(problem)
    assert "secret-token" not in str(problem)
    assert any("authorization: bearer secret-token" in request.lower() for request in heard)


class _Refusing:
    """Answers 401 to everything."""

    def __init__(self, heard: list[str]) -> None:
        self._heard = heard
        self._socket = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> int:
        threading.Thread(target=self._serve, daemon=True).start()
        return int(self._socket.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self._heard.append(connection.recv(65_536).decode("latin-1"))
                connection.sendall(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
