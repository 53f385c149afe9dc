"""Every form of every preset's address, and the endpoint that a chat is posted to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from devflow.domain.errors import InvalidInput
from devflow.providers import urls

OPENAI, ANTHROPIC, OLLAMA = "openai_compat", "anthropic", "ollama"
ENDPOINTS = {
    ("openai", OPENAI): "https://api.openai.com/v1/chat/completions",
    ("anthropic", ANTHROPIC): "https://api.anthropic.com/v1/messages",
    ("deepseek", OPENAI): "https://api.deepseek.com/v1/chat/completions",
    ("dashscope", OPENAI): "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions",
    ("glm", OPENAI): "https://open.bigmodel.cn/api/paas/v4/chat/completions",
    ("moonshot", OPENAI): "https://api.moonshot.cn/v1/chat/completions",
    ("siliconflow", OPENAI): "https://api.siliconflow.cn/v1/chat/completions",
    ("openrouter", OPENAI): "https://openrouter.ai/api/v1/chat/completions",
    ("gemini", OPENAI): "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
    ("ollama", OLLAMA): "http://127.0.0.1:11434/api/chat",
    ("ollama", OPENAI): "http://127.0.0.1:11434/v1/chat/completions",
    ("lm_studio", OPENAI): "http://127.0.0.1:1234/v1/chat/completions",
    ("llama_cpp", OPENAI): "http://127.0.0.1:8080/v1/chat/completions",
    ("custom", OPENAI): "https://models.example.com/v1/chat/completions",
    ("custom", ANTHROPIC): "https://models.example.com/v1/messages",
    ("custom", OLLAMA): "https://models.example.com/api/chat",
}
"""What each server's documentation says; written out, so that nothing here repeats what the code does."""

BESIDE = {
    OPENAI: ("models", "embeddings", "completions", "responses"),
    ANTHROPIC: ("models",),
    OLLAMA: ("tags", "embed", "show", "version"),
}
"""Other endpoints that stand beside the chat's."""

REFUSED = "refused"


@dataclass(frozen=True)
class Case:
    preset: str
    adapter: str
    form: str
    typed: str
    expected: str

    @property
    def found(self) -> str:
        try:
            return urls.preview(self.typed, self.adapter)
        except InvalidInput:
            return REFUSED

    def __str__(self) -> str:
        return f"{self.preset}, {self.adapter}: {self.form}"


def cases() -> tuple[Case, ...]:
    return tuple(
        Case(preset, adapter, form, typed, expected)
        for (preset, adapter), full in ENDPOINTS.items()
        for form, typed, expected in _forms(full, adapter)
    )


def _forms(full: str, adapter: str) -> Iterator[tuple[str, str, str]]:
    """Form, what is typed, and the endpoint, for one server's full endpoint."""
    base = re.sub(r"/(chat/completions|messages|chat)$", "", full)
    parts = urlsplit(base)
    scheme, host, path = parts.scheme, parts.netloc, parts.path
    yield "base", base, full
    yield "trailing slash", f"{base}/", full
    yield "many slashes", f"{scheme}://{host}//{path.replace('/', '//')[2:]}///", full
    yield "bare host", f"{scheme}://{host}", full
    yield "bare host and slash", f"{scheme}://{host}/", full
    for end in range(path.rfind("/"), 0, -1):  # the base without its version, without the last two parts, …
        if path[end] == "/":
            yield f"only {path[:end]}", f"{scheme}://{host}{path[:end]}", full
    yield "full endpoint", full, full
    yield "full endpoint and slash", f"{full}/", full
    for name in BESIDE[adapter]:
        yield f"endpoint {name}", f"{base}/{name}", full
    if adapter == OLLAMA:  # whoever knows its other API types that one
        for path_of_other in ("/v1", "/v1/", "/v1/chat/completions", "/v1/models"):
            yield f"with {path_of_other}", f"{scheme}://{host}{path_of_other}", full
    yield "upper case", f"{scheme.upper()}://{host.upper()}{path}", full
    yield "spaces around", f"  {base} ", full
    yield "no scheme", f"{host}{path}", full
    yield "default port", f"https://models.example.com:443{path}", f"https://models.example.com{urlsplit(full).path}"
    yield "own port", f"{scheme}://{parts.hostname}:8443{path}", full.replace(host, f"{parts.hostname}:8443", 1)
    yield "IPv6", f"http://[::1]:8080{path}", f"http://[::1]:8080{urlsplit(full).path}"
    yield "IPv6 without scheme", f"[::1]:8080{path}", f"http://[::1]:8080{urlsplit(full).path}"
    yield (
        "another host",
        f"https://proxy.example.com/relay{path}",
        f"https://proxy.example.com/relay{urlsplit(full).path}",
    )
    yield "query", f"{base}?key=abc", REFUSED
    yield "fragment", f"{base}#chat", REFUSED
    yield "user and password", f"{scheme}://user:secret@{host}{path}", REFUSED
    yield "user", f"{scheme}://user@{host}{path}", REFUSED
    yield "user without scheme", f"user:secret@{host}{path}", REFUSED
    yield "ftp", f"ftp://{host}{path}", REFUSED
    yield "file", f"file://{path}", REFUSED
    yield "script", f"javascript://{host}{path}", REFUSED
    yield "port too high", f"{scheme}://{parts.hostname}:99999{path}", REFUSED
    yield "space inside", f"{scheme}://{host[:3]} {host[3:]}{path}", REFUSED
    yield "control character", f"{base}/\x00", REFUSED
    yield "no host", f"{scheme}://{path}", REFUSED
