"""The sample wiki in the window: it comes with the samples, the chat goes on in it, and it goes with them."""

from pathlib import Path

import pytest

from devflow.knowledge.acts import Actor
from tests.e2e.conftest import Start
from tests.support.pages import write
from tests.support.person import Person
from tests.support.settings import settings

NAME = "DevFlow handbook"


async def chat_is_in(person: Person, name: str) -> None:
    await person.until(lambda: name in person.words("kbPicker"), f"the chat is in {name}")


async def test_after_loading_the_first_question_is_answered_from_the_wiki(start: Start) -> None:
    async with start() as person:
        await person.clicks("loadSamplesButton")
        await chat_is_in(person, NAME)
        await person.asks("How do files become pages?")
        await person.is_answered("wiki/topics/digest.md")


async def test_removing_takes_the_chat_out_of_the_wiki_and_keeps_what_was_typed(start: Start) -> None:
    async with start() as person:
        await person.clicks("loadSamplesButton")
        await chat_is_in(person, NAME)
        person.types("a word")
        await person.clicks("removeSamplesButton")
        await chat_is_in(person, "No KB")
        assert person.words("composer") == "a word"
        assert await person.core.bases.list() == ()


@pytest.mark.parametrize("changed", [True, False])
async def test_pages_that_were_changed_stay_and_that_is_said(start: Start, changed: bool) -> None:
    async with start() as person:
        await person.core.samples.load("en", actor=Actor.user())
        (base,) = await person.core.bases.list()
        if changed:
            write(Path(base.path), {"wiki/topics/mine.md": "# Mine"})
        async with settings(person, "Data"):
            await person.sees("12 entries and a small wiki about DevFlow are there.", on="settingsData")
            await person.clicks("samplesButton")
            if changed:
                await person.sees("1 page of the sample wiki that you changed or added is still in", on="messageDialog")
                await person.clicks("cancelButton")
            await person.sees("to try it with", on="settingsData")
        assert len(await person.core.bases.list()) == changed
