"""Model servers as the user set them up, what each role uses, and what a test of one said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from devflow.domain.conversation import ModelChoice
from devflow.domain.messages import Translator


class LineState(StrEnum):
    OK = "ok"
    FAILED = "failed"
    NOT_NEEDED = "not_needed"
    SKIPPED = "skipped"


class Probe(StrEnum):
    """What a test looks at, in the order in which it is shown."""

    REACHABLE = "reachable"
    KEY = "key"
    MODELS = "models"
    STREAMING = "streaming"
    TOOLS = "tools"
    EMBEDDINGS = "embeddings"


@dataclass(frozen=True, slots=True)
class TestLine:
    """One line of a test: `message` is a message id, `params` fill it (the server's own words are `words`)."""

    __test__ = False  # not a test case, whatever pytest thinks of the name

    what: Probe
    state: LineState
    message: str
    params: Mapping[str, Any] = field(default_factory=dict)

    def render(self, t: Translator) -> str:
        return t(self.message, **self.params)


@dataclass(frozen=True, slots=True)
class TestReport:
    """The last test of a provider; `duration_ms` is the whole test's, in milliseconds."""

    __test__ = False

    at: datetime
    duration_ms: int
    lines: tuple[TestLine, ...]

    @property
    def usable(self) -> bool:
        """Whether a chat with this provider would have worked when it was tested."""
        return any(line.what is Probe.STREAMING and line.state is LineState.OK for line in self.lines)


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """A model server. `base_url` is as the user typed it; the key is in the keychain, never here.

    `settings` that are known: `context_window` (tokens, for all models), `context_windows` (model → tokens),
    `first_event_timeout` and `event_timeout` (seconds); unknown ones are kept.
    """

    id: str
    name: str
    adapter: str
    preset: str
    base_url: str
    models: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    last_test: TestReport | None = None


@dataclass(frozen=True, slots=True)
class ProviderDraft:
    """What a new provider is made of, or the new values of an old one."""

    name: str
    base_url: str
    preset: str = "custom"
    adapter: str = "openai_compat"
    models: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Roles:
    """Which model does what. None: no choice was made (`main`: the offline assistant; the others: the same as main)."""

    main: ModelChoice | None = None
    digest: ModelChoice | None = None
    extraction: ModelChoice | None = None
