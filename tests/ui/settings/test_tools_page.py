"""Settings, Tools: the rules by which calls are allowed, asked about or denied, and their end."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from devflow.app.core import opened
from devflow.app.paths import AppPaths
from devflow.tools.policy import Effect, Rule
from devflow.tools.rules import GROUP, add_rule, read_rules, remove_rule
from tests.e2e.conftest import Start
from tests.support import hands
from tests.support.person import Person
from tests.support.settings import CTRL, settings

SINCE = datetime(2026, 3, 9, 12, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "inkwell"
    made.mkdir()
    return made


def rule(folder: Path, pattern: str = "src/*", effect: Effect = Effect.ALLOW, **more: object) -> Rule:
    return Rule(effect, "write_file", str(folder), pattern, since=SINCE, **more)  # type: ignore[arg-type]


async def keep(person: Person, *rules: Rule) -> None:
    for each in rules:
        await add_rule(person.core.settings, each)


def rows() -> list[str]:
    return [row.accessibleName() for row in hands.visible("ruleRow")]


async def test_without_rules_the_page_says_what_asks_and_where_rules_come_from(start: Start) -> None:
    async with start() as person, settings(person, "Tools"):
        await person.finds("rulesEmpty")
        assert "“Always allow…” on a call's card makes a rule" in hands.words(hands.find("rulesEmpty"))


async def test_each_rule_is_shown_whole_the_strictest_first(start: Start, folder: Path) -> None:
    async with start() as person:
        conversation = await person.core.conversations.create()
        await person.core.conversations.rename(conversation.id, "The harbour")
        await keep(
            person,
            rule(folder, after_untrusted=True),
            rule(folder, "notes.md", conversation_id=conversation.id),
            rule(folder, "*", Effect.DENY),
        )
        async with settings(person, "Tools"):
            await person.until(lambda: len(rows()) == 3, "three rules")
            assert rows() == [
                "Deny Write *, inkwell · since 9 Mar",
                "Allow Write src/*, inkwell · also after reading untrusted text · since 9 Mar",
                "Allow Write notes.md, inkwell · only in “The harbour” · since 9 Mar",
            ]


async def test_a_rule_of_a_folder_that_is_gone_says_so(start: Start, folder: Path) -> None:
    async with start() as person:
        await keep(person, rule(folder / "given-up"))
        async with settings(person, "Tools"):
            await person.sees("given-up (this folder is gone)", on="settingsTools")


async def test_revoking_counts_at_once_and_undo_brings_the_rule_back(start: Start, folder: Path) -> None:
    kept, other = rule(folder), rule(folder, "notes.md")
    async with start() as person:
        await keep(person, kept, other)
        async with settings(person, "Tools"):
            await person.until(lambda: len(rows()) == 2, "two rules")
            await person.clicks(hands.visible("revokeRuleButton")[0])
            await person.until(lambda: len(rows()) == 1, "one rule")
            assert await read_rules(person.core.settings) == (other,)
            await person.sees("Revoked: Write src/*", on="settingsTools")
            await person.clicks("undoButton")
            await person.until(lambda: len(rows()) == 2, "both rules")
            assert {*await read_rules(person.core.settings)} == {kept, other}

            await person.clicks(hands.visible("revokeRuleButton")[0])
            await person.until(lambda: len(rows()) == 1, "one rule")
            hands.press_on(hands.find("settingsDialog"), Qt.Key.Key_Z, CTRL)
            await person.until(lambda: len(rows()) == 2, "both rules again")


async def test_what_another_process_adds_or_revokes_is_seen_in_the_open_dialog(
    start: Start, paths: AppPaths, folder: Path
) -> None:
    kept = rule(folder)
    async with start() as person, settings(person, "Tools"), opened(paths, background=False) as other:
        await person.finds("rulesEmpty")
        await add_rule(other.settings, kept)
        await person.until(lambda: len(rows()) == 1, "the rule of the other process")
        await remove_rule(other.settings, kept)
        await person.finds("rulesEmpty")


async def test_a_rule_that_cannot_be_read_is_shown_and_can_be_removed(start: Start, folder: Path) -> None:
    good = rule(folder)
    async with start() as person:
        await keep(person, good)
        stored = await person.core.settings.get(GROUP)
        await person.core.settings.save(GROUP, {"rules": [*stored["rules"], {"effect": "deny", "tool": "write_file"}]})
        async with settings(person, "Tools"):
            await person.until(lambda: len(rows()) == 2, "both rows")
            assert "cannot be read: until it is removed, it denies" in rows()[0]
            await person.clicks(hands.visible("revokeRuleButton")[0])
            await person.until(lambda: len(rows()) == 1, "the good one alone")
            assert await read_rules(person.core.settings) == (good,)


async def test_the_search_field_finds_the_rules(start: Start) -> None:
    async with start() as person, settings(person):
        await person.clicks("settingsSearch")
        hands.type_text("always allow")
        hands.press(Qt.Key.Key_Return)
        await person.finds("settingsTools")


async def test_a_rule_that_denies_can_be_written_by_hand(start: Start, folder: Path) -> None:
    async with start() as person:
        await person.core.projects.ensure(folder)
        async with settings(person, "Tools") as dialog:
            await person.clicks("addRuleButton")
            await person.clicks("rulePattern")
            hands.press(Qt.Key.Key_Return)
            await person.sees("The pattern is empty.", on="ruleDialog")
            await dialog.chooses("ruleTool", "Write · write_file")
            await person.clicks(hands.find("ruleEffect").part(1))  # type: ignore[attr-defined]  # our own Segmented
            await dialog.types("rulePattern", "secrets")
            await person.clicks("acceptButton")
            await person.until(lambda: len(rows()) == 1, "the rule")
            (made,) = await read_rules(person.core.settings)
            assert made == Rule(Effect.DENY, "write_file", str(folder), "secrets")


async def test_closing_right_after_revoking_revokes(start: Start, folder: Path) -> None:
    async with start() as person:
        await keep(person, rule(folder))
        async with settings(person, "Tools"):
            await person.until(lambda: len(rows()) == 1, "the rule")
            await person.clicks("revokeRuleButton")
            hands.press_on(hands.find("settingsDialog"), Qt.Key.Key_Escape)
            await person.misses("settingsDialog")
        async with asyncio.timeout(10):
            while True:
                if not await read_rules(person.core.settings):
                    return
                await asyncio.sleep(0)
