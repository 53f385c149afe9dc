"""What can go wrong at a model server, each with the server's own words and with what to do.

`transient` says that the same request may well work in a moment, so it is tried again before the first token;
`retry_after` (seconds) is how long the server itself asked to wait.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from devflow.domain.errors import ProviderFailed
from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.providers.overflow import Limits, limits_in

WORDS_MAX = 300  # characters of a server's own words that are shown
_SECRET_MIN = 4  # characters; shorter "keys" are made up for a server that wants none, and occur in every word


class WireFailure(ProviderFailed):
    """Any failure of this room; the subclasses say which."""

    transient: ClassVar[bool] = False

    def __init__(
        self,
        message: str,
        hint: str = "",
        *,
        retryable: bool = True,
        retry_after: float | None = None,
        **params: object,
    ) -> None:
        self.retry_after = retry_after
        super().__init__(message, hint, retryable=retryable, **params)


class Unreachable(WireFailure):
    code = "unreachable"
    transient = True


class Redirected(WireFailure):
    code = "redirected"


class KeyRefused(WireFailure):
    code = "key_refused"


class NoCredit(WireFailure):
    code = "no_credit"


class ModelMissing(WireFailure):
    code = "model_missing"


class RateLimited(WireFailure):
    code = "rate_limited"
    transient = True


class ContextOverflow(WireFailure):
    """The request does not fit; `limits` is what the server said of its window and of the request's real length."""

    code = "context_overflow"
    limits: Limits = Limits()


class BadRequest(WireFailure):
    code = "bad_request"


class ServerError(WireFailure):
    code = "server_error"
    transient = True


class StreamCut(WireFailure):
    """The connection ended, or the server said so, in the middle of an answer."""

    code = "stream_cut"
    transient = True


class Silent(WireFailure):
    """No data for longer than the watchdog allows."""

    code = "silent"


class NoFinish(WireFailure):
    """The stream ended and never said why: a failed step, never a short success."""

    code = "no_finish"


class CutArguments(WireFailure):
    """A tool call's arguments end in the middle: nothing of it may run."""

    code = "cut_arguments"


class NotAnAnswer(WireFailure):
    """What came back is not what this kind of server sends."""

    code = "not_an_answer"


def unreachable(server: str, address: str, words: str) -> Unreachable:
    return Unreachable(
        N_("{server} does not answer at {address}: {words}."),
        N_("Check that it is running and that the address is right, then retry."),
        server=server,
        address=address,
        words=words,
    )


def cut(server: str, words: str) -> StreamCut:
    """`words` are the library's own ("incomplete chunked read"): for the log, of no use to a person."""
    return StreamCut(
        N_("{server} broke off in the middle of the answer."),
        N_("The text so far is kept. Check that the server is running, then retry."),
        server=server,
        words=words,
    )


def from_status(
    status: int, body: bytes, *, server: str, model: str, secrets: Iterable[str] = (), retry_after: float | None = None
) -> WireFailure:
    """The failure that an HTTP status and its body describe."""
    words = words_of(body, secrets) or f"HTTP {status}"
    about: dict[str, Any] = {"server": server, "model": model, "status": status, "words": words}
    secrets = tuple(secrets)
    if status in (401, 403):
        return _refused_key(about, was_sent=status == 403 or any(secrets))
    if (
        status == 402
        or (status == 429 and _mentions(body, "insufficient_quota", "billing"))
        or (status == 400 and _mentions(body, "credit balance"))
    ):
        return NoCredit(
            N_("{server} wants payment first: {words}."),
            N_("Check the account there, or choose another model."),
            **about,
        )
    if status == 429:
        return RateLimited(
            N_("{server} takes no more requests just now: {words}."),
            N_("Wait a little, then retry."),
            retry_after=retry_after,
            **about,
        )
    if status in (400, 413, 422) and is_overflow(body):
        return overflow(server, model, words, limits_in(body.decode("utf-8", "replace")))
    if status == 404 or (status in (400, 422) and _mentions(body, "model_not_found", "model not found")):
        return _not_found(about, is_model=_mentions(body, "model"))
    if status >= 500 or status == 408:
        return ServerError(
            N_("{server} failed ({status}): {words}."),
            N_("Retry; if it goes on, look at the server's own log."),
            retry_after=retry_after,
            **about,
        )
    return BadRequest(
        N_("{server} did not accept the request ({status}): {words}."),
        N_("Choose another model, or check the provider in Settings."),
        **about,
    )


def _refused_key(about: Mapping[str, Any], *, was_sent: bool) -> KeyRefused:
    if was_sent:
        return KeyRefused(
            N_("{server} refused the key: {words}."), N_("Check the key in Settings, under Providers."), **about
        )
    return KeyRefused(N_("{server} wants a key: {words}."), N_("Enter the key in Settings, under Providers."), **about)


