"""Extraction in sentences, the same in the window and on the command line."""

from __future__ import annotations

from typing import assert_never

from devflow.domain.messages import Translator
from devflow.extraction.outcome import ExtractionOutcome, State
from devflow.extraction.situation import Reason, Verdict


def hint(verdict: Verdict, t: Translator) -> str:
    """Why the inbox is empty, after "Nothing to review."."""
    match verdict.reason:
        case Reason.NO_MODEL:
            return t("Extraction needs a model, and none is set up.")
        case Reason.OFF:
            return t("Extraction is off in Settings.")
        case Reason.MANUAL_ONLY:
            return t("Extraction runs only when you ask for it.")
        case Reason.TOO_FEW:
            return t.n(
                "Extraction starts after {count} message; this chat has {have}.",
                "Extraction starts after {count} messages; this chat has {have}.",
                verdict.needed,
                have=verdict.have,
            )
        case Reason.NOTHING_NEW:
            return t("This chat holds nothing new since the last extraction.")
        case Reason.OTHER_ORIGIN:
            return t("Conversations of the command line are extracted only when you ask for it.")
        case Reason.NO_CONVERSATION:
            return t("There is no conversation yet.")
        case Reason.READY:
            return t("This chat is extracted when it ends or goes quiet.")
        case _:
            assert_never(verdict.reason)


def sentence(outcome: ExtractionOutcome, t: Translator) -> str:
    """What came of one extraction."""
    match outcome.state:
        case State.DONE if outcome.created and outcome.repeated:
            return t(
                "{candidates}, {repeated}",
                candidates=t.n("{count} new candidate", "{count} new candidates", outcome.created),
                repeated=t.n("{count} seen again", "{count} seen again", outcome.repeated),
            )
        case State.DONE if outcome.created:
            return t.n("{count} new candidate", "{count} new candidates", outcome.created)
        case State.DONE if outcome.repeated:
            return t.n(
                "Nothing new; {count} entry was seen again",
                "Nothing new; {count} entries were seen again",
                outcome.repeated,
            )
        case State.DONE:
            return t("Nothing worth keeping was found")
        case State.NOTHING_NEW:
            return t("Nothing new since the last extraction")
        case State.NO_MODEL:
            return t("Extraction needs a model, and none is set up.")
        case State.NO_CONVERSATION:
            return t("There is no conversation yet.")
        case State.DROPPED:
            return t("The model's answer could not be read; nothing was added")
        case State.FAILED:
            why = outcome.problem.render(t) if outcome.problem is not None else outcome.detail
            return t("Extraction failed: {why}", why=why)
        case State.RUNNING:
            return t("This conversation is being extracted")
        case State.WAITING:
            return t("Extraction waits until the chat is quiet")
        case State.CANCELLED:
            return t("Extraction was stopped")
        case _:
            assert_never(outcome.state)
