"""A conversation that outgrows its model's window: the transcript says what was left out, and so does the meter."""

from devflow.app.i18n import translator
from devflow.app.paths import AppPaths
from devflow.domain.request import Measure
from devflow.ui.pages.chat.left_out import left_out_words
from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.ui.chat.conftest import OpenChat, eventually

LONG = "The harbour has a lighthouse, and the lighthouse has a keeper. " * 60


async def test_what_no_longer_fits_is_said_under_the_question_and_at_the_meter(
    open_chat: OpenChat, server: OpenAIServer
) -> None:
    server.context_window = 4_096
    server.script(LONG, LONG, "In short: yes.")
    async with open_chat(server) as chat:
        await chat.asked("first")
        assert not [each for each in chat.page.transcript.blocks if each.left_out]
        await chat.asked("second")
        await chat.asked("third")
        sent = len(server.kept("chat")[-1].messages) - 1
        words = f"{5 - sent} older messages no longer fit the model's window and are left out"
        await chat.shown(lambda: chat.last.left_out == words)
        line = chat.find("leftOutLine")
        assert line.accessibleName() == words
        assert "always sent whole" in line.toolTip()
        assert line.y() > chat.last.user.geometry().bottom()
        assert chat.page.transcript.blocks[0].left_out == ""
        meter = chat.page.composer.meter
        await eventually(lambda: meter.toolTip() == words)
        assert words in meter.accessibleName()
        id = chat.page.session.id
    async with open_chat() as chat:
        assert id is not None
        await chat.page.session.open(id)
        await chat.shown(lambda: bool(chat.page.transcript.blocks) and chat.last.left_out == words)


async def test_an_output_that_was_shortened_is_said_too(open_chat: OpenChat, server: OpenAIServer) -> None:
    server.context_window = 2_048
    async with open_chat(server) as chat:
        for number in range(3):
            await chat.publish(f"Harbour {number}", f"The harbour of project {number}. {LONG[:1_100]}")
        server.script(Turn(calls=[Call("knowledge_search", {"query": "harbour", "limit": 3})]), "It is long.")
        await chat.asked("hello")
        await chat.shown(lambda: chat.last.left_out == "1 long output is shortened to fit")


def test_the_words_name_what_was_left_out_and_nothing_else(paths: AppPaths) -> None:
    t = translator(paths.resources, "en")
    assert left_out_words(t, None) == ""
    assert left_out_words(t, Measure(window=4_096)) == ""
    assert left_out_words(t, Measure(trimmed=1)) == "1 older message no longer fits the model's window and is left out"
    assert left_out_words(t, Measure(without_tools=1)) == (
        "1 tool has no room in the model's window and is not offered"
    )
    both = left_out_words(t, Measure(trimmed=12, shortened=2))
    assert both == (
        "12 older messages no longer fit the model's window and are left out · 2 long outputs are shortened to fit"
    )