def _not_found(about: Mapping[str, Any], *, is_model: bool) -> ModelMissing | BadRequest:
    if is_model:
        return ModelMissing(
            N_("{server} has no model {model}: {words}."),
            N_("Choose another model, or have the server load this one."),
            **about,
        )
    return BadRequest(
        N_("{server} has nothing at this address: {words}."),
        N_("Check the address in Settings, under Providers; the line below it shows the full one."),
        **about,
    )


def from_error_object(
    error: object, *, server: str, model: str, secrets: Iterable[str] = (), midway: bool
) -> WireFailure:
    """The failure that `{"error": …}` describes, in a 200 body or in the middle of a stream."""
    body = json.dumps({"error": error}, ensure_ascii=False).encode("utf-8", "replace")
    words = words_of(body, secrets) or "no reason given"
    status = _status_in(error)
    if is_overflow(body):
        return overflow(server, model, words, limits_in(body.decode("utf-8", "replace")))
    if status is not None and 400 <= status < 600 and not midway:
        return from_status(status, body, server=server, model=model, secrets=secrets)
    return StreamCut(
        N_("{server} reported an error: {words}."),
        N_("Retry; if it goes on, look at the server's own log."),
        server=server,
        words=words,
    )


def cut_arguments(server: str, tool: str) -> CutArguments:
    return CutArguments(
        N_("{server} broke off inside the arguments of a tool call ({tool}); nothing of it ran."),
        N_("Retry."),
        server=server,
        tool=tool or "?",
    )


def silent(server: str, seconds: float) -> Silent:
    return Silent(
        N_("{server} sent nothing for {seconds} seconds."),
        N_("Retry; a large model on this machine may need more time to load."),
        server=server,
        seconds=round(seconds),
    )


def no_finish(server: str) -> NoFinish:
    return NoFinish(
        N_("{server} ended the answer without saying that it is complete."),
        N_("The text so far is kept. Retry."),
        server=server,
    )


def too_much(server: str, limit: int) -> NotAnAnswer:
    """More than `limit` bytes where a model server sends far less."""
    return NotAnAnswer(
        N_("{server} sent a piece of more than {limit} MB."),
        N_("Check that the address is a model server's."),
        server=server,
        limit=limit // 1024**2,
    )


def overflow(server: str, model: str, words: str, limits: Limits | None = None) -> ContextOverflow:
    failure = ContextOverflow(
        N_("The conversation is too long for {model}: {words}."),
        N_("Start a new conversation, or choose a model with a larger context window."),
        retryable=False,
        server=server,
        model=model,
        words=words,
    )
    failure.limits = limits or Limits()
    return failure


def is_overflow(body: bytes) -> bool:
    """Whether the server says, in one of the known ways, that the request does not fit into its context window."""
    return bool(_OVERFLOW.search(body[:20_000].decode("utf-8", "replace")))


_OVERFLOW = re.compile(
    r"context_length_exceeded|exceed_context_size|model_context_window_exceeded|context (?:length|window|size|limit)"
    r"|maximum context|too many (?:input )?tokens|prompt is too long|reduce the length of the messages"
    r"|range of input length|exceeded model token limit|maximum number of tokens allowed|prompt exceeds max length"
    r"|is too large to process",
    re.IGNORECASE,
)


def words_of(body: bytes | str, secrets: Iterable[str] = ()) -> str:
    """The server's own words in an error body: one line, at most 300 characters, without the key and the final stop."""
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    try:
        found = _message_in(loads(text))
    except ValueError:
        title = re.search(r"<title[^>]*>(.*?)</title>", text, re.IGNORECASE | re.DOTALL)
        found = title[1] if title else re.sub(r"<[^>]{1,200}>", " ", text[:5_000])
    return tidy(found, secrets)


def tidy(words: str, secrets: Iterable[str] = ()) -> str:
    """One shown line of foreign text."""
    for secret in secrets:
        if len(secret) >= _SECRET_MIN:
            words = words.replace(secret, "[key]")
    words = " ".join("".join(c if c.isprintable() else " " for c in words[:5_000]).split())
    if len(words) > WORDS_MAX:
        words = words[: WORDS_MAX - 1] + "…"
    return words.rstrip(" .。")


def _message_in(value: Any) -> str:
    """Where the known servers put it: error.message, error, message, detail, msg."""
    match value:
        case str():
            return value
        case Mapping():
            for name in ("error", "message", "detail", "msg", "error_msg", "errors"):
                if value.get(name):
                    inner = _message_in(value[name])
                    if inner:
                        return inner
            code = value.get("code") or value.get("type")
            return str(code) if isinstance(code, str | int) else ""
        case list():
            return "; ".join(filter(None, (_message_in(item) for item in value[:3])))
        case _:
            return ""


def _status_in(error: object) -> int | None:
    if isinstance(error, Mapping):
        for name in ("status", "code", "status_code", "http_code"):
            value = error.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            if isinstance(value, str) and value.isdigit():
                return int(value)
    return None


def _mentions(body: bytes, *needles: str) -> bool:
    text = body[:20_000].decode("utf-8", "replace").casefold()
    return any(needle in text for needle in needles)
