"""Providers, roles and live servers, over a real database and real sockets."""

from __future__ import annotations

import json
from contextlib import aclosing
from typing import Any

import pytest

from devflow.app.paths import AppPaths
from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.errors import InvalidInput, NotFound, UserFacing
from devflow.domain.events import Aggregate, Changes, Event
from devflow.domain.provider import LineState, Probe, ProviderDraft, Roles
from devflow.domain.request import TextChunk
from devflow.knowledge.settings import Settings
from devflow.models.keys import Keys
from devflow.models.registry import KeyNeeded, Models
from devflow.providers.failures import Unreachable
from devflow.store.database import Database
from tests.fakes.raw_server import RawServer
from tests.fakes.requests import chat, probe
from tests.fakes.streams import DONE, chunk

HELLO = (chunk({"content": "Hello."}) + chunk({}, "stop") + DONE).encode()


def draft(server: RawServer | None = None, **fields: Any) -> ProviderDraft:
    base = server.base_url if server else "https://api.example.com/v1"
    return ProviderDraft(**{"name": "Server", "base_url": base, "models": ("m", "n"), **fields})


async def test_an_empty_home_answers_offline_and_extracts_nothing(models: Models) -> None:
    assert await models.list() == ()
    assert await models.main_choice() == OFFLINE
    assert await models.extraction_choice() is None
    assert (await models.resolve(OFFLINE)).id == OFFLINE.provider_id


async def test_the_first_model_that_is_set_up_takes_over(models: Models) -> None:
    first = await models.add(draft())
    second = await models.add(draft(name="Second", models=("x",)))
    assert await models.main_choice() == ModelChoice(first.id, "m")
    assert await models.extraction_choice() == ModelChoice(first.id, "m")
    assert [config.name for config in await models.list()] == ["Server", "Second"]
    assert await models.choices() == (
        ModelChoice(first.id, "m"),
        ModelChoice(first.id, "n"),
        ModelChoice(second.id, "x"),
        OFFLINE,
    )


async def test_choosing_the_offline_assistant_is_a_choice_that_stays(models: Models) -> None:
    await models.save_roles(Roles(main=OFFLINE))
    await models.add(draft())
    assert await models.main_choice() == OFFLINE
    assert await models.extraction_choice() is None


async def test_each_role_has_its_own_model_or_the_main_one(models: Models) -> None:
    config = await models.add(draft())
    await models.save_roles(Roles(ModelChoice(config.id, "m"), None, ModelChoice(config.id, "n")))
    assert await models.extraction_choice() == ModelChoice(config.id, "n")
    assert await models.digest_choice() == ModelChoice(config.id, "m")


async def test_a_provider_whose_key_cannot_be_forgotten_stays_so_that_no_key_is_left_that_nobody_sees(
    models: Models, paths: AppPaths
) -> None:
    config = await models.add(draft(), "sk-secret")
    kept = paths.keys.read_text()
    paths.keys.write_text(kept[:-3])
    with pytest.raises(UserFacing):
        await models.remove(config.id)
    assert await models.list() == (config,)
    paths.keys.write_text(kept)
    await models.remove(config.id)
    assert (await models.list(), json.loads(paths.keys.read_text())) == ((), {})


async def test_a_removed_provider_takes_its_roles_and_its_key_along(
    models: Models, keys: Keys, settings: Settings, paths: AppPaths
) -> None:
    config = await models.add(draft(), key="sk-one")
    await models.remove(config.id)
    assert await models.roles() == Roles()
    assert await settings.get("roles") == {"main": None, "digest": None, "extraction": None}
    assert "sk-one" not in paths.keys.read_text()
    with pytest.raises(NotFound):
        await models.get(config.id)
    with pytest.raises(UserFacing, match="was removed"):
        await models.resolve(ModelChoice(config.id, "m"))


async def test_a_key_is_in_no_table(models: Models, db: Database, paths: AppPaths) -> None:
    await models.add(draft(), key="sk-very-secret")
    await db.checkpoint()
    for file in paths.home.glob("devflow.db*"):
        assert b"sk-very-secret" not in file.read_bytes()


async def test_another_origin_demands_the_key_again(models: Models, keys: Keys) -> None:
    config = await models.add(draft(), key="sk-one")
    moved = draft(base_url="https://evil.example.com/v1")
    with pytest.raises(KeyNeeded):
        await models.update(config.id, moved)
    assert (await models.get(config.id)).base_url == "https://api.example.com/v1"
    await models.update(config.id, moved, key="sk-two")
    assert await keys.get(config.id, "https://evil.example.com") == "sk-two"
    assert await keys.get(config.id, "https://api.example.com") == ""


async def test_another_path_of_the_same_origin_keeps_the_key(models: Models) -> None:
    config = await models.add(draft(), key="sk-one")
    await models.update(config.id, draft(base_url="https://API.example.com"))
    assert await models.has_key(config.id)
    await models.update(config.id, draft(), key="")
    assert not await models.has_key(config.id)


