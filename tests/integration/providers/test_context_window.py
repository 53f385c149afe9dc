"""Where the size of a model's window comes from: each step of spec 03's order beats the ones after it, over sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from devflow.domain.provider import ProviderConfig
from devflow.providers.adapters import make_server
from devflow.providers.chat_body import Dialect
from devflow.providers.presets import Preset, context_windows
from devflow.providers.protocol import Server
from devflow.providers.transport import Transport
from tests.fakes.raw_server import RawServer

RESOURCES = Path(__file__).parents[3] / "resources"
TABLE = {"m": 77_000}
IN_MODELS = ("/v1/models", {"data": [{"id": "m", "max_model_len": 16_000}]})
PROPS = ("/props", {"default_generation_settings": {"n_ctx": 4_096}})
SLOTS = ("/slots", [{"id": 0, "n_ctx": 4_000}, {"id": 1, "n_ctx": 3_900}])
LM_STUDIO = (
    "/api/v1/models",
    {
        "models": [
            {"key": "other", "loaded_instances": [{"id": "other", "config": {"context_length": 1}}]},
            {
                "key": "m",
                "max_context_length": 131_072,
                "loaded_instances": [
                    {"id": "m", "config": {"context_length": 8_192}},
                    {"id": "m:2", "config": {"context_length": 6_000}},
                ],
            },
        ]
    },
)
OLDER_LM_STUDIO = ("/api/v0/models", {"data": [{"id": "m", "loaded_context_length": 8_000}]})
OLLAMA = ("/api/ps", {"models": [{"name": "m:latest", "model": "m:latest", "context_length": 2_048}]})


@pytest.fixture
async def transport() -> AsyncIterator[Transport]:
    running = Transport(connections=8, connect_timeout=2)
    yield running
    await running.aclose()


def asked(
    base_url: str,
    transport: Transport,
    *,
    preset: str = "custom",
    adapter: str = "openai_compat",
    settings: Mapping[str, Any] | None = None,
) -> Server:
    config = ProviderConfig("p", "Server", adapter, preset, base_url, settings=settings or {})
    known = Preset(preset, "Server", base_url, "none", "", Dialect(), adapter)
    return make_server(config, "", transport, preset=known, windows=TABLE)


def says(server: RawServer, *facts: tuple[str, object]) -> None:
    for path, body in facts:
        server.on(path, body)


async def test_the_users_own_number_beats_whatever_servers_say(server: RawServer, transport: Transport) -> None:
    says(server, PROPS, IN_MODELS)
    chosen = asked(server.base_url, transport, settings={"context_window": 9_000, "context_windows": {"m": 5_000}})
    assert await chosen.context_window("m") == 5_000
    assert await chosen.context_window("other") == 9_000
    assert server.received == []


@pytest.mark.parametrize(
    "preset, adapter, facts, tokens",
    [
        ("llama_cpp", "openai_compat", (PROPS, SLOTS), 4_096),
        ("llama_cpp", "openai_compat", (SLOTS,), 3_900),
        ("lm_studio", "openai_compat", (LM_STUDIO, OLDER_LM_STUDIO), 8_192),
        ("lm_studio", "openai_compat", (OLDER_LM_STUDIO,), 8_000),
        ("ollama", "openai_compat", (OLLAMA,), 2_048),
        ("ollama", "ollama", (OLLAMA,), 2_048),
        ("custom", "openai_compat", (PROPS,), 4_096),
        ("custom", "openai_compat", (LM_STUDIO,), 8_192),
        ("custom", "openai_compat", (OLLAMA,), 2_048),
    ],
)
async def test_what_is_really_allocated_beats_what_the_api_says_of_the_model(
    server: RawServer,
    transport: Transport,
    preset: str,
    adapter: str,
    facts: tuple[tuple[str, object], ...],
    tokens: int,
) -> None:
    says(server, IN_MODELS, *facts)
    assert await asked(server.base_url, transport, preset=preset, adapter=adapter).context_window("m") == tokens


async def test_an_instance_of_lm_studio_is_known_by_its_own_id(server: RawServer, transport: Transport) -> None:
    says(server, LM_STUDIO)
    assert await asked(server.base_url, transport, preset="lm_studio").context_window("m:2") == 6_000


@pytest.mark.parametrize(
    "row, tokens",
    [
        ({"max_model_len": 16_000}, 16_000),  # vLLM
        ({"context_length": 131_072}, 131_072),  # OpenRouter, Together, Moonshot
        ({"context_length": 131_072, "top_provider": {"context_length": 64_000}}, 64_000),
        ({"context_length": 131_072, "top_provider": {"context_length": None}}, 131_072),
        ({"max_context_length": 32_768}, 32_768),  # Mistral
        ({"context_window": 8_192}, 8_192),  # Groq
    ],
)
async def test_what_the_api_says_of_the_model_beats_the_table(
    server: RawServer, transport: Transport, row: Mapping[str, Any], tokens: int
) -> None:
    says(server, ("/v1/models", {"data": [{"id": "other", "context_length": 1}, {"id": "m", **row}]}))
    assert await asked(server.base_url, transport, preset="vllm").context_window("m") == tokens


async def test_anthropic_says_it_of_each_model(server: RawServer, transport: Transport) -> None:
    says(server, ("/v1/models/m", {"id": "m", "type": "model", "max_input_tokens": 200_000, "max_tokens": 64_000}))
    claude = asked(server.base_url, transport, preset="anthropic", adapter="anthropic")
    assert await claude.context_window("m") == 200_000


@pytest.mark.parametrize("adapter", ["openai_compat", "anthropic"])
async def test_the_table_is_asked_last_and_then_nobody_knows(
    server: RawServer, transport: Transport, adapter: str
) -> None:
    says(server, ("/v1/models", {"data": [{"id": "m"}, {"id": "unheard-of"}]}))
    last = asked(server.base_url, transport, preset="openai", adapter=adapter)
    assert await last.context_window("m") == 77_000
    assert await last.context_window("unheard-of") is None


@pytest.mark.parametrize("wrong", [None, "4096", -1, 0, True, 1.5, [], {}])
async def test_a_number_that_is_none_is_passed_over(server: RawServer, transport: Transport, wrong: object) -> None:
    says(
        server,
        ("/props", {"default_generation_settings": {"n_ctx": wrong}}),
        ("/slots", [{"n_ctx": wrong}, wrong]),
        ("/api/v1/models", {"models": [{"key": "m", "loaded_instances": [{"config": {"context_length": wrong}}]}]}),
        ("/api/v0/models", {"data": [{"id": "m", "loaded_context_length": wrong}]}),
        ("/api/ps", {"models": [{"name": "m", "context_length": wrong}]}),
        ("/v1/models", {"data": [{"id": "m", "max_model_len": wrong}]}),
    )
    assert await asked(server.base_url, transport).context_window("m") == 77_000


async def test_it_is_asked_once_for_a_while(server: RawServer, transport: Transport) -> None:
    says(server, PROPS)
    local = asked(server.base_url, transport, preset="llama_cpp")
    assert await local.context_window("m") == 4_096
    before = len(server.received)
    assert await local.context_window("m") == 4_096
    assert len(server.received) == before


async def test_a_service_is_not_asked_for_what_only_local_servers_tell(server: RawServer, transport: Transport) -> None:
    says(server, PROPS, OLLAMA)
    assert await asked(server.base_url, transport, preset="openai").context_window("m") == 77_000
    assert [request.path for request in server.received] == ["/v1/models"]


def test_the_table_of_this_program_holds_windows_that_models_can_have() -> None:
    table = context_windows(RESOURCES)
    assert table["gpt-4o"] == 128_000
    assert all(4_096 <= tokens <= 10_000_000 for tokens in table.values())
