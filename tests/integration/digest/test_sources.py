"""The text of files of every kind that a digest takes, and a clear sentence for those that have none."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from devflow.digest import extracting, sources
from devflow.digest.sources import Stop, Unreadable, read_raw, text_of
from tests.support.commands import ROOT, environment
from tests.support.documents import docx, pdf

CHINESE = "自媒体文章：怎样写标题"


def text(folder: Path, name: str, data: bytes, **options: float) -> str:
    file = folder / name
    file.write_bytes(data)
    return text_of(read_raw(file), **options)


def refusal(folder: Path, name: str, data: bytes, **options: float) -> str:
    with pytest.raises(Unreadable) as refused:
        text(folder, name, data, **options)
    assert name in str(refused.value)
    return f"{refused.value} {refused.value.hint}"


def test_a_pdf_gives_the_text_of_all_its_pages(tmp_path: Path) -> None:
    assert text(tmp_path, "文章.pdf", pdf([CHINESE, "A second page"])) == f"{CHINESE}\n\nA second page"


def test_a_word_document_gives_its_headings_and_text(tmp_path: Path) -> None:
    assert text(tmp_path, "文章.docx", docx([f"# {CHINESE}", "正文 <b> & 更多"])) == f"# {CHINESE}\n\n正文 <b> & 更多"


def test_a_web_page_gives_what_a_reader_reads(tmp_path: Path) -> None:
    page = (
        f"<html><head><title>{CHINESE}</title><style>p {{}}</style></head><body><script>alert('x')</script>"
        '<p>正文<img src="http://example.invalid/a.png" alt="picture"></p>'
        "<table><tr><th>A</th></tr><tr><td>1</td></tr></table></body></html>"
    )
    read = text(tmp_path, "文章.html", page.encode("gb18030"))
    assert read == f"# {CHINESE}\n\n正文\n\n| A |\n| --- |\n| 1 |"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("suffix", [".md", ".txt", ".MD"])
def test_a_plain_text_is_read_in_its_encoding(tmp_path: Path, encoding: str, suffix: str) -> None:
    assert text(tmp_path, f"文章{suffix}", f"{CHINESE}\r\n第二行\n".encode(encoding)) == f"{CHINESE}\n第二行"


def test_a_scanned_pdf_says_that_it_has_no_text_and_what_to_do(tmp_path: Path) -> None:
    said = refusal(tmp_path, "scan.pdf", pdf(["", ""]))
    assert "no text that can be extracted" in said
    assert "OCR" in said


def test_a_protected_document_says_so(tmp_path: Path) -> None:
    assert "protected by a password" in refusal(tmp_path, "a.pdf", pdf([CHINESE], encrypted=True))
    assert "protected by a password" in refusal(tmp_path, "a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512)


@pytest.mark.parametrize(
    "name,data",
    [
        ("a.pdf", b"hello"),
        ("a.pdf", pdf([CHINESE])[:600]),
        ("a.docx", b"PK\x03\x04junk"),
        ("a.docx", docx(["x"])[:200]),
        ("a.html", b"<div>" * 20_000 + b"deep"),
    ],
)
def test_a_broken_document_says_so(tmp_path: Path, name: str, data: bytes) -> None:
    assert "damaged" in refusal(tmp_path, name, data)


def test_a_zip_that_unpacks_without_end_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    bomb = docx(["x"], extra={"word/media/a.bin": bytes(extracting.UNPACKED_MAX + 1)})
    assert len(bomb) < 1_000_000
    assert "too large once it is unpacked" in refusal(tmp_path, "bomb.docx", bomb)


def test_a_word_document_cannot_name_files_or_addresses(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret")
    entity = f'<!DOCTYPE w [<!ENTITY a SYSTEM "{(tmp_path / "secret").as_uri()}">]>'
    assert "declares entities" in refusal(tmp_path, "a.docx", docx(["x"], prolog=entity))


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_an_empty_file_has_no_text(tmp_path: Path, name: str) -> None:
    assert "no text that can be extracted" in refusal(tmp_path, name, b" \n\t\n")


def test_bytes_that_are_no_text_are_refused_instead_of_shown_as_mojibake(tmp_path: Path) -> None:
    assert "encoding" in refusal(tmp_path, "a.txt", bytes(range(256)))


def test_what_is_missing_no_file_or_of_another_kind_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    for name, word in (("gone.md", "cannot be read"), ("pipe.md", "no regular"), ("folder.md", "folder.md")):
        with pytest.raises(Unreadable, match=word):
            read_raw(tmp_path / name)
    (tmp_path / "a.png").write_bytes(b"")
    with pytest.raises(Unreadable, match="kind"):
        read_raw(tmp_path / "a.png")


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(sources.BYTES_MAX + 1)
    with pytest.raises(Unreadable, match="larger than 50 MB"):
        read_raw(tmp_path / "large.txt")


def test_more_text_than_can_be_digested_is_refused(tmp_path: Path) -> None:
    assert "more text" in refusal(tmp_path, "a.txt", b"x" * (sources.TEXT_MAX + 1))


def test_reading_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    assert "took longer" in refusal(tmp_path, "a.html", b"<p>text", seconds=0.001)


def test_reading_can_be_stopped_from_outside(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf([CHINESE]))
    stop = Stop()
    began = time.monotonic()
    stopper = threading.Thread(target=stop.stop)
    stopper.start()
    stopper.join()
    with pytest.raises(Unreadable):
        text_of(read_raw(tmp_path / "a.pdf"), stop)
    assert time.monotonic() - began < 2


def test_the_libraries_are_loaded_by_the_reader_of_documents_alone() -> None:
    program = (
        "import sys, devflow.digest.sources, devflow.app.core; "
        "print([name for name in ('pypdf', 'mammoth', 'markdownify', 'bs4') if name in sys.modules])"
    )
    started = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment(), capture_output=True, text=True, check=True
    )
    assert started.stdout.strip() == "[]"


def test_reading_a_document_reaches_no_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = tmp_path / "attempts"
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "support" / "no_network"))
    monkeypatch.setenv("NETWORK_ATTEMPTS", str(attempts))
    page = '<link rel="stylesheet" href="http://example.invalid/a.css"><img src="http://example.invalid/a.png"><p>正文'
    assert text(tmp_path, "a.html", page.encode()) == "正文"
    linked = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r9" '
        'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/image" TargetMode="External" '
        'Target="http://example.invalid/a.png"/></Relationships>'
    )
    document = docx(["正文"], extra={"word/_rels/document.xml.rels": linked.encode()})
    assert text(tmp_path, "a.docx", document) == "正文"
    assert not attempts.exists()


@pytest.mark.parametrize(
    "declared,encoding,words",
    [
        ("shift_jis", "cp932", "日本語の文章です"),
        ("big5", "big5", "繁體中文的文章，測試"),
        ("EUC-KR", "cp949", "한국어 문장입니다"),
        ("iso-8859-1", "cp1252", "Un été très agréable – à côté"),
        ("gbk", "utf-8", "改存为新编码的文章"),
    ],
)
def test_a_web_page_is_read_in_the_encoding_that_it_declares_unless_it_is_unicode(
    tmp_path: Path, declared: str, encoding: str, words: str
) -> None:
    page = f'<html><head><meta charset="{declared}"></head><body><p>{words}</p></body></html>'
    assert text(tmp_path, "a.html", page.encode(encoding)) == words


def test_paragraphs_lists_and_tables_without_end_tags_are_read_as_browsers_do(tmp_path: Path) -> None:
    assert text(tmp_path, "a.html", b"<body>" + b"<p>word\n" * 1_000).count("word") == 1_000
    table = text(tmp_path, "b.html", b"<table><tr><th>a<th>b<tr><td>1<td>2</table>")
    assert table == "| a | b |\n| --- | --- |\n| 1 | 2 |"
    listed = text(tmp_path, "c.html", b"<ul><li>one<ul><li>in<li>in2</ul><li>two</ul>after")
    assert listed.replace(" ", "").startswith("*one\n+in\n+in2\n*two")