@pytest.mark.parametrize(
    "fields, field",
    [({"name": "  "}, "name"), ({"base_url": "nonsense://x"}, "base_url"), ({"adapter": "telepathy"}, "adapter")],
)
async def test_a_bad_form_is_refused_by_field_and_nothing_is_kept(
    models: Models, paths: AppPaths, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        await models.add(draft(**fields), key="sk-one")
    assert caught.value.field == field
    assert await models.list() == ()
    assert not paths.keys.exists()


async def test_every_change_is_published(models: Models, db: Database) -> None:
    seen: list[Event] = []
    db.hub.subscribe(seen.append)
    config = await models.add(draft())
    await models.update(config.id, draft(name="New"))
    await models.remove(config.id)
    changed = [event for event in seen if isinstance(event, Changes) and event.of(Aggregate.PROVIDER) == {config.id}]
    assert len(changed) == 3


async def test_a_resolved_provider_streams_with_its_key_and_follows_changes(models: Models, server: RawServer) -> None:
    config = await models.add(draft(server), key="sk-one")
    choice = ModelChoice(config.id, "m")
    for key in ("sk-one", "sk-two"):
        server.answer(HELLO)
        await models.update(config.id, draft(server), key=key)
        async with aclosing((await models.resolve(choice)).stream(chat())) as events:
            assert await anext(events) == TextChunk("Hello.")
        assert server.received[-1].headers["authorization"] == f"Bearer {key}"
    assert await models.resolve(choice) is await models.resolve(choice)


async def test_a_change_of_the_network_settings_holds_at_once(
    models: Models, settings: Settings, server: RawServer
) -> None:
    config = await models.add(draft(base_url="http://model.invalid/v1"))
    async with RawServer() as proxy:
        await settings.save("network", {"proxy": "manual", "proxy_url": proxy.origin})
        proxy.answer(HELLO)
        async with aclosing((await models.resolve(ModelChoice(config.id, "m"))).stream(chat())) as events:
            assert await anext(events) == TextChunk("Hello.")
        assert proxy.received[0].path == "http://model.invalid/v1/chat/completions"


async def test_an_unsaved_form_can_be_tested(models: Models, server: RawServer) -> None:
    server.on("/v1/models", {"data": [{"id": "m"}]})
    server.answer(HELLO)
    server.answer(
        (
            chunk(
                {
                    "tool_calls": [
                        {"index": 0, "id": "a", "function": {"name": "note", "arguments": '{"word": "ready"}'}}
                    ]
                }
            )
            + chunk({}, "tool_calls")
        ).encode()
    )
    report = await models.test(draft(server), key="sk-one")
    assert [line.state for line in report.lines] == [*[LineState.OK] * 5, LineState.NOT_NEEDED]
    assert server.received[-1].headers["authorization"] == "Bearer sk-one"
    assert await models.list() == ()


async def test_a_test_names_what_failed_in_the_servers_words(models: Models, server: RawServer) -> None:
    server.on("/v1/models", {"data": [{"id": "m"}]})
    server.on("/v1/chat/completions", {"error": {"message": "model 'm' not found"}}, status=404)
    lines = {line.what: line for line in (await models.test(draft(server), key="sk-one")).lines}
    assert lines[Probe.REACHABLE].state is LineState.OK
    assert lines[Probe.STREAMING].state is LineState.FAILED
    assert lines[Probe.STREAMING].params["words"] == "404 model 'm' not found"


async def test_a_refused_key_is_the_keys_line(models: Models, server: RawServer) -> None:
    server.on("/v1/models", {"error": {"message": "Incorrect API key sk-wrong"}}, status=401)
    lines = {line.what: line for line in (await models.test(draft(server), key="sk-wrong")).lines}
    assert [lines[what].state for what in (Probe.REACHABLE, Probe.KEY)] == [LineState.OK, LineState.FAILED]
    assert "sk-wrong" not in json.dumps([dict(line.params) for line in lines.values()])
    assert lines[Probe.STREAMING].state is LineState.SKIPPED


async def test_a_model_that_thinks_longer_than_the_test_is_not_said_to_lack_tools(
    models: Models, server: RawServer
) -> None:
    server.on("/v1/models", {"data": [{"id": "m"}]})
    thinking = (chunk({"reasoning_content": "Let me see"}) + chunk({}, "length") + DONE).encode()
    server.answer(thinking)
    server.answer(thinking)
    lines = {line.what: line for line in (await models.test(draft(server))).lines}
    assert lines[Probe.STREAMING].state is LineState.OK
    assert (lines[Probe.TOOLS].state, lines[Probe.TOOLS].message) == (
        LineState.SKIPPED,
        "It was still thinking at the end of the test",
    )


async def test_a_test_of_nobody_says_so_and_skips_the_rest(models: Models) -> None:
    lines = (await models.test(draft(base_url="http://127.0.0.1:9"))).lines
    assert [line.state for line in lines] == [LineState.FAILED, *[LineState.SKIPPED] * 5]
    assert lines[0].params["words"] == "Connection refused"
    with pytest.raises(Unreachable):
        await models.fetch_models(draft(base_url="http://127.0.0.1:9"))


async def test_a_saved_test_is_kept_until_the_address_changes(models: Models) -> None:
    config = await models.add(draft())
    report = await models.test(draft(base_url="http://127.0.0.1:9"))
    assert (await models.save_test(config.id, report)).last_test == report
    assert (await models.update(config.id, draft(name="New name"))).last_test == report
    assert (await models.update(config.id, draft(base_url="https://api.example.com/v2"))).last_test is None


async def test_local_servers_are_found_unless_they_are_set_up_already(
    db: Database, keys: Keys, settings: Settings, paths: AppPaths, server: RawServer
) -> None:
    server.on("/api/tags", {"models": [{"name": "qwen3:8b"}, {"name": "bge-m3"}]})
    async with RawServer() as stranger:
        stranger.on("/v1/models", {"hello": "I am a web server"})
        addresses = {"ollama": server.origin, "lm_studio": stranger.origin, "llama_cpp": "http://127.0.0.1:9"}
        models = Models(
            db, keys, settings, db.hub, resources=paths.resources, probe_request=probe, local_addresses=addresses
        )
        (found,) = await models.discover()
        assert (found.name, found.preset, found.models) == ("Ollama", "ollama", ("qwen3:8b", "bge-m3"))
        assert found.adapter == "ollama"
        await models.add(ProviderDraft(found.name, found.base_url, found.preset, found.adapter, found.models))
        assert await models.discover() == ()
        await models.close()
