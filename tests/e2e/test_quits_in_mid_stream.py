"""Closing the window while an answer streams: nothing is left of it but its text (spec 03, Providers)."""

from tests.conformance.traces import traces
from tests.e2e.conftest import Start
from tests.fakes.openai_server import Gate, OpenAIServer, Turn


async def test_quits_in_mid_stream_leave_no_connection_and_keep_the_text(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.connect_by_service(server)
    before = traces(server.port)
    for number in range(3):
        server.script(Turn([f"First words of {number} ", Gate(), "never said"]))
        async with start() as person:
            await person.begins_a_conversation()
            await person.asks(f"Question {number}?")
            await person.sees(f"First words of {number}")
        after = traces(server.port)
        assert (after.connections, after.children, after.threads) == (0, before.children, before.threads)
        assert server.requests[number].aborted.wait(5)
    server.script("All is well.")
    async with start() as person:
        await person.sees("First words of 2")
        await person.asks("Is all well?")
        await person.is_answered("All is well.")
