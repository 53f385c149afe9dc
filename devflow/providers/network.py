"""Whether network settings can work, before they are saved: the transport meets them only at its next request."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_
from devflow.providers.transport import Network, certificates

MODES = ("system", "manual", "none")


def check(network: Network) -> Network:
    """The settings, tidied; raises `InvalidInput` naming the field. Reads the certificate file: not for the Qt thread.

    An address typed without a scheme gets `http://`, which is how proxies are asked.
    """
    if network.proxy not in MODES:
        raise InvalidInput(
            "proxy",
            N_("There is no proxy mode {value}."),
            N_("Values: {known}."),
            value=network.proxy,
            known=", ".join(MODES),
        )
    proxy_url = _proxy_url(network.proxy_url.strip()) if network.proxy == "manual" else network.proxy_url.strip()
    ca_file = network.ca_file.strip()
    if ca_file:
        ca_file = str(Path(ca_file).expanduser())
        certificates(ca_file)
    return Network(network.proxy, proxy_url, ca_file)


def _proxy_url(typed: str) -> str:
    if not typed:
        raise _bad(N_("The proxy has no address."))
    text = typed if "://" in typed else f"http://{typed}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise _bad(N_("{value} is not an address."), value=typed[:200]) from None
    if parts.scheme.lower() not in ("http", "https"):
        raise _bad(N_("A proxy's address begins with http:// or https://, not with {value}."), value=parts.scheme)
    if parts.username is not None or parts.password is not None:
        raise InvalidInput(
            "proxy_url",
            N_("The proxy's address holds a user name or a password, which are not kept here."),
            N_("Set that proxy in the system, and choose the system's proxy."),
        )
    if not host or port is None or any(char.isspace() for char in text):
        raise _bad(N_("{value} is not an address."), value=typed[:200])
    return text


def _bad(message: str, **params: object) -> InvalidInput:
    return InvalidInput("proxy_url", message, N_("It looks like http://127.0.0.1:7890."), **params)
