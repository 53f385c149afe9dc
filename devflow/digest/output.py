"""What the application writes of a digest: the page, a line in `index.md`, one in `log.md`; each whole or not at all.

Everything blocks: call it on a thread. `guard` is a file whose lock one writer of a knowledge base at a time holds.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from devflow.digest.answer import Digest, parse_answer
from devflow.digest.plain_file import NEW, append_line, read_plain, write_new
from devflow.digest.slug import slug_of, stamp_of
from devflow.domain.errors import UserFacing
from devflow.domain.ids import now
from devflow.domain.messages import N_
from devflow.store.lock import one_at_a_time
from devflow.wiki import layout
from devflow.wiki.decoding import decode
from devflow.wiki.founding import is_base
from devflow.wiki.page import COMMENT_SHOWN, read
from devflow.wiki.paths import OutsideWiki, resolve_wiki_page_path
from devflow.wiki.walking import walk

HEAD = 4_096
"""Bytes of a page in which its front matter is looked for."""

_SHA = re.compile(r"^sha256:[ \t]*['\"]?([0-9a-f]{64})\b", re.MULTILINE)
INDEX = "index.md"


class NotWritten(UserFacing):
    """The page cannot be written, and the knowledge base is as it was; or it is written, but not listed."""

    code = "not_written"


@dataclass(frozen=True, slots=True)
class Page:
    """What a page is made from. `source` is relative to the knowledge base, or the file's name."""

    digest: Digest
    source: str
    sha256: str
    model: str
    at: datetime

    @property
    def text(self) -> str:
        fields = {
            "title": self.digest.title,
            "source": self.source,
            "sha256": self.sha256,
            "created": instant(self.at),
            "model": self.model,
            "made_by": "digest",
        }
        front = "\n".join(f"{name}: {quoted(value)}" for name, value in fields.items())
        return f"---\n{front}\n---\n\n{self.digest.markdown}\n"


def source_name(root: Path, file: Path) -> str:
    """The file relative to the knowledge base, with `/`, or its name where it lies elsewhere; on one line."""
    name = file.name
    with contextlib.suppress(ValueError, OSError):
        name = file.resolve().relative_to(root).as_posix()
    return " ".join(name.split())


def plan_page(root: Path, source: str, at: datetime, taken: set[str]) -> str:
    """Where the page will stand, relative to the knowledge base: nowhere that is taken; adds it to `taken`."""
    base = f"{layout.SESSIONS}{slug_of(source)}-{stamp_of(at)}"
    for number in range(1, 1_000):
        page = f"{base}{layout.SUFFIX}" if number == 1 else f"{base}-{number}{layout.SUFFIX}"
        if page not in taken and not os.path.lexists(root / page):
            taken.add(page)
            return page
    raise NotWritten(N_("There is no free name for the page of {name}."), "", name=source)


def write_digest_output(
    root: Path, page: str, made: Page, guard: Path, there: Callable[[], str | None] = lambda: None
) -> str:
    """Write the page, then its lines in the index and the log; returns the page.

    `there` is asked once nobody else can write: the page that another process has written of the same content
    meanwhile is returned instead. Raises `NotWritten`; what is there is never replaced.
    """
    with failures(page), one_at_a_time(guard):
        if (other := there()) is not None:
            return other
        write_new(inside(root, page), made.text.encode())
        with unlisted(page):
            _list(root, page, made)
    return page


def list_again(root: Path, page: str, guard: Path) -> None:
    """The page's lines, where a kill came between the page and them."""
    with failures(page), one_at_a_time(guard), unlisted(page):
        text = decode(read_plain(root / page))
        if text is not None:
            _list(root, page, _as_written(page, text))


def tidy(root: Path, guard: Path) -> None:
    """Remove what a kill left half written."""
    with contextlib.suppress(OSError), one_at_a_time(guard):
        for folder in (root, root / layout.SESSIONS):
            for left in folder.glob(f".*{NEW}"):
                left.unlink(missing_ok=True)


class Digested:
    """The page of each digested content, by the `sha256` in its front matter; safe on several threads.

    All pages are read once; then only those that were written since, by whatever process.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._guard = threading.Lock()
        self._looked_at: set[str] = set()
        self._pages: dict[str, str] = {}
        self._look_at(sorted(walk(root).paths()))

    def pages(self) -> dict[str, str]:
        return dict(self._pages)

    def page(self, sha256: str) -> str | None:
        with self._guard, contextlib.suppress(OSError):
            files = (self._root / layout.SESSIONS).glob(f"*{layout.SUFFIX}")
            self._look_at(sorted(f"{layout.SESSIONS}{file.name}" for file in files))
        return self._pages.get(sha256)

    def _look_at(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path in self._looked_at:
                continue
            self._looked_at.add(path)
            with contextlib.suppress(OSError):
                sha = _sha_in(read_plain(self._root / path, HEAD))
                if sha:
                    self._pages.setdefault(sha, path)


def digested(root: Path) -> dict[str, str]:
    """The page of each digested content, right now."""
    return Digested(root).pages()


def sha_of_page(root: Path, page: str) -> str:
    """The `sha256` of a page's front matter; empty where there is no such page."""
    with contextlib.suppress(OSError):
        return _sha_in(read_plain(root / page, HEAD))
    return ""


