"""The tools as the agent uses them: real files, a real library, and sentences for the model."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.errors import InvalidInput, UserFacing
from devflow.domain.knowledge import Project, Status, draft
from devflow.domain.run import Risk
from devflow.knowledge.service import Actor
from devflow.knowledge.settings import Settings
from devflow.tools.approval import rule_for
from devflow.tools.policy import BrokenRule, Effect, Rule
from devflow.tools.read_file import OUTPUT_MAX
from devflow.tools.registry import ToolContext, ToolOutcome, ToolRefused, Voided, parse_arguments, tools_for
from devflow.tools.rules import add_rule, read_rules, remove_rule
from devflow.tools.tool import needs_approval


async def call(ctx: ToolContext, name: str, preview: Any = None, **arguments: Any) -> str:
    """Run a tool as the agent does; the text that the model gets."""
    tool = tools_for(ctx)[name]
    outcome = await tool.run(parse_arguments(tool, json.dumps(arguments)), ctx, preview)
    assert isinstance(outcome, ToolOutcome)
    return outcome.text


async def preview_of(ctx: ToolContext, **arguments: Any) -> dict[str, Any]:
    tool = tools_for(ctx)["write_file"]
    shown = await tool.preview(parse_arguments(tool, json.dumps(arguments)), ctx)
    assert shown is not None
    return dict(shown)


def test_without_a_workspace_there_are_no_file_tools(ctx: ToolContext) -> None:
    on_files = {"list_dir", "read_file", "search_files", "write_file", "edit_file"}
    assert on_files < {*tools_for(ctx)}
    assert not on_files & {*tools_for(replace(ctx, project=None))}


def test_only_writing_to_a_file_asks(ctx: ToolContext) -> None:
    given = {
        "list_dir": {},
        "read_file": {"path": "app.py"},
        "search_files": {"pattern": "x"},
        "write_file": {"path": "app.py", "content": "x"},
        "edit_file": {"path": "app.py", "old_text": "one", "new_text": "1"},
        "knowledge_search": {"query": "x"},
        "propose_knowledge": {"kind": "pitfall", "title": "t", "content": "c"},
    }
    asks = []
    for name, arguments in given.items():
        tool = tools_for(ctx)[name]
        if needs_approval(tool, parse_arguments(tool, json.dumps(arguments)), ctx):
            asks.append(name)
    assert asks == ["write_file", "edit_file"]
    assert tools_for(ctx)["write_file"].risk is Risk.WRITES


async def test_rules_are_kept_and_revoked(ctx: ToolContext, settings: Settings) -> None:
    tool = tools_for(ctx)["write_file"]
    arguments = parse_arguments(tool, '{"path": "./app.py", "content": "x"}')
    assert ctx.project is not None
    rule = rule_for(tool.subject(arguments), ctx.project.path)
    assert rule is not None
    assert rule.pattern == "app.py"
    await add_rule(settings, rule)
    await add_rule(settings, rule)
    allowed = replace(ctx, rules=await read_rules(settings))
    assert len(allowed.rules) == 1
    assert not needs_approval(tool, arguments, allowed)
    assert needs_approval(tool, arguments, replace(allowed, read_untrusted=True))
    denied = replace(allowed, rules=(*allowed.rules, Rule(Effect.DENY, "write_file", ctx.project.path, "app.*")))
    with pytest.raises(ToolRefused, match="denies"):
        needs_approval(tool, arguments, denied)
    await remove_rule(settings, rule)
    assert await read_rules(settings) == ()


async def test_rules_that_cannot_be_read_never_allow_and_can_be_removed(settings: Settings) -> None:
    good = {"effect": "allow", "tool": "write_file", "workspace": "/p", "pattern": "a.py"}
    wide, odd = {**good, "pattern": "*"}, {**good, "effect": "maybe"}
    await settings.save("tool_rules", {"rules": [1, {}, wide, odd, {"effect": "deny", "tool": "write_file"}, good]})
    rules = await read_rules(settings)
    broken = [rule for rule in rules if isinstance(rule, BrokenRule)]
    assert [rule.effect for rule in broken] == [Effect.ASK] * 4 + [Effect.DENY]
    assert [(rule.tool, rule.workspace) for rule in broken] == [
        (None, None),
        (None, None),
        ("write_file", "/p"),
        ("write_file", "/p"),
        ("write_file", None),
    ]
    for rule in broken:
        await remove_rule(settings, rule)
    assert await read_rules(settings) == (Rule(Effect.ALLOW, "write_file", "/p", "a.py"),)
    await add_rule(settings, broken[0])  # a removal that is undone
    assert broken[0] in await read_rules(settings)


# files --------------------------------------------------------------------------------------------------------------


async def test_a_folder_is_listed_with_what_is_not_opened(ctx: ToolContext, root: Path) -> None:
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "x.py").write_text("")
    (root / ".git").mkdir()
    (root / "link").symlink_to("/etc")
    assert (await call(ctx, "list_dir")).splitlines() == [
        ".git/ [protected]",
        "src/",
        "app.py (14 bytes)",
        "link [symbolic link, not followed]",
    ]
    assert "src/x.py (0 bytes)" in (await call(ctx, "list_dir", depth=2)).splitlines()
    assert await call(ctx, "list_dir", path="src/deep") == "(the folder is empty)"
    (root / "src" / "deep" / "odd ").mkdir()
    (root / "src" / "deep" / "odd " / "in it").write_text("")
    assert "odd /in it (0 bytes)" in (await call(ctx, "list_dir", path="src/deep", depth=2)).splitlines()


async def test_a_large_folder_says_that_more_was_left_out(ctx: ToolContext, root: Path) -> None:
    for number in range(600):
        (root / f"file{number:03}").touch()
    lines = (await call(ctx, "list_dir")).splitlines()
    assert len(lines) == 501
    assert "left out" in lines[-1]


async def test_a_file_is_read_whole_or_by_lines(ctx: ToolContext) -> None:
    assert await call(ctx, "read_file", path="app.py") == "one\ntwo\nthree\n"
    assert await call(ctx, "read_file", path="app.py", start_line=2, end_line=2) == "two\n[lines 2–2 of 3]"
    with pytest.raises(ToolRefused, match="3 lines"):
        await call(ctx, "read_file", path="app.py", start_line=9)
    with pytest.raises(ToolRefused, match="before"):
        await call(ctx, "read_file", path="app.py", start_line=2, end_line=1)
    with pytest.raises(ToolRefused, match="no file"):
        await call(ctx, "read_file", path="gone.py")


async def test_a_long_file_comes_in_parts_that_join(ctx: ToolContext, root: Path) -> None:
    whole = "".join(f"line {number} {'x' * 50}\n" for number in range(3000))
    (root / "long.txt").write_text(whole)
    got, at = "", 1
    while True:
        text = await call(ctx, "read_file", path="long.txt", start_line=at)
        body, _, note = text.rpartition("\n[")
        assert len(text) <= OUTPUT_MAX + 200
        got += body + "\n"
        if "go on with start_line=" not in note:
            break
        at = int(note.split("start_line=")[1].rstrip("]"))
    assert got == whole


async def test_other_encodings_are_read_and_named(ctx: ToolContext, root: Path) -> None:
    (root / "old.txt").write_bytes("写锁\n".encode("gb18030"))
    assert await call(ctx, "read_file", path="old.txt") == "写锁\n[read as gb18030]"
    (root / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    with pytest.raises(ToolRefused, match="binary"):
        await call(ctx, "read_file", path="picture.png")


async def test_one_endless_line_is_cut_and_the_note_says_so(ctx: ToolContext, root: Path) -> None:
    (root / "min.js").write_text("x" * (OUTPUT_MAX * 2))
    text = await call(ctx, "read_file", path="min.js")
    assert len(text) < OUTPUT_MAX + 200
    assert "longer than what is shown" in text


async def test_a_write_shows_its_diff_and_the_hash_of_what_it_was_made_from(ctx: ToolContext) -> None:
    shown = await preview_of(ctx, path="./app.py", content="one\nTWO\nthree\n")
    assert shown["path"] == "app.py"
    assert (shown["exists"], shown["added"], shown["removed"]) == (True, 1, 1)
    assert len(shown["base_hash"]) == 64
    assert "-two\n+TWO" in shown["diff"]
    assert await preview_of(ctx, path="./app.py", content="one\nTWO\nthree\n") == shown
    json.dumps(shown)


async def test_a_new_file_is_a_diff_from_nothing(ctx: ToolContext, root: Path) -> None:
    shown = await preview_of(ctx, path="new/note.md", content="# Hi")
    assert (shown["exists"], shown["base_hash"]) == (False, "")
    assert shown["diff"].startswith("--- /dev/null\n+++ b/new/note.md")
    assert "No newline at end of file" in shown["diff"]
    assert not (root / "new").exists()
    assert "created" in await call(ctx, "write_file", shown, path="new/note.md", content="# Hi")
    assert (root / "new/note.md").read_text() == "# Hi"


async def test_a_name_of_several_lines_adds_none_to_the_diff(ctx: ToolContext) -> None:
    """They would be read as lines of the change, and one that begins with a bracket as its end."""
    shown = await preview_of(ctx, path="a\n@@ -1 +1 @@\n+harmless\n[/run.sh", content="evil\n")
    assert shown["diff"].split("\n")[2:] == ["@@ -0,0 +1 @@", "+evil"]


async def test_a_file_that_changed_after_its_diff_was_shown_voids_the_approval(ctx: ToolContext, root: Path) -> None:
    arguments = {"path": "app.py", "content": "ours\n"}
    shown = await preview_of(ctx, **arguments)
    (root / "app.py").write_text("theirs\n")
    outcome = await tools_for(ctx)["write_file"].run(arguments, ctx, shown)
    assert isinstance(outcome, Voided)
    assert "-theirs\n+ours" in outcome.preview["diff"]
    assert (root / "app.py").read_text() == "theirs\n"
    assert "replaced" in await call(ctx, "write_file", outcome.preview, **arguments)
    assert (root / "app.py").read_text() == "ours\n"


async def test_a_file_made_meanwhile_voids_the_approval_of_a_new_one(ctx: ToolContext, root: Path) -> None:
    arguments = {"path": "new.txt", "content": "ours\n"}
    shown = await preview_of(ctx, **arguments)
    (root / "new.txt").write_text("theirs\n")
    assert isinstance(await tools_for(ctx)["write_file"].run(arguments, ctx, shown), Voided)


async def test_encoding_and_line_ends_of_a_file_are_kept(ctx: ToolContext, root: Path) -> None:
    (root / "old.txt").write_bytes("写锁\r\n第二行\r\n".encode("gb18030"))
    shown = await preview_of(ctx, path="old.txt", content="写锁\n第三行\n")
    assert (shown["added"], shown["removed"]) == (1, 1)
    await call(ctx, "write_file", shown, path="old.txt", content="写锁\n第三行\n")
    assert (root / "old.txt").read_bytes() == "写锁\r\n第三行\r\n".encode("gb18030")


async def test_the_same_content_is_not_written_again(ctx: ToolContext, root: Path) -> None:
    before = (root / "app.py").stat().st_ino
    assert "already" in await call(ctx, "write_file", path="app.py", content="one\ntwo\nthree\n")
    assert (root / "app.py").stat().st_ino == before


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", "../x", "/etc/cron.d/x", ".env", "link/x"])
async def test_no_approval_card_is_made_for_a_write_that_leads_out(ctx: ToolContext, root: Path, path: str) -> None:
    (root / "link").symlink_to("/tmp")
    with pytest.raises(UserFacing):
        await preview_of(ctx, path=path, content="x")
    with pytest.raises(UserFacing):
        await call(ctx, "write_file", path=path, content="x")


# the library --------------------------------------------------------------------------------------------------------


async def publish(ctx: ToolContext, title: str, content: str) -> None:
    done = await ctx.knowledge.knowledge_create(draft(kind="pitfall", title=title, content=content, tags=["db"]))
    await ctx.knowledge.knowledge_approve([done.entries[0].id], actor=Actor.user())


async def test_the_library_is_searched_published_entries_only(ctx: ToolContext) -> None:
    await publish(ctx, "Take the write lock first", "BEGIN IMMEDIATE avoids SQLITE_BUSY. " * 100)
    await ctx.knowledge.knowledge_create(
        draft(kind="pitfall", title="Write lock draft", content="SQLITE_BUSY secret draft")
    )
    text = await call(ctx, "knowledge_search", query="SQLITE_BUSY write lock")
    assert text.startswith("## Take the write lock first\n(pitfall; changed ")
    assert "more characters]" in text
    assert "secret draft" not in text
    assert await call(ctx, "knowledge_search", query="giraffes") == "No published entry matches."
    assert await call(ctx, "knowledge_search", query="SQLITE_BUSY", kind="diagnosis") == "No published entry matches."


async def test_a_proposal_becomes_a_candidate_with_its_conversation_and_project(ctx: ToolContext) -> None:
    text = await call(ctx, "propose_knowledge", kind="pitfall", title="Locks", content="Take it first.", confidence=0.7)
    assert "inbox" in text
    (entry,) = (await ctx.knowledge.knowledge_list_candidates()).entries
    assert (entry.status, entry.source_ref, entry.confidence) == (Status.CANDIDATE, "conv:conversation-1", 0.7)
    assert isinstance(entry.project, Project)
    assert (await ctx.knowledge.knowledge_timeline(entry.id))[0].actor == "ai"
    assert "already" in await call(ctx, "propose_knowledge", kind="pitfall", title="locks ", content="take it first.")
    assert await ctx.knowledge.inbox_count() == 1


async def test_a_proposal_that_breaks_the_rules_is_refused_with_the_rule(ctx: ToolContext) -> None:
    with pytest.raises(InvalidInput, match="more than one line"):
        await call(ctx, "propose_knowledge", kind="pitfall", title="two\nlines", content="x")
    with pytest.raises(ToolRefused, match="one of pitfall"):
        await call(ctx, "propose_knowledge", kind="gossip", title="t", content="x")
    assert await ctx.knowledge.inbox_count() == 0
