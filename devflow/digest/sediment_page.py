"""The page that `/sediment` writes: front matter, summary, the pages used, the transcript; and its lines in the lists.

Everything blocks: call it on a thread. The lock is the one that digests of the knowledge base take.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from devflow.digest import output
from devflow.digest.plain_file import (
    append_line,
    change_file,
    encoding_of,
    read_plain,
    replace_file,
    write_new,
)
from devflow.digest.sediment_summary import Summary, quoted_lines
from devflow.digest.sediment_talk import Said, Talk, shortened
from devflow.domain.conversation import Role
from devflow.domain.ids import now
from devflow.domain.text.language import Language
from devflow.store.lock import one_at_a_time
from devflow.wiki import layout
from devflow.wiki.decoding import decode
from devflow.wiki.page import fingerprint, read, with_comments_shown

TRANSCRIPT_MAX = 2_000_000
"""Bytes; a page of more than 5 MB would not be searched. The newest messages stay."""
MESSAGE_MAX = 100_000
NO_MODEL = "none"
NAME_MAX = 200

_UNTOUCHED = re.compile(r"^untouched: .*\n", re.MULTILINE)
_CONVERSATION = re.compile(r"^conversation:[ \t]*'([^'\n]*)'", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Former:
    """The conversation's newest page there is. `untouched`: nobody has changed it since it was written."""

    path: str
    title: str
    until: str
    model: str
    created: str
    summary: str
    untouched: bool


def former_page(root: Path, conversation_id: str) -> Former | None:
    """The page that this conversation was written to last; None where there is none any more."""
    newest: Former | None = None
    folder = root / layout.SESSIONS
    with contextlib.suppress(OSError):
        for file in sorted(folder.glob(f"*{layout.SUFFIX}")):
            found = _former(file, conversation_id)
            if found is not None and (newest is None or found.created >= newest.created):
                newest = found
    return newest


def planned(root: Path, title: str, at: datetime) -> str:
    """Where a new page would stand."""
    name = re.sub(r"[\\/:]+", "-", title)[:NAME_MAX].strip(" .-") or "conversation"
    return output.plan_page(root, f"{name}.md", at, set())


def write_sediment(root: Path, talk: Talk, summary: Summary, guard: Path) -> tuple[str, Former | None]:
    """Write the page; returns its path, and the page that it brought up to date or that says all already.

    A page that somebody has changed since, or that tells of another branch, stays; a new one is written beside it.
    """
    output.tidy(root, guard)
    with output.failures(summary.title), one_at_a_time(guard):
        former = former_page(root, talk.conversation.id)
        if former is not None and says_all(former, talk, with_model=bool(summary.model)):
            return former.path, former  # another process was quicker
        at = now()
        if former is not None and former.untouched and former.until in talk.ids:
            others = tuple(page for page in talk.pages if page.path != former.path)  # it may have been found meanwhile
            text = page_text(replace(talk, pages=others), summary, created=former.created, updated=at)
            replace_file(output.inside(root, former.path), text.encode())
            with output.unlisted(former.path):
                _list_anew(root, former, summary)
                _log(root, former.path, talk.conversation.id, summary.model, at, "sediment updated")
            return former.path, former
        page = planned(root, summary.title, at)
        write_new(output.inside(root, page), page_text(talk, summary, created=output.instant(at)).encode())
        with output.unlisted(page):
            append_line(root, output.INDEX, page, output.index_line(page, summary.title, summary.line))
            _log(root, page, talk.conversation.id, summary.model, at)
        return page, None


def list_again(root: Path, former: Former, guard: Path) -> None:
    """The page's line in the index, where a kill came between the page and it."""
    with output.failures(former.path), one_at_a_time(guard), output.unlisted(former.path):
        line = output.index_line(former.path, former.title, former.summary)
        append_line(root, output.INDEX, former.path, line)


def says_all(former: Former, talk: Talk, *, with_model: bool) -> bool:
    """Whether the page tells of everything said so far, and as well as it can be told now."""
    return former.until == talk.until and (former.model != NO_MODEL or not with_model)


