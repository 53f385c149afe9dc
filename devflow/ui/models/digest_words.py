"""The words of a digest: counts, what is being done about a file, why one failed."""

from __future__ import annotations

from typing import assert_never

from devflow.domain.digest import BatchState, DigestFile, Doing, FileState, Trouble
from devflow.domain.events import DigestStep
from devflow.domain.messages import N_, Translator
from devflow.ui.models.digests import Digest, file_name

_SHORT = {
    N_("{name} has no text that can be extracted."): N_("No text to extract"),
    N_("{name} is protected by a password."): N_("Protected by a password"),
    N_("{name} is damaged, or no such file as its name says."): N_("Damaged, or another kind of file"),
    N_("{name} is of a kind that cannot be read."): N_("A kind that cannot be read"),
    N_("{name} is no regular file."): N_("No regular file"),
    N_("{name} is larger than {limit} MB."): N_("Larger than {limit} MB"),
    N_("{name} is too large once it is unpacked: {detail}."): N_("Too large once unpacked"),
    N_("The encoding of {name} cannot be told."): N_("Unknown encoding"),
    N_("{name} cannot be read: {reason}."): N_("Cannot be read: {reason}"),
    N_("{name} took longer than {seconds} seconds to read."): N_("Took too long to read"),
    N_("{model} wrote no content."): N_("The model wrote nothing"),
    N_("What {model} wrote lacks sections of a page, even when asked once more."): N_("Sections are missing"),
}
"""Messages whose file stands beside them already: a few words for the row; the whole sentence is a look away."""


def count_words(t: Translator, digest: Digest) -> str:
    """`7 of 12 files · 1 failed · 3 at a time`."""
    total, failed = len(digest.files), digest.failed
    parts = [t.n("{done} of {count} file", "{done} of {count} files", total, done=digest.ended)]
    if failed:
        parts.append(t.n("{count} failed", "{count} failed", failed))
    if digest.running:
        parts.append(t.n("{count} at a time", "{count} at a time", digest.batch.concurrency))
    elif digest.cut_off:
        parts.append(t("interrupted"))
    elif digest.batch.state is BatchState.CANCELLED:
        parts.append(t("cancelled"))
    return " · ".join(parts)


def token_words(t: Translator, tokens: int) -> str:
    """`61.2k tokens`; empty for none."""
    return t.n("{shown} token", "{shown} tokens", tokens, shown=short_count(tokens)) if tokens else ""


def short_count(count: int) -> str:
    """`950`, `9.1k`, `1.2M`."""
    if count < 1_000:
        return str(count)
    if count < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.1f}M"


def state_words(t: Translator, file: DigestFile, step: DigestStep | None) -> str:
    """What stands at the right of a file's row."""
    match file.state:
        case FileState.WAITING:
            return t.p("digest", "Waiting")
        case FileState.RUNNING:
            return doing_words(t, step)
        case FileState.DONE:
            partly = 0 < file.read_percent < 100
            read = t("{percent} % read", percent=file.read_percent) if partly else ""
            return " · ".join(part for part in (read, token_words(t, file.input_tokens + file.output_tokens)) if part)
        case FileState.SKIPPED:
            return t("Digested before")
        case FileState.FAILED:
            return reason_words(t, file.trouble)
        case FileState.CANCELLED:
            return t("Not digested")
        case _:
            assert_never(file.state)


def doing_words(t: Translator, step: DigestStep | None) -> str:
    if step is None:
        return t.p("digest", "Reading")
    match Doing(step.doing):
        case Doing.READING:
            return t.p("digest", "Reading")
        case Doing.ASKING:
            return t("Waiting for the model")
        case Doing.WRITING:
            section = _section(t, step.detail)
            return t("Writing “{section}”", section=section) if section else t.p("digest", "Writing")
        case Doing.PAUSED:
            return t("Paused: the server asks for less")
        case Doing.KEEPING:
            return t("Saving the page")
        case doing:
            assert_never(doing)


def reason_words(t: Translator, trouble: Trouble | None) -> str:
    """A few words, where the file's name need not be said again."""
    if trouble is None:
        return t.p("digest", "Failed")
    short = _SHORT.get(trouble.message)
    return t(short, **trouble.params) if short is not None else trouble.as_failure().render(t)


def whole_reason(t: Translator, file: DigestFile) -> str:
    """What happened and what to do."""
    if file.trouble is None:
        return ""
    failure = file.trouble.as_failure()
    return " ".join(part for part in (failure.render(t), failure.render_hint(t)) if part)


def spoken(t: Translator, file: DigestFile, step: DigestStep | None) -> str:
    """The row as it is read out: name, state, and what a key does."""
    name = file_name(file)
    match file.state:
        case FileState.DONE:
            done = t("done")
            return ", ".join(
                part for part in (name, done, state_words(t, file, step), t("Enter opens the page")) if part
            )
        case FileState.SKIPPED:
            return ", ".join((name, t("Digested before"), t("Enter opens the page")))
        case FileState.FAILED:
            return ", ".join((name, t.p("digest", "Failed"), whole_reason(t, file), t("R tries again")))
        case _:
            return ", ".join((name, state_words(t, file, step)))


def _section(t: Translator, section: str) -> str:
    """The heading in the reader's language, whatever the page's is."""
    return {
        "core summary": t("Core summary"),
        "key details": t("Key details"),
        "relation to the purpose": t("Relation to the purpose"),
        "open questions": t("Open questions"),
    }.get(section, "")
