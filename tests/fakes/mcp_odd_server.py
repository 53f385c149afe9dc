"""An MCP server without the SDK, quick to start, and odd on demand: `python mcp_odd_server.py HOW…`.

Each HOW is a word: what it does otherwise than a good server (see `main`). It has the tools `echo`, `pid`, `crash`
(ends in the middle of the call), `hang` (never answers), `flood` (lines without end), `endless` (one line without end),
`large` (a text of a million characters), `halves` (half of a surrogate pair in its text), `nonsense` (an answer that is
not MCP) and `given_up` (the calls that the client gave up).
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HOW = sys.argv[1:]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = ["echo", "pid", "crash", "hang", "flood", "endless", "large", "halves", "nonsense", "given_up"]
given_up: list[Any] = []


def main() -> None:
    if "deaf" in HOW:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "parent" in HOW:  # a child that holds our streams open
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path(HOW[HOW.index("parent") + 1]).write_text(str(child.pid), encoding="utf-8")
    if "dies" in HOW:
        sys.exit("cannot find my configuration; api_key=sk-ant-REDACTED")
    if "counts" in HOW:
        with Path(HOW[HOW.index("counts") + 1]).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()}\n")
    if "greeting" in HOW:
        print("Welcome to the small server!", flush=True)
    if "babbles" in HOW:
        while True:
            print("all work and no play", flush=True)
    if "roars" in HOW:
        while True:
            os.write(1, b"x" * 65_536)
    for line in sys.stdin:
        message = json.loads(line)
        if "silent" not in HOW:
            answer(message)
    while "deaf" in HOW:
        time.sleep(1)


def answer(message: dict[str, Any]) -> None:
    match message.get("method"):
        case "initialize":
            version = "1905-06-30" if "wrong" in HOW else message["params"]["protocolVersion"]
            about = {"name": "odd", "version": "1"}
            say(message, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about})
            if "short" in HOW:
                sys.exit(3)
        case "tools/list":
            say(message, {"tools": odd_tools() if "names" in HOW else [tool(name) for name in TOOLS]})
        case "tools/call":
            call(message, message["params"]["name"], message["params"].get("arguments") or {})
        case "notifications/cancelled":
            given_up.append(message["params"]["requestId"])
        case "ping":
            say(message, {})
        case _ if "id" in message:
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}})


def call(message: dict[str, Any], name: str, arguments: dict[str, Any]) -> None:
    match name:
        case "crash":
            print("something broke inside", file=sys.stderr, flush=True)
            os._exit(7)
        case "hang":
            if "text" in arguments:
                Path(arguments["text"]).touch()
        case "flood":
            while True:
                send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})
        case "endless":
            while True:
                os.write(1, b"x" * 65_536)
        case "large":
            text(message, "begin " + "x" * 1_000_000 + " end")
        case "halves":
            text(message, "cut \ud83d here")
        case "nonsense":
            say(message, {"content": "this is no list"})
        case "pid":
            text(message, str(os.getpid()))
        case "given_up":
            text(message, json.dumps(given_up))
        case "refuse":
            send({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32602, "message": "not like that"}})
        case _:
            text(message, f"{name}: {json.dumps(arguments, sort_keys=True)}")


def odd_tools() -> list[dict[str, Any]]:
    deep: dict[str, Any] = {"type": "object"}
    for _ in range(60):
        deep = {"type": "object", "properties": {"a": deep}}
    return [
        tool("a.b/c"),
        tool("名字"),
        tool("name"),
        tool("name"),
        tool("x" * 90),
        tool("x" * 91),
        {**tool("described"), "description": "ab\u202ecd\x07 " + "blah " * 2_000},
        {**tool("deep"), "inputSchema": deep},
        {**tool("large"), "inputSchema": {**SCHEMA, "description": "x" * 50_000}},
        {**tool("bare"), "inputSchema": {"type": "object"}},
        {**tool("unsound"), "inputSchema": {"type": "object", "properties": {"a": {"type": "sometimes"}}}},
    ]


def tool(name: str) -> dict[str, Any]:
    said = Path(HOW[HOW.index("says") + 1]).read_text(encoding="utf-8") if "says" in HOW else f"Tool {name}."
    return {"name": name, "description": said, "inputSchema": SCHEMA}


def text(message: dict[str, Any], said: str) -> None:
    say(message, {"content": [{"type": "text", "text": said}]})


def say(message: dict[str, Any], result: dict[str, Any]) -> None:
    send({"jsonrpc": "2.0", "id": message["id"], "result": result})


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


main()
