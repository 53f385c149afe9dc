"""Reads one document in a process of its own: bytes on standard input, JSON on standard output.

    python -m devflow.digest.extracting .pdf

The answer is `{"text": …}`, or `{"why": …, "detail": …}` with one of encrypted, empty, encoding, entities, too_large,
broken.
Nothing here reaches the network: pictures are left out, and a document that declares entities is refused.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import re
import sys
import zipfile
from typing import TYPE_CHECKING

from devflow.digest.limits import MEMORY_MAX, PAGES_MAX, PARTS_MAX, TEXT_MAX, UNPACKED_MAX
from devflow.wiki.decoding import decode

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_NO_TEXT = ("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "img", "picture", "video")
_DECLARES = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")


class Refused(Exception):
    """Why there is no text; `why` is a word of the protocol."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(detail or why)
        self.why = why
        self.detail = detail


def main() -> int:
    _hold_to_memory()
    logging.disable(logging.CRITICAL)
    suffix = sys.argv[1]
    data = sys.stdin.buffer.read()
    try:
        answer = answer_of(extract(suffix, data))
    except Refused as refusal:
        answer = answer_of(why=refusal.why, detail=refusal.detail)
    except MemoryError:
        answer = answer_of(why="too_large", detail="it needs too much memory")
    except Exception as error:  # noqa: BLE001 - whatever the library met in a foreign file
        answer = answer_of(why="broken", detail=f"{type(error).__name__}: {error}"[:200].rstrip("."))
    sys.stdout.buffer.write(answer)
    return 0


def answer_of(text: str | None = None, why: str = "", detail: str = "") -> bytes:
    """What goes to standard output."""
    said = {"text": text} if text is not None else {"why": why, "detail": detail}
    return json.dumps(said).encode("ascii")


def extract(suffix: str, data: bytes) -> str:
    """The text as Markdown; raises `Refused`, or whatever a library raises at a broken file."""
    match suffix:
        case ".pdf":
            return from_pdf(data)
        case ".docx":
            return from_docx(data)
        case ".html":
            html = decode(data)
            if html is None:
                raise Refused("encoding")
            return from_html(html)
        case _:
            raise Refused("broken", f"nothing reads {suffix}")


def from_pdf(data: bytes) -> str:
    """The text of every page. Without text it is `empty`: pictures of text are none."""
    from pypdf import PasswordType, PdfReader
    from pypdf.errors import DependencyError, FileNotDecryptedError

    if not data[:1024].lstrip().startswith(b"%PDF-"):
        raise Refused("broken", "it does not begin as a PDF does")
    try:
        reader = PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and reader.decrypt("") is PasswordType.NOT_DECRYPTED:
            raise Refused("encrypted")
        if len(reader.pages) > PAGES_MAX:
            raise Refused("too_large", f"{len(reader.pages):,} pages, at most {PAGES_MAX:,}")
        pages, length = [], 0
        for page in reader.pages:
            text = page.extract_text().strip()
            length += len(text)
            if length > TEXT_MAX:
                raise Refused("too_large", f"more than {TEXT_MAX:,} characters")
            if text:
                pages.append(text)
    except (FileNotDecryptedError, DependencyError) as error:
        raise Refused("encrypted") from error
    if not any(char.isalnum() for text in pages for char in text):
        raise Refused("empty")
    return "\n\n".join(pages)


def from_docx(data: bytes) -> str:
    """The document by way of HTML, without its pictures."""
    import mammoth

    _check_package(data)
    converted = mammoth.convert_to_html(io.BytesIO(data), convert_image=lambda image: [], external_file_access=False)
    return from_html(converted.value)


def from_html(html: str) -> str:
    """What a reader of the page would read, as Markdown; its title comes first where no heading says it."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    soup = BeautifulSoup(html, "html.parser")
    title = _title(soup)
    for found in soup(list(_NO_TEXT)):
        found.decompose()
    if soup.head is not None:
        soup.head.decompose()
    text = MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(soup)
    text = _BLANK_LINES.sub("\n\n", text).strip()
    if not text:
        raise Refused("empty")
    return f"# {title}\n\n{text}" if title and not soup.find("h1") else text


def _title(soup: BeautifulSoup) -> str:
    return " ".join(soup.title.get_text().split()) if soup.title is not None else ""


def _check_package(data: bytes) -> None:
    """A DOCX is a ZIP: what it claims to unpack to is also all that is ever unpacked of it."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise Refused("encrypted")  # Word keeps a protected document in a container of another kind
    try:
        package = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Refused("broken", "it is no ZIP file, as every DOCX is") from error
    with package:
        parts = package.infolist()
        if len(parts) > PARTS_MAX:
            raise Refused("too_large", f"{len(parts):,} parts, at most {PARTS_MAX:,}")
        size = sum(part.file_size for part in parts)
        if size > UNPACKED_MAX:
            raise Refused("too_large", f"{size // 1_000_000:,} MB, at most {UNPACKED_MAX // 1_000_000:,} MB")
        if any(part.flag_bits & 1 for part in parts):
            raise Refused("encrypted")
        if "[Content_Types].xml" not in package.namelist():
            raise Refused("broken", "it is a ZIP file, but no DOCX")
        for part in parts:
            if part.filename.endswith((".xml", ".rels")) and _declares_entities(package.read(part)):
                raise Refused("entities")


def _declares_entities(xml: bytes) -> bool:
    """Entities could unpack without end, or name files and addresses."""
    return _DECLARES.search(xml.replace(b"\x00", b"")) is not None  # UTF-16 without its zeros is ASCII here


def _hold_to_memory() -> None:
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = MEMORY_MAX if hard == resource.RLIM_INFINITY else min(MEMORY_MAX, hard)
        with contextlib.suppress(ValueError, OSError):  # not every system can; the time is limited all the same
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))


if __name__ == "__main__":
    sys.exit(main())
