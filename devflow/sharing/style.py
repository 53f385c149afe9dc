"""The style sheets of an exported conversation, in the window's own colours: one for browsers, one for Qt's pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_CODE = ("code-keyword", "code-string", "code-func", "code-number", "code-comment")
_USED = (
    "surface", "surface-sunken", "hairline", "text", "text-muted", "accent-fg", "code-bg", "code-text", "warning-bg",
    *_CODE,
)  # fmt: skip

_BROWSERS = """\
body { margin: 0; background: var(--surface); color: var(--text); font: 16px/1.65 system-ui, "PingFang SC",
  "Microsoft YaHei UI", "Noto Sans CJK SC", sans-serif; overflow-wrap: anywhere; }
main { max-width: 46rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.3; margin: 0 0 .3rem; }
h2, h3 { font-size: 1rem; line-height: 1.4; margin: 0; }
h4, h5, h6 { font-size: 1.05rem; margin: 1.4rem 0 .4rem; }
.facts, .language { color: var(--text-muted); font-size: .82rem; margin: 0 0 .6rem; }
.notice { background: var(--warning-bg); border-radius: 6px; padding: .5rem .8rem; font-size: .88rem; }
.question { background: var(--surface-sunken); border: 1px solid var(--hairline); border-radius: 8px;
  padding: .9rem 1.1rem .3rem; margin: 2.2rem 0 1.2rem; }
.answer { margin: 1.2rem 0; }
.language { margin: 1rem 0 .2rem; }
pre { background: var(--code-bg); color: var(--code-text); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto;
  overflow-wrap: normal; margin: .2rem 0 1rem; }
pre, code { font-family: ui-monospace, "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", "Noto Sans Mono CJK SC",
  monospace; font-size: .875em; line-height: 1.55; tab-size: 4; }
:not(pre) > code { background: var(--code-bg); border-radius: 4px; padding: .1em .35em; }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 0 0 1rem; }
th, td { border: 1px solid var(--hairline); padding: .35rem .7rem; text-align: left; vertical-align: top; }
blockquote { border-left: 3px solid var(--hairline); color: var(--text-muted); margin: 0 0 1rem; padding-left: 1rem; }
a { color: var(--accent-fg); }
.calls { color: var(--text-muted); font-size: .9rem; padding-left: 1.2rem; }
.sources { border-top: 1px solid var(--hairline); margin-top: 2.5rem; padding-top: 1.2rem; }
hr { border: 0; border-top: 1px solid var(--hairline); }
@media print { main { max-width: none; padding: 0; } pre { white-space: pre-wrap; } .question { break-inside: avoid; } }
"""
_QT = """\
p, li { margin-top: 0; margin-bottom: 5px; }
ul, ol { margin-top: 0; margin-bottom: 5px; }
table { border-color: %hairline%; margin-top: 4px; margin-bottom: 8px; }
td p, th p { margin: 0; }
.h1 { font-size: 17pt; font-weight: 600; margin-bottom: 2px; }
.h2 { font-size: 11pt; font-weight: 600; margin-top: 16px; margin-bottom: 0; }
.h3 { font-size: 10pt; font-weight: 600; color: %accent-fg%; margin-top: 8px; margin-bottom: 0; }
.h4, .h5, .h6 { font-size: 10pt; font-weight: 600; margin-top: 8px; margin-bottom: 3px; }
.facts, .language { color: %text-muted%; font-size: 8pt; }
.notice { background-color: %warning-bg%; }
pre { background-color: %code-bg%; color: %code-text%; font-size: 8.5pt; margin-top: 0; margin-bottom: 0; }
code { font-size: 8.5pt; }
blockquote { color: %text-muted%; }
a { color: %accent-fg%; text-decoration: none; }
th { text-align: left; font-weight: 600; }
"""
"""Headings as paragraphs, for Qt gives `h1` to `h6` sizes of its own."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """`light` and `dark`: colours by their token."""

    light: Mapping[str, str]
    dark: Mapping[str, str]

    def for_browsers(self) -> str:
        """Both themes: the reader's system says which."""
        code = "".join(f".{token} {{ color: var(--{token}); }}\n" for token in _CODE)
        dark = f"@media screen and (prefers-color-scheme: dark) {{ {_root(self.dark)} }}\n"
        return f":root {{ color-scheme: light dark; }}\n{_root(self.light)}\n{dark}{_BROWSERS}{code}"

    def for_pages(self) -> str:
        """What Qt's rich text understands; paper is light."""
        code = "".join(f".{token} {{ color: {self.light[token]}; }}\n" for token in _CODE)
        return _filled(_QT, self.light) + code


def read_sheet(resources: Path) -> Sheet:
    colours = json.loads((resources / "style" / "tokens.json").read_text(encoding="utf-8"))["color"]
    return Sheet(colours["light"], colours["dark"])


def _root(colours: Mapping[str, str]) -> str:
    return ":root { " + " ".join(f"--{token}: {colours[token]};" for token in _USED) + " }"


def _filled(sheet: str, colours: Mapping[str, str]) -> str:
    for token in _USED:
        sheet = sheet.replace(f"%{token}%", colours[token])
    return sheet
