"""The provider form: added, tested, saved, its key kept, and removed again; by clicks, with a real server."""

import json
from dataclasses import replace

import keyring
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from devflow.app.paths import AppPaths
from devflow.domain.conversation import OFFLINE, ModelChoice
from devflow.domain.provider import LineState, Probe, ProviderDraft
from tests.e2e.conftest import Start
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.ollama_server import OllamaServer
from tests.fakes.openai_server import Call, Gate, OpenAIServer, Turn
from tests.support import hands
from tests.support.keychain import Keychain
from tests.support.settings import OpenSettings, settings

KEY = "sk-secret-1234"
ANSWERS = ("one two three", Turn(calls=[Call("note", {"word": "ready"})]))
DEAD = "http://127.0.0.1:9/v1"


@pytest.fixture
def keychain(monkeypatch: pytest.MonkeyPatch) -> Keychain:
    chain = Keychain()
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain)
    return chain


async def test_a_server_is_added_tested_and_saved_and_answers_from_then_on(start: Start, server: OpenAIServer) -> None:
    async with start() as person, settings(person) as dialog:
        await _fill(dialog, "Workstation", server.base_url)
        assert dialog_words("addressPreview") == f"POST {server.base_url}/chat/completions"
        server.script(*ANSWERS)
        await dialog.tests()
        assert dialog.result("reachable").endswith("ms")
        assert dialog.result("key") == "Key: Not needed"
        assert dialog.result("models") == "Models: scripted"
        assert dialog.result("streaming").startswith("Streaming: First token")
        assert dialog.result("tools") == "Tool calls: Arguments came back whole"
        assert dialog.result("embeddings") == "Embeddings: Not offered"
        assert dialog.text("providerModels") == "scripted"  # taken over from the server's list
        assert dialog.choice("mainModel") == "scripted"
        assert dialog.foot == "1 unsaved"
        await dialog.saves()

        (config,) = await person.core.models.list()
        assert (config.name, config.base_url, config.models) == ("Workstation", server.base_url, ("scripted",))
        assert config.last_test is not None
        assert config.last_test.usable
        assert await person.core.models.main_choice() == ModelChoice(config.id, "scripted")
        await person.sees("Workstation · this machine", on="statusLine")


async def test_a_key_goes_to_the_keychain_and_is_never_shown_again(
    start: Start, keychain: Keychain, paths: AppPaths
) -> None:
    with OpenAIServer(key=KEY) as server:
        async with start() as person:
            async with settings(person) as dialog:
                await _fill(dialog, "Guarded", server.base_url)
                await dialog.types("providerKey", KEY)
                server.script(*ANSWERS)
                await dialog.tests()
                assert dialog.result("key") == "Key: Accepted"
                await dialog.saves()
            async with settings(person) as dialog:
                await person.until(lambda: dialog.hint("providerKey") == "Stored in the keychain", "the hint")
                assert dialog.text("providerKey") == ""
                assert dialog.foot == "Keys are kept in the system keychain"
                assert not hands.visible("keyNotice")
                server.script(*ANSWERS)
                await dialog.tests()  # with the stored key
                assert dialog.result("key") == "Key: Accepted"
        assert list(keychain.kept.values()) == [KEY]
        assert not paths.keys.exists()
        assert KEY.encode() not in paths.database.read_bytes()


async def test_without_a_keychain_the_window_says_that_the_key_is_in_a_file(start: Start, paths: AppPaths) -> None:
    words = "Keys are kept in a file only you can read: no system keychain was found"
    with OpenAIServer(key=KEY) as server:
        async with start() as person:
            async with settings(person) as dialog:
                await person.until(lambda: dialog.foot == words, "where keys are kept")
                await _fill(dialog, "Guarded", server.base_url)
                assert not hands.visible("keyNotice")
                await dialog.types("providerKey", KEY)
                await person.sees(words, on="keyNotice")
                await dialog.saves()
            async with settings(person) as dialog:
                await person.until(lambda: dialog.hint("providerKey") == "Stored in a file only you can read", "hint")
                await person.clicks("forgetKeyButton")
                assert dialog.hint("providerKey") == "Forgotten when you save"
                assert list(json.loads(paths.keys.read_text()).values()) == [KEY]
                await dialog.saves()
        assert json.loads(paths.keys.read_text()) == {}


