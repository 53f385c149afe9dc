"""Every command once or more with `--json`, on one home: what it printed, by its name."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Call, Request, Turn
from tests.integration.cli.conftest import Home
from tests.integration.extraction.bench import QUESTION, REPLY, item, items
from tests.support.mcp import FAKES
from tests.support.pages import ARTICLES, write

Printed = dict[str, list[Any]]

TEMPLATE = "Explain {{what}} in two sentences."
ZEBRA = "A zebra crossing: look both ways."


CHAT = {
    "uuid": "5a1b0a5e-3f1f-4a53-8d5c-6f4b3c2d1e0f",
    "name": "About zebras",
    "created_at": "2026-01-02T03:04:05Z",
    "updated_at": "2026-01-02T03:04:06Z",
    "chat_messages": [
        {"uuid": "a", "sender": "human", "text": "What is a zebra?", "created_at": "2026-01-02T03:04:05Z"},
        {"uuid": "b", "sender": "assistant", "text": "A striped horse.", "created_at": "2026-01-02T03:04:06Z"},
    ],
}


class Recorder:
    """Runs commands and keeps the values that they print, under the command's name."""

    def __init__(self, run: Home) -> None:
        self._run = run
        self.printed: Printed = {}

    def __call__(self, *words: str, code: int = 0, stdin: bytes = b"", acts: int = 1, name: str = "") -> Any:
        """`acts`: so many of the words are the command's name, if it is not given."""
        said = self._run(*words, "--json", stdin=stdin)
        assert (said.code, said.err) == (code, ""), (words, said)
        self.printed.setdefault(name or " ".join(words[:acts]), []).append(said.value)
        return said.value

    def act(self, *words: str, code: int = 0, stdin: bytes = b"") -> Any:
        return self(*words, code=code, stdin=stdin, acts=2)


class TalkingServer(DigestServer):
    """Answers questions with what is scripted, and everything else by itself."""

    def __init__(self) -> None:
        super().__init__(lambda request, name, before: Turn(status=400, error="no") if "broken" in name else None)
        self.turns: list[Turn] = []

    def chat(self, request: Request) -> Turn:
        if request.purpose == "extraction":
            return Turn(items(item()))
        return self.turns.pop(0) if self.turns else Turn("Say it [K1].")


def every_command(run: Home, folder: Path) -> Printed:
    told = Recorder(run)
    _on_an_empty_home(told)
    _the_library(told, folder)
    _the_settings(told)
    with TalkingServer() as server:
        _the_providers(told, server)
        base = _the_bases(told, folder)
        _the_questions(told, server, base, folder)
        _the_conversations(told, server, folder)
    _other_tools(told, folder)
    _the_home(told, folder)
    return told.printed


def _on_an_empty_home(told: Recorder) -> None:
    for words in (
        ("knowledge", "list"),
        ("knowledge", "search", "nothing"),
        ("knowledge", "inbox"),
        ("knowledge", "stats"),
        ("knowledge", "reembed"),
        ("config", "get"),
        ("kb", "list"),
        ("skills", "list"),
        ("conversation", "list"),
        ("provider", "list"),
        ("mcp-servers", "list"),
    ):
        told.act(*words)


def _the_library(told: Recorder, folder: Path) -> None:
    add = ("knowledge", "add", "--kind", "pitfall", "--title")
    zebra = told.act(*add, "Zebra crossing", "--content", ZEBRA, "--tag", "street", "--project", str(folder))["id"]
    lion = told.act(*add, "Lion crossing", "-", stdin=b"A zebra crossing where lions look both ways.")["id"]
    wait = "The write lock of the storage room is waited for with a timeout of {} seconds, then the job gives up."
    short = told.act(*add, "Wait for the write lock", "--content", wait.format(5))["id"]
    told.act(*add, "How long the write lock is waited for", "--content", wait.format(30))
    told.act("knowledge", "similar", short)
    for words in (
        ("edit", zebra, "--title", "Zebra crossings"),
        ("status", lion, "pending_review"),
        ("approve", zebra, lion),
        ("list", "--tag", "street"),
        ("search", "zebra", "--all"),
        ("search", "How do zebras look both ways?"),
        ("get", zebra),
        ("similar", zebra),
        ("reuse", zebra),
        ("archive", zebra, lion, "--reason", "old"),
        ("list", "--status", "archived"),
        ("restore", zebra, lion),
        ("archive", lion),
        ("restore", lion),
        ("approve", lion),
        ("inbox",),
        ("timeline", zebra),
        ("stats",),
    ):
        told.act("knowledge", *words)
    merged = told.act("knowledge", "merge", lion, zebra)
    told.act("knowledge", "undo", merged["operation"])
    told.act("knowledge", "erase", lion)


def _the_settings(told: Recorder) -> None:
    told.act("config", "set", "min_messages", "2")
    told.act("config", "set", "theme", "dark")
    told("config", "get", "min_messages", name="config get KEY")
    told("config", "get", "appearance", name="config get KEY")


