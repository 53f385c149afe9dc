"""Addresses of model servers: a base with or without its version, or a full endpoint, and what becomes of it."""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_

CHAT = "/chat/completions"
MESSAGES = "/messages"
_VERSIONED = re.compile(r"/v\d+[a-z0-9]*(?:/|$)", re.IGNORECASE)
_HOMES = {
    "open.bigmodel.cn": "/api/paas/v4",
    "api.z.ai": "/api/paas/v4",
    "dashscope.aliyuncs.com": "/compatible-mode/v1",
    "dashscope-intl.aliyuncs.com": "/compatible-mode/v1",
    "openrouter.ai": "/api/v1",
    "generativelanguage.googleapis.com": "/v1beta/openai",
}
"""Where the API of a known host stands, if not at `/v1`: whoever types less of it means this."""
_ENDPOINTS = (CHAT, "/completions", MESSAGES, "/models", "/embeddings", "/responses")
_OF_OLLAMA = re.compile(r"(/api)/(?:chat|generate|embed|embeddings|tags|ps|show|version)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """A checked address. `base` is what endpoints are appended to; `root` is it without its version."""

    base: str
    origin: str

    @property
    def chat(self) -> str:
        return self.base + CHAT

    @property
    def models(self) -> str:
        return self.base + "/models"

    @property
    def messages(self) -> str:
        return self.base + MESSAGES

    @property
    def native(self) -> str:
        """Where Ollama's own API stands, whatever of its addresses was typed: beside its `/v1`."""
        return self.root.removesuffix("/api") + "/api"

    def endpoint(self, adapter: str) -> str:
        """Where a chat is posted."""
        match adapter:
            case "anthropic":
                return self.messages
            case "ollama":
                return f"{self.native}/chat"
            case _:
                return self.chat

    def listing(self, adapter: str) -> str:
        """Where the models are listed."""
        return f"{self.native}/tags" if adapter == "ollama" else self.models

    @property
    def root(self) -> str:
        return re.sub(r"/v\d+[a-z0-9]*$", "", self.base, flags=re.IGNORECASE)

    @property
    def is_loopback(self) -> bool:
        return is_loopback(urlsplit(self.origin).hostname or "")


def parse(typed: str) -> Address:
    """Read what the user typed; raises `InvalidInput` on `base_url` with a sentence.

    A base without a version gets `/v1`, or what stands there on a known host; one that has its own (`/v1`, `/v4`,
    `/v1beta/openai`, `/compatible-mode/v1`) keeps it; a full endpoint is cut back to its base.
    """
    text = typed.strip()
    if not text:
        raise _bad(N_("The address is empty."), N_("An address looks like http://127.0.0.1:11434."))
    if "://" not in text:
        text = ("http://" if _is_near(text) else "https://") + text
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _bad(N_("{value} is not an address."), N_("Check the host and the port."), value=typed[:200]) from None
    if parts.scheme.lower() not in ("http", "https"):
        raise _bad(
            N_("An address begins with http:// or https://, not with {value}."),
            N_("An address looks like http://127.0.0.1:11434."),
            value=f"{parts.scheme}://",
        )
    if parts.username is not None or parts.password is not None:
        raise _bad(N_("The address holds a user name or a password."), N_("Put the key into its own field."))
    host = (parts.hostname or "").lower()
    if not host or re.search(r"[\s\x00-\x1f<>\"\\^`{|}]", text):
        raise _bad(N_("{value} is not an address."), N_("Check the host and the port."), value=typed[:200])
    if parts.query or parts.fragment:
        raise _bad(N_("The address has a part after ? or #."), N_("Leave only host, port and path."))
    scheme = parts.scheme.lower()
    shown_host = f"[{host}]" if ":" in host else host
    default = {"http": 80, "https": 443}[scheme]
    netloc = shown_host if port in (None, default) else f"{shown_host}:{port}"
    return Address(urlunsplit((scheme, netloc, _base_path(parts.path, host), "", "")), f"{scheme}://{netloc}")


def preview(typed: str, adapter: str = "openai_compat") -> str:
    """The full address that a chat will be sent to, as the form shows it while it is typed."""
    return parse(typed).endpoint(adapter)


def origin(typed: str) -> str:
    """What a key belongs to: scheme, host and port."""
    return parse(typed).origin


def is_loopback(host: str) -> bool:
    """Whether a host name or address means this machine."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _is_near(text: str) -> bool:
    """Whether an address without its scheme names this machine or one beside it, which seldom have certificates."""
    host = (re.match(r"\[[^\]]*\]|[^:/]*", text) or [""])[0]
    try:
        return is_loopback(host) or ipaddress.ip_address(host.strip("[]")).is_private
    except ValueError:
        return False


def _base_path(path: str, host: str) -> str:
    path = re.sub(r"/{2,}", "/", path).rstrip("/")
    path = _OF_OLLAMA.sub(r"\1", path)
    for endpoint in _ENDPOINTS:
        if path.lower().endswith(endpoint):
            return path[: -len(endpoint)]
    home = _HOMES.get(host, "")
    if home and f"{home}/".startswith(f"{path}/"):
        return home
    return path if _VERSIONED.search(path) else f"{path}/v1"


def _bad(message: str, hint: str, **params: object) -> InvalidInput:
    return InvalidInput("base_url", message, hint, **params)