async def test_a_refused_key_is_said_in_the_servers_own_words(start: Start) -> None:
    with OpenAIServer(key=KEY) as server:
        async with start() as person, settings(person) as dialog:
            await _fill(dialog, "Guarded", server.base_url)
            await dialog.types("providerKey", "sk-wrong")
            await dialog.tests()
            assert dialog.result("reachable").endswith("ms")
            assert "401" in dialog.result("key")
            assert "Incorrect API key provided" in dialog.result("key")
            assert dialog.result("streaming") == "Streaming: Not tested"
            assert dialog.text("providerKey") == "sk-wrong"  # what was typed stays


async def test_a_server_that_does_not_answer_is_said_where_it_stands_and_not_saved_without_a_model(
    start: Start,
) -> None:
    async with start() as person, settings(person) as dialog:
        await _fill(dialog, "Nowhere", DEAD)
        await dialog.tests()
        assert "refused" in dialog.result("reachable").lower()
        await person.clicks("saveSettingsButton")
        await person.sees("Nowhere does not answer at http://127.0.0.1:9", on="problem-models")
        assert hands.visible("settingsDialog")
        assert dialog.text("providerAddress") == DEAD
        await dialog.types("providerModels", "some-model, another")  # typed freely, it can be saved
        await dialog.saves()
        (config,) = await person.core.models.list()
        assert config.models == ("some-model", "another")


async def test_a_wrong_address_is_explained_while_it_is_typed_and_never_saved(start: Start) -> None:
    async with start() as person, settings(person) as dialog:
        await _fill(dialog, "Odd", "ftp://models.example.com")
        await person.sees("An address begins with http:// or https://", on="problem-base_url")
        assert not hands.visible("addressPreview")
        await person.clicks("saveSettingsButton")
        await person.sees("An address begins with http:// or https://", on="problem-base_url")
        assert await person.core.models.list() == ()


async def test_another_origin_demands_the_key_again(start: Start) -> None:
    with OpenAIServer(key=KEY) as server, OpenAIServer(key="sk-other") as other:
        async with start() as person:
            await person.core.models.add(ProviderDraft("Guarded", server.base_url, models=("scripted",)), KEY)
            async with settings(person) as dialog:
                await person.until(lambda: dialog.hint("providerKey").startswith("Stored"), "the stored key")
                await dialog.types("providerAddress", other.base_url)
                await person.sees("the key belongs to", on="problem-key")
                await person.clicks("saveSettingsButton")
                await person.until(lambda: hands.visible("problem-key") and not _busy(), "the refusal")
                assert hands.visible("settingsDialog")
                (config,) = await person.core.models.list()
                assert config.base_url == server.base_url
                await dialog.types("providerKey", "sk-other")
                assert not hands.visible("problem-key")
                other.script(*ANSWERS)
                await dialog.tests()
                assert dialog.result("key") == "Key: Accepted"
                await dialog.saves()
            (config,) = await person.core.models.list()
            assert config.base_url == other.base_url
            assert await person.core.models.has_key(config.id)


async def test_removing_asks_first_and_takes_key_and_role_with_it(
    start: Start, server: OpenAIServer, paths: AppPaths
) -> None:
    async with start() as person:
        await person.core.models.add(ProviderDraft("Workstation", server.base_url, models=("scripted",)), KEY)
        async with settings(person) as dialog:
            await person.clicks("removeProviderButton")
            await person.sees("Remove Workstation?", on="messageDialog")
            await person.clicks("cancelButton")
            await person.misses("messageDialog")
            assert len(await person.core.models.list()) == 1

            await person.clicks("removeProviderButton")
            await person.clicks("acceptButton")
            await person.until(lambda: hands.rows("providerList") == ["Offline assistant"], "only the offline one")
            await person.until(lambda: dialog.choice("mainModel") == "Offline assistant", "a free role")
        assert await person.core.models.list() == ()
        assert await person.core.models.main_choice() == OFFLINE
        assert json.loads(paths.keys.read_text()) == {}


