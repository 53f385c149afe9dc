"""Words for the state of the vectors, of all and of one entry."""

from __future__ import annotations

from devflow.domain.knowledge import EmbeddingStatus, Entry, Status
from devflow.domain.messages import Translator
from devflow.knowledge.embedding_state import EmbeddingState, Phase


def progress_words(t: Translator, state: EmbeddingState) -> str:
    """One sentence for the settings."""
    progress = state.progress
    ready, total = f"{progress.ready:,}", f"{progress.total:,}"
    match state.phase:
        case Phase.OFF:
            return t("None are made while search by meaning is off.")
        case Phase.NO_MODEL:
            return t("There is no embedding model.")
        case Phase.READY:
            if progress.failed:
                return t(
                    "{ready} of {total} entries have vectors, {failed} failed.",
                    ready=ready,
                    total=total,
                    failed=f"{progress.failed:,}",
                )
            return t("{ready} of {total} entries have vectors.", ready=ready, total=total)
        case Phase.WORKING:
            return t("Making vectors: {ready} of {total} entries. Search uses what is ready.", ready=ready, total=total)
        case Phase.WAITING:
            return t("{ready} of {total} entries; the chat goes first.", ready=ready, total=total)
        case Phase.PAUSED:
            return t("{ready} of {total} entries; it is tried again by itself.", ready=ready, total=total)
        case Phase.CAPPED:
            return t("{ready} of {total} entries; the day's limit is reached.", ready=ready, total=total)
        case Phase.STOPPED:
            return t("Stopped at {ready} of {total} entries. Search uses what is ready.", ready=ready, total=total)


def embedding_status(t: Translator, state: EmbeddingState) -> tuple[str, str, str]:
    """Icon, words and tone for the status line; no words while there is nothing to tell."""
    progress = state.progress
    match state.phase:
        case Phase.OFF:
            return "", "", ""
        case Phase.NO_MODEL:
            return "warning", t("Search by meaning: no model"), "trouble"
        case Phase.WORKING:
            ready, total = f"{progress.ready:,}", f"{progress.total:,}"
            return "half-disc", t("Vectors: {ready} of {total}", ready=ready, total=total), "busy"
        case Phase.PAUSED:
            return "warning", t("Vectors: failed, tried again later"), "trouble"
        case Phase.STOPPED:
            return "circle", t("Vectors: stopped"), ""
        case Phase.READY | Phase.WAITING | Phase.CAPPED:
            if state.unheard is not None:
                return "warning", t("Search: keywords only"), "trouble"
            if progress.failed:
                return "warning", t.n("Vectors: {count} failed", "Vectors: {count} failed", progress.failed), "trouble"
            return "", "", ""


def entry_words(t: Translator, entry: Entry, state: EmbeddingState) -> str:
    """What an entry's page says of its vectors."""
    made = entry.embedding
    if state.phase is Phase.OFF:
        return t("search by meaning is off")
    if entry.status is not Status.PUBLISHED:
        return t("made when it is published")
    if made.status is EmbeddingStatus.FAILED:
        return t("failed: {reason}", reason=made.error or "")
    if made.status is EmbeddingStatus.READY and made.model is not None and made.model.endswith(f"/{state.model}"):
        return t("ready · {model}", model=state.model)
    return t("not made yet")
