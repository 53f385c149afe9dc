"""Network settings are judged before they are saved."""

from pathlib import Path

import pytest

from devflow.domain.errors import InvalidInput
from devflow.providers.network import check
from devflow.providers.transport import Network


@pytest.mark.parametrize(
    "typed, kept",
    [
        ("http://127.0.0.1:7890", "http://127.0.0.1:7890"),
        (" proxy.example.com:3128 ", "http://proxy.example.com:3128"),
        ("https://proxy.example.com:443", "https://proxy.example.com:443"),
    ],
)
def test_a_proxys_address_is_tidied(typed: str, kept: str) -> None:
    assert check(Network("manual", typed)).proxy_url == kept


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "proxy.example.com",
        "socks5://127.0.0.1:1080",
        "http://:80",
        "http://user:word@127.0.0.1:80",
        "http://a b:80",
    ],
)
def test_an_address_that_cannot_work_is_refused_on_its_field(typed: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(Network("manual", typed))
    assert refused.value.field == "proxy_url"


def test_an_address_that_is_not_used_is_not_judged() -> None:
    assert check(Network("none", "half an addr")).proxy_url == "half an addr"


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no proxy mode"):
        check(Network("sometimes"))


def test_a_certificate_file_is_read(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(Network(ca_file=str(tmp_path / "missing.pem")))
    assert refused.value.field == "ca_file"