def page_text(talk: Talk, summary: Summary, *, created: str, updated: datetime | None = None) -> str:
    """The whole page. Its front matter ends with what tells whether somebody has changed it since."""
    words = _WORDS[talk.language]
    fields = {
        "title": summary.title,
        "conversation": talk.conversation.id,
        "until": talk.until,
        "created": created,
        **({"updated": output.instant(updated)} if updated is not None else {}),
        "model": summary.model or NO_MODEL,
        "made_by": "sediment",
    }
    parts = [f"# {_plain(summary.title)}"]
    if not summary.model:
        parts.append(f"*{words['no_model']}*")
    parts.append(summary.markdown)
    if talk.pages:
        links = [f"- {_link(page.path)}: {_plain(page.title)}" for page in talk.pages]
        parts += [f"## {words['pages']}", "\n".join(links)]
    parts += [f"## {words['transcript']}", *_transcript(talk.said, talk.language)]
    front = "\n".join(f"{name}: {output.quoted(value)}" for name, value in fields.items())
    body = with_comments_shown("\n\n".join(parts))  # a question may hold one, or a title
    bare = f"---\n{front}\n---\n\n{body}\n".encode("utf-8", "replace").decode()
    mark = f"untouched: {fingerprint(bare)}\n"
    head, line, rest = bare.partition("\nmade_by: 'sediment'\n")
    return f"{head}{line}{mark}{rest}"


def _former(file: Path, conversation_id: str) -> Former | None:
    try:
        head = read_plain(file, output.HEAD).decode("utf-8", "ignore")
        if not head.startswith("---") or f"'{conversation_id}'" not in head or "made_by: 'sediment'" not in head:
            return None
        text = decode(read_plain(file, layout.PAGE_MAX + 1))
    except OSError:
        return None
    if text is None:
        return None
    path = f"{layout.SESSIONS}{file.name}"
    page = read(path, text)
    fields = page.fields
    if fields.get("conversation") != conversation_id:
        return None
    bare = _UNTOUCHED.sub("", text, count=1)
    return Former(
        path=path,
        title=page.title,
        until=fields.get("until", ""),
        model=fields.get("model", NO_MODEL),
        created=fields.get("created", ""),
        summary=_first_words(page.content),
        untouched=fields.get("untouched", "") == fingerprint(bare),
    )


def _first_words(content: str) -> str:
    """The line that stands in the index: the summary's first words."""
    below = content.partition("\n\n")[2]
    no_model = {f"*{words['no_model']}*" for words in _WORDS.values()}
    first, _, rest = below.partition("\n\n")
    return Summary("", rest if first in no_model else below).line


def _list_anew(root: Path, former: Former, summary: Summary) -> None:
    """Put the new title into the page's line of the index, if it still is as we wrote it."""
    file = root / output.INDEX
    before = output.index_line(former.path, former.title, former.summary)
    after = output.index_line(former.path, summary.title, summary.line)
    if before == after:
        return
    done = False

    def renamed(raw: bytes | None) -> bytes | None:
        nonlocal done
        encoding = encoding_of(raw or b"")
        old = before.encode(encoding, "replace")
        done = raw is not None and raw.count(old) == 1
        return raw.replace(old, after.encode(encoding, "replace")) if raw is not None and done else None

    change_file(file, renamed)
    if done:
        return
    append_line(root, output.INDEX, former.path, after)


def _log(root: Path, page: str, conversation_id: str, model: str, at: datetime, what: str = "sediment") -> None:
    line = f"- {output.instant(at)} {what}: {conversation_id} → {page} ({model or NO_MODEL})"
    append_line(root, layout.LOG, line, line)


def _transcript(said: tuple[Said, ...], language: Language) -> Iterator[str]:
    """Every message as a quotation below a line that says whose it is; of a very long talk the newest."""
    words = _WORDS[language]
    parts: list[str] = []
    size = 0
    for number, each in enumerate(reversed(said)):
        who = words["you"] if each.role is Role.USER else words["assistant"]
        cut = f" ({words['cut']})" if each.cut else ""
        part = f"**{who}** · {each.at:%Y-%m-%d %H:%M} UTC{cut}\n\n{quoted_lines(shortened(each.text, MESSAGE_MAX))}"
        size += len(part.encode("utf-8", "replace"))
        if size > TRANSCRIPT_MAX and parts:
            yield f"*{words['left_out'].format(count=len(said) - number)}*"
            break
        parts.append(part)
    yield from reversed(parts)


def _link(path: str) -> str:
    return f"[[{path}]]" if path.startswith(f"{layout.WIKI}/") else f"`{path}`"


_MARKUP = re.compile(r"([\\`*_\[\]<>])")


def _plain(text: str) -> str:
    """Text that is no markup wherever it stands in a line."""
    return _MARKUP.sub(r"\\\1", text)


_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "no_model": "No model was connected: this page was put together from the conversation's own words.",
        "pages": "Pages used",
        "transcript": "Transcript",
        "you": "You",
        "assistant": "Assistant",
        "cut": "cut off",
        "left_out": "{count} earlier messages are left out here.",
    },
    "zh": {
        "no_model": "没有连接模型：本页由对话中的原话整理而成。",
        "pages": "用到的页面",
        "transcript": "对话记录",
        "you": "你",
        "assistant": "助手",
        "cut": "未完成",
        "left_out": "此处略去更早的 {count} 条消息。",
    },
}
