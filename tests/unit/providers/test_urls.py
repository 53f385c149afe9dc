import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.errors import InvalidInput
from devflow.providers.urls import is_loopback, origin, parse, preview


@pytest.mark.parametrize(
    "typed, full",
    [
        ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1/chat/completions"),
        ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1/chat/completions"),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1/chat/completions"),
        ("  https://api.example.com/v1/  ", "https://api.example.com/v1/chat/completions"),
        ("https://open.example.cn/api/paas/v4", "https://open.example.cn/api/paas/v4/chat/completions"),
        ("https://x.example/v1beta/openai/", "https://x.example/v1beta/openai/chat/completions"),
        ("https://x.example/compatible-mode/v1", "https://x.example/compatible-mode/v1/chat/completions"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1/chat/completions"),
        ("https://x.example/llm/chat/completions", "https://x.example/llm/chat/completions"),
        ("https://x.example/v1/models", "https://x.example/v1/chat/completions"),
        ("localhost:1234", "http://localhost:1234/v1/chat/completions"),
        ("api.example.com", "https://api.example.com/v1/chat/completions"),
        ("HTTPS://API.Example.COM:443//v1//", "https://api.example.com/v1/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        ("[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        ("192.168.1.5:11434", "http://192.168.1.5:11434/v1/chat/completions"),
        ("8.8.8.8:11434", "https://8.8.8.8:11434/v1/chat/completions"),
        ("openrouter.ai", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://openrouter.ai/api/v2", "https://openrouter.ai/api/v2/chat/completions"),
    ],
)
def test_an_address_becomes_its_endpoint(typed: str, full: str) -> None:
    assert preview(typed) == full


@pytest.mark.parametrize(
    "typed, says",
    [
        ("", "empty"),
        ("ftp://x.example", "http"),
        ("file:///etc/passwd", "http"),
        ("https://user:secret@x.example/v1", "password"),
        ("https://x.example/v1?key=abc", "after ?"),
        ("https://x.example/v1#part", "after ?"),
        ("https://", "not an address"),
        ("https://x.example:99999", "not an address"),
        ("https://exa mple.com", "not an address"),
        ("https://x.example/a\x00b", "not an address"),
    ],
)
def test_what_is_no_address_is_refused_with_a_sentence(typed: str, says: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(typed)
    assert caught.value.field == "base_url"
    assert says in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_key_belongs_to_scheme_host_and_port() -> None:
    assert origin("https://API.example.com/v1") == origin("api.example.com") == "https://api.example.com"
    assert len({origin(a) for a in ("https://a.example", "http://a.example", "https://a.example:8443")}) == 3


def test_the_root_is_the_base_without_its_version() -> None:
    assert parse("http://127.0.0.1:8080/llama/v1").root == "http://127.0.0.1:8080/llama"


def test_loopback_is_this_machine_only() -> None:
    assert all(is_loopback(host) for host in ("localhost", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "LOCALHOST"))
    assert not any(is_loopback(host) for host in ("", "192.168.1.5", "0.0.0.0", "localhost.example.com", "1.127.0.0"))


@given(st.text(max_size=80))
def test_nonsense_is_an_address_or_a_typed_refusal(typed: str) -> None:
    try:
        address = parse(typed)
    except InvalidInput:
        return
    assert address.chat.startswith(("http://", "https://"))
    assert parse(address.chat).chat == address.chat
