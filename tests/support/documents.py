"""Small writers of documents: a PDF and a DOCX that hold exactly the given text, made without any library of theirs."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping, Sequence

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
</Types>"""
_RELS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">
<Relationship Id="rId1" Target="word/document.xml"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"/>
</Relationships>"""


def docx(paragraphs: Sequence[str], *, extra: Mapping[str, bytes] | None = None, prolog: str = "") -> bytes:
    """A Word document; a paragraph that begins with `# ` is a heading. `extra` are further parts of the package."""
    body = "".join(map(_paragraph, paragraphs))
    document = f'<?xml version="1.0" encoding="UTF-8"?>{prolog}<w:document {_W}><w:body>{body}</w:body></w:document>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", _TYPES)
        package.writestr("_rels/.rels", _RELS)
        package.writestr("word/document.xml", document)
        for name, data in (extra or {}).items():
            package.writestr(name, data)
    return out.getvalue()


def _paragraph(text: str) -> str:
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>' if text.startswith("# ") else ""
    plain = text.removeprefix("# ").replace("&", "&amp;").replace("<", "&lt;")
    return f'<w:p>{style}<w:r><w:t xml:space="preserve">{plain}</w:t></w:r></w:p>'


def pdf(pages: Sequence[str], *, encrypted: bool = False) -> bytes:
    """A PDF with a page for each text, in a font that maps each code to its character. An empty text: a blank page."""
    objects: list[bytes] = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", _FONT, _DESCENDANT, _DESCRIPTOR]
    objects.append(_stream(_to_unicode(sorted(set("".join(pages))))))
    kids = []
    for text in pages:
        objects.append(_stream(_shown(text)))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R"
            b" /Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(len(objects))
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    if encrypted:
        objects.append(_ENCRYPT)
    return _file(objects, encrypt=len(objects) if encrypted else 0)


_FONT = (
    b"<< /Type /Font /Subtype /Type0 /BaseFont /Plain /Encoding /Identity-H /DescendantFonts [4 0 R]"
    b" /ToUnicode 6 0 R >>"
)
_DESCENDANT = (
    b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Plain /FontDescriptor 5 0 R /DW 1000"
    b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
)
_DESCRIPTOR = (
    b"<< /Type /FontDescriptor /FontName /Plain /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800"
    b" /Descent -200 /CapHeight 700 /StemV 80 >>"
)
_ENCRYPT = b"<< /Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <" + b"a5" * 32 + b"> /U <" + b"5a" * 32 + b"> >>"


def _shown(text: str) -> bytes:
    lines = [text[i : i + 40] for i in range(0, len(text), 40)]
    shown = b" T*\n".join(b"<%s> Tj" % b"".join(b"%04x" % ord(char) for char in line) for line in lines)
    return b"BT /F1 12 Tf 14 TL 50 800 Td\n%s\nET" % shown if lines else b""


def _to_unicode(chars: Sequence[str]) -> bytes:
    pairs = b"\n".join(b"<%04x> <%04x>" % (ord(char), ord(char)) for char in chars)
    return (
        b"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /U def /CMapType 2 def\n"
        b"1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        b"%d beginbfchar\n%s\nendbfchar\nendcmap end end" % (len(chars), pairs)
    )


def _stream(data: bytes) -> bytes:
    packed = zlib.compress(data)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)


def _file(objects: Sequence[bytes], *, encrypt: int) -> bytes:
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    guard = b" /Encrypt %d 0 R /ID [<00> <00>]" % encrypt if encrypt else b""
    return out + (
        b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF\n"
        % (len(objects) + 1, table, len(objects) + 1, guard, len(out))
    )
