"""Secrets leave the text before a model sees it and before it is stored (spec 01 and 07)."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devflow.domain.knowledge import CONTENT_MAX, TITLE_MAX, Evidence, Kind, draft
from devflow.domain.redaction import find_secrets, redact, redact_draft
from tests.extraction_conformance.secrets import planted, tally
from tests.unit.extraction.secret_formats import BY_FORMAT, FREE_CARRIERS, LOOK_ALIKES, chars

ROUNDS = 40


def test_nearly_every_secret_is_found_and_hardly_anything_else_is() -> None:
    found = tally(ROUNDS)
    assert found.recall >= 0.98, f"recall {found.recall:.3f} over {found.planted}: {found.missed}"
    assert found.precision >= 0.95, f"precision {found.precision:.3f}: {found.wrong[:12]}"


@pytest.mark.parametrize("place", range(len(LOOK_ALIKES)))
def test_what_only_looks_like_a_secret_stays(place: int) -> None:
    rng = random.Random(place)
    for _ in range(5):
        text = LOOK_ALIKES[place](rng)
        assert redact(text).text == text


@pytest.mark.parametrize("name", BY_FORMAT)
def test_a_key_is_found_by_its_format_wherever_it_stands(name: str) -> None:
    rng = random.Random(name)
    for carrier in FREE_CARRIERS:
        secret = BY_FORMAT[name](rng)
        redacted = redact(carrier.format(secret))
        assert secret not in redacted.text
        assert "[redacted: " in redacted.text


@pytest.mark.parametrize(
    "text, expected",
    [
        ("密码：abc123，用户 root", "密码：[redacted: password]，用户 root"),
        ("password: hunter2", "password: [redacted: password]"),
        ("redis://:s3cr3t@cache:6379/0", "redis://:[redacted: password]@cache:6379/0"),
        ('{\\"password\\": \\"hunter2\\"}', '{\\"password\\": \\"[redacted: password]\\"}'),
        (
            "https://api.test/?api_key=abcdef0123456789abcd&page=2",
            "https://api.test/?api_key=[redacted: API key]&page=2",
        ),
    ],
)
def test_only_the_secret_itself_is_replaced_and_says_what_it_was(text: str, expected: str) -> None:
    assert redact(text).text == expected


def test_the_secret_beside_an_access_key_id_goes_too() -> None:
    rng = random.Random(7)
    id, secret = "AKIA" + chars(rng, "ABCDEFGH234567", 16), "aB3/" + chars(rng, "abcdefghXYZ0123456789+/", 36)
    redacted = redact(f"keys for the bucket:\n{id}\n{secret}\n").text
    assert id not in redacted
    assert secret not in redacted


def test_a_private_key_that_was_cut_off_is_still_a_private_key() -> None:
    body = "\n".join(chars(random.Random(3), "ABCDabcd0123+/", 64) for _ in range(4))
    redacted = redact(f"-----BEGIN RSA PRIVATE KEY-----\n{body}")
    assert redacted.labels == ("private key",)
    assert body[:20] not in redacted.text


def test_redacting_again_changes_nothing() -> None:
    rng = random.Random(11)
    text = "\n".join(carrier for _, carrier, _ in planted(rng))
    once = redact(text).text
    assert redact(once).text == once


@given(st.text(max_size=300))
def test_any_text_is_taken_and_a_second_pass_finds_nothing_new_in_the_placeholders(text: str) -> None:
    for secret in find_secrets(redact(text).text):
        assert "[redacted" not in redact(text).text[secret.start : secret.end]


@given(st.text(alphabet="password:= \"'密码：是sk-abz019.@/\n|&>", max_size=200))
def test_text_made_of_the_rules_own_signs_is_redacted_once(text: str) -> None:
    once = redact(text).text
    assert redact(once).text.count("[redacted") >= once.count("[redacted")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "password" * 40_000,
        "sk-" * 100_000,
        "密码" * 100_000,
        "://:@" * 60_000,
        "-----BEGIN PRIVATE KEY-----" * 2_000,
        "eyJ" * 100_000,
        "curl -u " * 30_000,
        "key: " * 60_000,
        "mysql " * 50_000,
        "." * 300_000,
        "data:a/b;base64," * 20_000,
    ],
    ids=lambda text: text[:12],
)
def test_no_text_makes_the_search_crawl(text: str) -> None:
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 4.0


def test_a_draft_is_redacted_in_every_field_and_stays_within_its_limits() -> None:
    title = ("x" * (TITLE_MAX - len("password: hunter2") - 1)) + " password: hunter2"
    content = ("y" * (CONTENT_MAX - 16)) + "\n密码：ab12cd\n"
    made = draft(
        kind=Kind.PITFALL,
        title=title,
        content=content,
        tags=["token=a1b2c3d4e5f6a7b8c9d0"],
        evidence=Evidence(("m1",), "the password is hunter22"),
    )
    redacted = redact_draft(made)
    assert "hunter" not in redacted.title
    assert "ab12cd" not in redacted.content
    assert "a1b2c3" not in redacted.tags[0]
    assert redacted.evidence == Evidence(("m1",), "the password is [redacted: password]")
    assert len(redacted.title) <= TITLE_MAX
    assert len(redacted.content) <= CONTENT_MAX