async def test_a_test_can_be_stopped_and_its_lines_come_one_by_one(start: Start, server: OpenAIServer) -> None:
    gate = Gate()
    async with start() as person:
        await person.core.models.add(ProviderDraft("Workstation", server.base_url, models=("scripted",)))
        async with settings(person) as dialog:
            server.script(Turn(["one ", gate, "two"]))
            await person.clicks("testProviderButton")
            await person.until(lambda: gate.reached, "the answer under way")
            await person.until(lambda: dialog.result("models") == "Models: scripted", "the lines so far")
            assert dialog.result("streaming") == "Streaming: asking…"
            assert not hands.find("testProviderButton").isEnabled()
            await person.clicks("cancelTestButton")
            await person.misses("cancelTestButton")
            assert hands.find("testProviderButton").isEnabled()
            await person.until(lambda: server.requests[0].aborted.is_set(), "the server hears that it was left")


async def test_a_server_of_this_machine_is_offered_first(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    with OllamaServer(models=("scripted",)) as server:
        async with start() as person:
            addresses = {"ollama": server.base_url, "lm_studio": DEAD, "llama_cpp": DEAD}
            monkeypatch.setattr(person.core.models, "_local_addresses", addresses)
            async with settings(person) as dialog:
                await person.sees("Found Ollama on this machine, 1 model", on="settingsProviders")
                await person.clicks("useFoundServerButton-0")
                await person.misses("foundServer-0")
                assert dialog.text("providerModels") == "scripted"
                assert dialog_words("addressPreview") == f"POST {server.base_url}/api/chat"
                server.script(*ANSWERS)
                await dialog.tests()
                assert dialog.result("key") == "Key: Not needed"
                assert dialog.result("tools") == "Tool calls: Arguments came back whole"
                await dialog.saves()
            (config,) = await person.core.models.list()
            assert (config.preset, config.adapter, config.models) == ("ollama", "ollama", ("scripted",))
            async with settings(person):
                assert hands.rows("providerList") == ["Ollama", "Offline assistant"]


async def test_anthropic_is_spoken_to_in_its_own_protocol(start: Start, keychain: Keychain) -> None:
    with AnthropicServer(models=("claude-x", "claude-y", "claude-z"), key=KEY) as server:
        async with start() as person, settings(person) as dialog:
            await dialog.adds("Anthropic")
            assert dialog_words("addressPreview") == "POST https://api.anthropic.com/v1/messages"
            await dialog.types("providerAddress", server.base_url)
            assert dialog_words("addressPreview") == f"POST {server.base_url}/v1/messages"
            await dialog.types("providerKey", KEY)
            server.script(*ANSWERS)
            await dialog.tests()
            assert dialog.result("key") == "Key: Accepted"
            assert dialog.result("models") == "Models: claude-x, claude-y +1"
            assert dialog.result("streaming").startswith("Streaming: First token")
            assert dialog.result("tools") == "Tool calls: Arguments came back whole"
            await dialog.saves()
            (config,) = await person.core.models.list()
            assert (config.preset, config.adapter) == ("anthropic", "anthropic")
        assert list(keychain.kept.values()) == [KEY]


async def test_the_offline_assistant_is_always_there_and_offers_what_to_add(start: Start) -> None:
    async with start() as person, settings(person) as dialog:
        assert hands.rows("providerList") == ["Offline assistant"]
        assert not hands.visible("providerName")
        await person.clicks("addPreset-deepseek")
        assert dialog.text("providerAddress") == "https://api.deepseek.com/v1"
        assert dialog.hint("providerKey") == "Paste the key"
        focused = hands.find("providerKey")
        assert isinstance(focused, QLineEdit)
        assert focused.hasFocus()
        assert focused.echoMode() == QLineEdit.EchoMode.Password
        await person.clicks("removeProviderButton")  # nothing is stored: nothing is asked
        await person.until(lambda: hands.rows("providerList") == ["Offline assistant"], "gone")


async def test_models_are_chosen_from_the_servers_list_and_roles_from_the_models(start: Start) -> None:
    with OpenAIServer(models=[f"model-{number}" for number in range(20)]) as server:
        async with start() as person, settings(person) as dialog:
            await _fill(dialog, "Many", server.base_url)
            await person.clicks("refreshModelsButton")
            await person.sees("20 models: choose those to use", on="problem-models")
            assert dialog.text("providerModels") == ""
            await person.clicks("chooseModelsButton")
            await person.finds("modelsPopup")
            hands.type_text("model-1")
            await person.until(lambda: len(hands.rows("modelsList")) == 11, "the narrowed list")
            dialog.ticks("model-12")
            hands.press(Qt.Key.Key_Escape)
            hands.press(Qt.Key.Key_Escape)
            await person.misses("modelsPopup")
            await person.until(lambda: dialog.text("providerModels") == "model-12", "the chosen one")
            await dialog.types("providerModels", "model-12, model-3")
            await dialog.chooses("mainModel", "model-3")
            await dialog.chooses("extractionModel", "model-12")
            await dialog.saves()
            (config,) = await person.core.models.list()
            roles = await person.core.models.roles()
            assert roles.main == ModelChoice(config.id, "model-3")
            assert roles.extraction == ModelChoice(config.id, "model-12")


async def test_what_a_test_said_is_there_the_next_time(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        await person.core.models.add(ProviderDraft("Workstation", server.base_url, models=("scripted",)))
        async with settings(person) as dialog:
            server.script(*ANSWERS)
            await dialog.tests()
            assert dialog.foot != "1 unsaved"
        async with settings(person) as dialog:
            await person.sees("Test again", on="testProviderButton")
            assert dialog.result("tools") == "Tool calls: Arguments came back whole"
            await dialog.types("providerModels", "other")  # what it said no longer speaks of this
            assert not hands.visible("testResults")
        (config,) = await person.core.models.list()
        assert config.last_test is not None
        assert {line.what: line.state for line in config.last_test.lines}[Probe.TOOLS] is LineState.OK


async def test_a_test_made_before_there_were_embeddings_shows_no_empty_line(start: Start, server: OpenAIServer) -> None:
    async with start() as person:
        models = person.core.models
        config = await models.add(ProviderDraft("Workstation", server.base_url, models=("scripted",)))
        server.script(*ANSWERS)
        report = await models.test(config)
        older = replace(report, lines=tuple(line for line in report.lines if line.what is not Probe.EMBEDDINGS))
        await models.save_test(config.id, older)
        async with settings(person) as dialog:
            await person.finds("test-tools")
            assert dialog.result("streaming").startswith("Streaming: First token")
            assert not hands.visible("test-embeddings")


async def test_a_window_that_the_human_knows_better_is_used_and_given_up_again(
    start: Start, server: OpenAIServer
) -> None:
    async with start() as person:
        await person.core.models.add(ProviderDraft("Workstation", server.base_url, models=("scripted",)))
        choice = await person.core.models.main_choice()
        async with settings(person) as dialog:
            assert dialog.text("providerWindow") == ""
            assert dialog.hint("providerWindow") == "What the server says"
            await dialog.types("providerWindow", "a lot")
            await person.clicks("saveSettingsButton")
            await person.sees("A context window has 1 to 100,000,000 tokens.", on="problem-context_window")
            assert dialog.text("providerWindow") == "a lot"
            await dialog.types("providerWindow", "16,384")
            assert not hands.visible("problem-context_window")
            await dialog.saves()
        assert await (await person.core.models.resolve(choice)).context_window("scripted") == 16_384
        async with settings(person) as dialog:
            assert dialog.text("providerWindow") == "16384"
            await dialog.types("providerWindow", "")
            await dialog.saves()
        assert await (await person.core.models.resolve(choice)).context_window("scripted") == 32_000


async def test_two_providers_are_told_apart_in_the_roles_and_a_new_one_leaves_them_alone(
    start: Start, server: OpenAIServer
) -> None:
    async with start() as person:
        await person.connect_by_service(server, "First")
        async with settings(person) as dialog:
            await _fill(dialog, "Second", server.base_url)
            await dialog.types("providerModels", "scripted")
            assert dialog.choice("mainModel") == "scripted · First"
            assert "scripted · Second" in dialog.choices("mainModel")
            await dialog.saves()
        first, _second = await person.core.models.list()
        assert (await person.core.models.main_choice()).provider_id == first.id


async def test_a_file_of_keys_that_cannot_be_read_is_said_in_the_dialog(start: Start, paths: AppPaths) -> None:
    paths.keys.write_text("{")
    async with start() as person:
        await person.core.models.add(ProviderDraft("Workstation", DEAD, models=("scripted",)))
        async with settings(person):
            await person.sees("The file of keys", on="settingsProblem")


async def _fill(dialog: OpenSettings, name: str, address: str) -> None:
    await dialog.adds("Another server")
    await dialog.types("providerName", name)
    await dialog.types("providerAddress", address)


def dialog_words(name: str) -> str:
    return hands.words(hands.find(name))


def _busy() -> bool:
    return hands.words(hands.find("saveSettingsButton")) != "Save"