def title_of_page(root: Path, page: str) -> str:
    """The page's title; its name where it cannot be read."""
    with contextlib.suppress(OSError):
        text = decode(read_plain(root / page, layout.PAGE_MAX))
        if text is not None:
            return read(page, text).title
    return layout.stem(page)


def purpose_of(root: Path) -> str:
    """What the knowledge base is for: `purpose.md` without its heading and comments; empty where nobody says."""
    with contextlib.suppress(OSError):
        text = decode(read_plain(root / "purpose.md", layout.PAGE_MAX))
        if text is not None:
            lines = read("purpose.md", text).content.split("\n")
            return " ".join(" ".join(line for line in lines if not line.startswith("#")).split())
    return ""


def _sha_in(head: bytes) -> str:
    text = head.decode("utf-8", "ignore").removeprefix("\ufeff").replace("\r\n", "\n")
    if not text.startswith("---"):
        return ""
    found = _SHA.search(text.partition("\n---")[0])
    return found[1] if found is not None else ""


def _as_written(page: str, text: str) -> Page:
    found = read(page, text)
    answer = parse_answer(found.content)
    summary = answer.summary if isinstance(answer, Digest) else ""
    fields = found.fields
    try:
        at = datetime.fromisoformat(fields.get("created", ""))
    except ValueError:
        at = now()
    digest = Digest(found.title, summary, found.content)
    return Page(digest, fields.get("source", ""), fields.get("sha256", ""), fields.get("model", ""), at)


def check_writable(root: Path, page: str) -> None:
    """Raise `NotWritten` where the page's folder cannot be written, before a model is paid for it."""
    with failures(page):
        target = inside(root, page)
        if not os.access(target.parent, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def inside(root: Path, page: str) -> Path:
    """Where the page stands on the disk; its folder is made. Raises `NotWritten`, also where the base itself is gone:
    a folder that was moved away while somebody waited for a model does not come back as a ghost."""
    if not is_base(root):
        raise NotWritten(
            N_("The folder of the knowledge base {name} is gone: {path}."),
            N_("Bring it back, or connect the drive that it is on."),
            name=root.name,
            path=str(root),
        )
    try:
        target = resolve_wiki_page_path(root, page)
    except OutsideWiki as error:
        raise NotWritten(
            N_("The folder {folder} leads out of the knowledge base; nothing is written there."),
            N_("Make it a folder of its own instead of a link."),
            folder=layout.SESSIONS,
        ) from error
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _list(root: Path, page: str, made: Page) -> None:
    append_line(root, INDEX, page, index_line(page, made.digest.title, made.digest.summary))
    append_line(root, layout.LOG, page, f"- {instant(made.at)} digest: {made.source} → {page} ({made.model})")


def index_line(page: str, title: str, summary: str) -> str:
    """A page as `index.md` lists it."""
    line = f"- [{_MARKUP.sub(_ESCAPED, title)}]({page}): {summary}"
    return line.replace("<!--", COMMENT_SHOWN)  # it would hide every page listed below


def instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


_MARKUP, _ESCAPED = re.compile(r"[\\\[\]]"), r"\\\g<0>"


def quoted(value: str) -> str:
    """A YAML text in single quotes, on one line."""
    plain = " ".join(value.split())
    return "'" + plain.replace("'", "''") + "'"


@contextlib.contextmanager
def unlisted(page: str) -> Iterator[None]:
    """What fails here has the page written already."""
    try:
        yield
    except OSError as error:
        raise NotWritten(
            N_("The page {page} is written, but it cannot be listed in {index} and {log}: {reason}."),
            N_("Free some space, and check that you may write into the knowledge base. Then try again."),
            page=page,
            index=INDEX,
            log=layout.LOG,
            reason=error.strerror or str(error),
        ) from error


@contextlib.contextmanager
def failures(page: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise NotWritten(
            N_("The page {page} cannot be written: {reason}."),
            N_("Free some space, and check that you may write into the knowledge base."),
            page=page,
            reason=error.strerror or str(error),
        ) from error
