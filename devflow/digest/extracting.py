"""Reads one document in a process of its own: bytes on standard input, JSON on standard output.

    python -m devflow.digest.extracting .pdf

The answer is `{"text": …}`, or `{"why": …, "detail": …}` with one of encrypted, empty, encoding, entities, too_large,
broken.
Nothing here reaches the network: pictures are left out, and a document that declares entities is refused.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import logging
import re
import sys
import zipfile
from typing import TYPE_CHECKING, Any

from devflow.digest.limits import MEMORY_MAX, PAGES_MAX, PARTS_MAX, TEXT_MAX, UNPACKED_MAX
from devflow.wiki.decoding import decode

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

_NO_TEXT = ("script", "style", "noscript", "template", "svg", "math", "iframe", "object", "img", "picture", "video")
_DECLARES = re.compile(rb"<!\s*(?:DOCTYPE|ENTITY)", re.IGNORECASE)
_CHARSET = re.compile(
    rb"<meta\b[^>]{0,300}?\bcharset\s{0,5}=\s{0,5}[\"']?\s{0,5}([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE
)
_DECLARED_WITHIN = 4_096
"""Bytes at a page's beginning; browsers look at the first 1,024."""
_AS_BROWSERS = {
    **dict.fromkeys((b"iso-8859-1", b"latin1", b"latin-1", b"ascii", b"us-ascii"), "cp1252"),
    **dict.fromkeys((b"gb2312", b"gbk", b"gb_2312-80"), "gb18030"),
    **dict.fromkeys((b"shift_jis", b"shift-jis", b"x-sjis", b"sjis"), "cp932"),
    **dict.fromkeys((b"euc-kr", b"ks_c_5601-1987"), "cp949"),
    b"big5": "big5hkscs",
}
"""What pages mean by a name: the wider encoding, as browsers read it."""
_BLOCKS = (
    *("address", "article", "aside", "blockquote", "details", "div", "dl", "fieldset", "figure", "footer", "form"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section", "table", "ul"),
)
_HOLDERS = ("[document]", "body", "div", "td", "th", "table", "section", "article", "blockquote", "button", "object")
_ENDED_BY: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    **dict.fromkeys(_BLOCKS, (("p",), _HOLDERS)),
    "li": (("li", "p"), ("ul", "ol", "menu")),
    **dict.fromkeys(("dt", "dd"), (("dt", "dd", "p"), ("dl",))),
    **dict.fromkeys(("td", "th"), (("td", "th", "p"), ("tr", "table"))),
    "tr": (("tr",), ("table", "thead", "tbody", "tfoot")),
    **dict.fromkeys(("thead", "tbody", "tfoot"), (("thead", "tbody", "tfoot"), ("table",))),
    "option": (("option",), ("select", "optgroup")),
}
"""By the name of a tag that begins: the tags that it ends, and those beyond which it ends nothing."""
_LOOKED_UP = 12
"""So many tags upwards: between a paragraph and what ends it stand a few marks of emphasis at most."""
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
            html = decode_html(data)
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


def decode_html(data: bytes) -> str | None:
    """A page's text in the encoding that it declares, unless it is Unicode: then the declaration may be an old one."""
    declared = _CHARSET.search(data[:_DECLARED_WITHIN])
    if declared is not None and not _is_unicode(data):
        with contextlib.suppress(LookupError, UnicodeError):
            text = data.decode(_AS_BROWSERS.get(declared[1].lower(), declared[1].decode("ascii")))
            return None if "\x00" in text else text
    return decode(data)


def _is_unicode(data: bytes) -> bool:
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return True
    with contextlib.suppress(UnicodeDecodeError):
        data.decode("utf-8")
        return True
    return False


def parsed(html: str) -> BeautifulSoup:
    """The page as a tree. End tags that HTML lets an author leave out are put where they belong: else every such
    paragraph would stand in the one before, deeper than anything can be walked."""
    from bs4 import BeautifulSoup

    class Page(BeautifulSoup):
        def handle_starttag(self, name: str, *args: Any, **options: Any) -> Any:
            ended = _ENDED_BY.get(name)
            tag = self.currentTag
            for _ in range(_LOOKED_UP if ended is not None else 0):
                if tag is None or ended is None or tag.name in ended[1]:
                    break
                if tag.name in ended[0]:
                    self.handle_endtag(tag.name)
                    if tag.name == name or tag.name == "p":
                        break
                tag = tag.parent
            return super().handle_starttag(name, *args, **options)

    return Page(html, "html.parser")


def from_html(html: str) -> str:
    """What a reader of the page would read, as Markdown; its title comes first where no heading says it."""
    from markdownify import MarkdownConverter

    soup = parsed(html)
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