def _the_providers(told: Recorder, server: TalkingServer) -> None:
    server.turns += [Turn("ok"), Turn("ok")]
    told.act("provider", "add", "--name", "Fake", "--address", server.base_url, "--context-window", "32000")
    told.act("provider", "test", "Fake")
    told.act("config", "set", "main_model", "Fake/small")
    told.act("config", "set", "digest_model", "Fake/small")
    told.act("config", "set", "extraction_model", "Fake/small")
    told.act("config", "set", "daily_texts", "100")
    told.act("config", "set", "embedding_model", "some")
    told.act("config", "set", "embedding_provider_id", "builtin")
    told.act("config", "get")
    told.act("provider", "list")


def _the_bases(told: Recorder, folder: Path) -> Path:
    root = write(folder / "writing", ARTICLES)
    (root / "wiki" / "big.md").write_bytes(b"x" * 6_000_000)
    told.act("kb", "open", str(root))
    made = folder / "made"
    made.mkdir()
    told.act("kb", "init", str(made), "--purpose", "crossings")
    told.act("kb", "search", "zebra", "--kb", str(write(folder / "third", {"wiki/zebra.md": f"# Zebra\n\n{ZEBRA}"})))
    told.act("kb", "list")
    told.act("kb", "use", "writing")
    told.act("kb", "list")
    told.act("kb", "pages")
    told.act("kb", "search", "一人公司")
    told.act("kb", "use", "made")
    files = write(folder / "files", {"zebra.md": f"# Zebra\n\n{ZEBRA}", "broken.md": "# Broken\n\nNo."})
    told.act("kb", "digest", str(files), code=1)
    told.act("kb", "digest", str(files / "zebra.md"))
    return root


def _the_questions(told: Recorder, server: TalkingServer, base: Path, folder: Path) -> None:
    skill = folder / "home" / "skills" / "short"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text(
        "---\nname: short\ndescription: Answers shortly.\n---\nBe short.\n", encoding="utf-8"
    )
    (skill.parent / "bad").mkdir()
    (skill.parent / "bad" / "SKILL.md").write_text("no front matter", encoding="utf-8")
    told.act("skills", "list")
    words = ("--kind", "prompt_template", "--title", "Explain", "--content", TEMPLATE)
    template = told.act("knowledge", "add", *words)["id"]
    zebra = told.act("knowledge", "search", "zebra", "--all")[0]["id"]
    told.act("knowledge", "approve", template, zebra)
    told("ask", "How do zebras look both ways at a crossing?", "--provider", "offline", "--workspace", str(folder))
    server.turns += [Turn(calls=[Call("list_dir", {"path": "."})]), Turn(calls=[Call("list_dir", {"path": "nowhere"})])]
    asked = ("--skill", "short", "--kb", str(base), "--workspace", str(folder), "--allow", "list_dir")
    told("ask", "--template", template, "--var", "what=OpenClaw 自媒体", *asked)
    told("ask", "A question without the library", "--no-inject")
    server.turns.append(Turn(REPLY))
    told("ask", QUESTION)
    told("extract")
    told("extract")
    told.act("knowledge", "inbox")
    told.act("knowledge", "stats")


def _the_conversations(told: Recorder, server: TalkingServer, folder: Path) -> None:
    listed = told.act("conversation", "list")
    with_base = next(one["id"] for one in listed if one["kb_id"])
    for one in listed:
        told.act("conversation", "export", one["id"])
    target = folder / "told.html"
    told("conversation", "export", "-o", str(target), with_base, acts=3)
    server.turns.append(Turn(page_for(f"# Two sentences\n\n{ZEBRA}")))
    told.act("kb", "sediment", with_base)
    told.act("config", "set", "main_model", "offline")
    told.act("config", "set", "digest_model", "none")
    told.act("kb", "sediment", with_base)


def _other_tools(told: Recorder, folder: Path) -> None:
    for client in ("claude-code", "codex", "cursor"):
        told("mcp", "--print-config", client, acts=2)
    file = folder / "servers.json"
    row = {"command": sys.executable, "args": [str(FAKES / "mcp_odd_server.py")]}
    file.write_text(json.dumps({"mcpServers": {"odd": row, "gone": {"command": "/no/such/program"}}}), encoding="utf-8")
    told.act("mcp-servers", "import", str(file))
    told.act("mcp-servers", "list")
    told.act("mcp-servers", "test", "odd")
    told.act("mcp-servers", "test", "gone", code=1)
    told.act("mcp-servers", "remove", "gone")


def _the_home(told: Recorder, folder: Path) -> None:
    told("export", str(folder / "library.zip"))
    told("import", str(folder / "library.zip"))
    notes = write(
        folder / "notes", {"lock.md": "# Lock\n\nTake it first.", "zebra.md": f"# Zebra crossings\n\n{ZEBRA}"}
    )
    (notes / "bad.md").write_bytes(b"\xff\xfe\x00 no text")
    told("import", "--dry-run", str(notes), code=1)
    told("import", str(notes), code=1)
    chats = folder / "conversations.json"
    chats.write_text(json.dumps([CHAT]), encoding="utf-8")
    told("import", str(chats))
    told.act("samples", "load")
    told.act("samples", "remove")
    told.act("provider", "remove", "Fake")
    told("doctor")
    copy = told("backup", str(folder / "copy.db"))
    told("restore", copy["backup"])
