"""The failures a user can act on. Everything that is not a `UserFacing` is a bug and propagates."""

from __future__ import annotations

from typing import ClassVar

from devflow.domain.messages import N_, Translator


class UserFacing(Exception):
    """A failure shown where the act was: one sentence that says what happened, one that says what to do.

    `message` and `hint` are message ids (English source); `params` fill their placeholders after translation. `code` is
    stable and machine-readable (`--json`, MCP).
    """

    code: ClassVar[str] = "refused"

    def __init__(self, message: str, hint: str = "", **params: object) -> None:
        self.message = message
        self.hint = hint
        self.params = params
        super().__init__(_plain(message, params))

    def render(self, t: Translator) -> str:
        """The sentence in the reader's language."""
        return t(self.message, **_in_words(self.params, t))

    def render_hint(self, t: Translator) -> str:
        """What to do about it, or an empty string."""
        return t(self.hint, **_in_words(self.params, t))


class InvalidInput(UserFacing):
    """A value that a rule forbids; `field` names it."""

    code = "invalid_input"

    def __init__(self, field: str, message: str, hint: str = "", **params: object) -> None:
        self.field = field
        super().__init__(message, hint, field=field, **params)


class NotFound(UserFacing):
    """No row with that id."""

    code = "not_found"

    def __init__(self, what: str, id: str) -> None:
        super().__init__(
            N_("No {what} has the id {id}."),
            N_("Check the id; a list or a search shows the ids there are."),
            what=what,
            id=id,
        )


class InvalidTransition(UserFacing):
    """A status change outside the table of transitions; names both states and changes nothing."""

    code = "invalid_transition"

    def __init__(self, id: str, current: str, wanted: str) -> None:
        self.current = current
        self.wanted = wanted
        super().__init__(
            N_("An entry that is {current} cannot become {wanted}."),
            N_("Allowed: candidate → pending_review → published → archived, and each of them → archived."),
            id=id,
            current=current,
            wanted=wanted,
        )


class StaleVersion(UserFacing):
    """The entry was changed elsewhere since it was read; nothing was written."""

    code = "conflict"

    def __init__(self, id: str, read: int, current: int) -> None:
        self.read = read
        self.current = current
        super().__init__(
            N_("This entry changed elsewhere: you edited version {read}, it is now version {current}."),
            N_("Compare both texts, then save again."),
            id=id,
            read=read,
            current=current,
        )


class Refused(UserFacing):
    """An act that is allowed to nobody, or not to this actor, in this state."""

    code = "refused"


class HumanOnly(Refused):
    """Publishing, approving and configuring are human acts (never a model's, a tool's or a child process's)."""

    code = "human_only"


class ProviderFailed(UserFacing):
    """A model server did not answer as it should; `retryable` says whether the same request may work later."""

    code = "provider_failed"

    def __init__(self, message: str, hint: str = "", *, retryable: bool = True, **params: object) -> None:
        self.retryable = retryable
        super().__init__(message, hint, **params)


class DatabaseProblem(UserFacing):
    """The database cannot be opened as it is; it was not touched."""

    code = "database"


WORDS = (
    *(N_("entry"), N_("project"), N_("conversation"), N_("operation")),
    *(N_("candidate"), N_("pending_review"), N_("published"), N_("archived")),
    *(N_("title"), N_("content"), N_("tags")),
)
"""Words that stand as parameters in sentences, and are translated with them."""


def _in_words(params: dict[str, object], t: Translator) -> dict[str, object]:
    return {
        name: t(value) if isinstance(value, str) and (name == "what" or value in WORDS) else value
        for name, value in params.items()
    }


def _plain(message: str, params: dict[str, object]) -> str:
    try:
        return message.format(**params)
    except (KeyError, IndexError, ValueError):
        return message
