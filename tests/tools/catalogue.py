"""The Chinese catalogue: extract, merge, compile, check. Run by `dev.py i18n` and `dev.py check`.

The source strings stand in `devflow/`, the translation in `resources/i18n/zh_CN/LC_MESSAGES/devflow.po`. The compiled
`.mo` beside it is committed, because the application runs from a clone without a build step. Both files are the same
byte for byte whoever makes them: no dates, no line numbers.
"""

import argparse
import contextlib
import io
import re
import string
import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.frontend import parse_keywords
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parents[2]
CATALOGUE = ROOT / "resources" / "i18n" / "zh_CN" / "LC_MESSAGES" / "devflow.po"
# `t("…")`, `n("one", "many", count)`, `p("context", "…")`; `N_` and `np` only mark.
KEYWORDS = parse_keywords(["t", "_t", "n:1,2", "p:1c,2", "N_"])
SEPARATOR = "|||"


def main() -> int:
    parser = argparse.ArgumentParser(prog="dev.py i18n", description=__doc__)
    parser.add_argument("--update", action="store_true", help="extract, keep what is translated, compile (the default)")
    parser.add_argument("--merge", type=Path, metavar="DIR", help="take in `English ||| 中文` lines from DIR/*.txt")
    parser.add_argument("--check", action="store_true", help="only look: complete, compiled, placeholders alike")
    arguments = parser.parse_args()
    if arguments.check:
        complaints = check()
        for complaint in complaints:
            print(complaint)
        print("run `python3 dev.py i18n`, translate" if complaints else "the Chinese catalogue is complete")
        return 1 if complaints else 0
    catalogue = updated()
    if arguments.merge:
        for remark in merge(catalogue, sorted(arguments.merge.glob("*.txt"))):
            print(remark)
    write(catalogue)
    untranslated = [message for message in entries(catalogue) if not is_translated(message)]
    for message in untranslated:
        print(f"untranslated: {label(message)}")
    print(f"{len(list(entries(catalogue)))} strings, {len(untranslated)} untranslated")
    return 0


def check() -> list[str]:
    """Return what is wrong with the committed catalogue, one sentence each."""
    if not CATALOGUE.exists():
        return [f"there is no {CATALOGUE.relative_to(ROOT)}"]
    kept, wanted = read(), updated()
    complaints = [f"not in the catalogue: {label(m)}" for m in entries(wanted) if lookup(kept, m) is None]
    complaints += [f"no longer in the source: {label(m)}" for m in entries(kept) if lookup(wanted, m) is None]
    for message in entries(kept):
        if not is_translated(message):
            complaints.append(f"untranslated: {label(message)}")
        elif placeholders(message.string) - placeholders(message.id) or (
            not message.pluralizable and placeholders(message.string) != placeholders(message.id)
        ):
            complaints.append(f"other placeholders than the source: {label(message)}")
    compiled = CATALOGUE.with_suffix(".mo")
    if not compiled.exists() or compiled.read_bytes() != compile_catalogue(kept):
        complaints.append(f"{compiled.relative_to(ROOT)} is stale")
    return complaints


def updated() -> Catalog:
    """The committed catalogue with today's strings of the source; new ones are empty, gone ones are dropped."""
    catalogue = read() if CATALOGUE.exists() else Catalog(locale="zh_CN", domain="devflow", fuzzy=False)
    template = Catalog(domain="devflow", fuzzy=False)
    options = {"encoding": "utf-8"}
    # An f-string among the parameters is right, whatever Babel says; as the text itself, tests/architecture refuses it.
    with contextlib.redirect_stderr(io.StringIO()):
        found = list(extract_from_dir(ROOT / "devflow", [("**.py", "python")], {"**.py": options}, KEYWORDS))
    for file, _line, text, comments, context in sorted(found, key=lambda each: (each[0], each[1])):
        template.add(text, None, [(file, 0)], auto_comments=comments, context=context)
    catalogue.update(template, no_fuzzy_matching=True, update_header_comment=False)
    catalogue.obsolete.clear()
    return catalogue


def merge(catalogue: Catalog, files: Iterable[Path]) -> Iterator[str]:
    """Fill empty translations from lines `English ||| 中文` or `context :: English ||| 中文`; yield what to look at.

    A plural takes the line of its plural, else of its singular: Chinese has one form. `\\n` stands for a line break.
    """
    lines = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            if SEPARATOR in line:
                english, _, chinese = line.partition(SEPARATOR)
                lines[unescape(english)] = unescape(chinese)
    used = set()
    for message in entries(catalogue):
        words = message.id if isinstance(message.id, tuple) else (message.id,)
        keys = [key for word in reversed(words) for key in (f"{message.context} :: {word}", word)]
        found = next((key for key in keys if key.strip() in lines), None)
        used.update(key.strip() for key in keys)
        if found is None:
            continue
        chinese = lines[found.strip()]
        if not is_translated(message):
            message.string = (chinese,) if message.pluralizable else chinese
        elif chinese not in (message.string, *message.string):
            yield f"kept the older translation of {label(message)}: {message.string!r}, not {chinese!r}"
    yield from (f"no such string in the source: {english!r}" for english in lines if english not in used)


def unescape(text: str) -> str:
    return text.strip().replace("\\n", "\n")


def read() -> Catalog:
    with CATALOGUE.open("rb") as file:
        return read_po(file, locale="zh_CN", domain="devflow")


def write(catalogue: Catalog) -> None:
    CATALOGUE.parent.mkdir(parents=True, exist_ok=True)
    text = io.BytesIO()
    write_po(text, catalogue, width=120, omit_header=True, include_lineno=False, sort_by_file=True)
    header = (
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n'
        '"Language: zh_CN\\n"\n"Plural-Forms: nplurals=1; plural=0;\\n"\n\n'
    )
    CATALOGUE.write_bytes(header.encode() + text.getvalue())
    CATALOGUE.with_suffix(".mo").write_bytes(compile_catalogue(read()))


def compile_catalogue(catalogue: Catalog) -> bytes:
    """The .mo file; its header carries one fixed date, so that equal translations are equal bytes."""
    fixed = datetime(2026, 1, 1, tzinfo=UTC)
    plain = Catalog(
        locale="zh_CN",
        domain="devflow",
        project="devflow",
        version="1",
        msgid_bugs_address="-",
        creation_date=fixed,
        revision_date=fixed,
        last_translator="the DevFlow authors",
        language_team="zh_CN",
        fuzzy=False,
    )
    for message in entries(catalogue):
        plain.add(message.id, message.string, context=message.context)
    compiled = io.BytesIO()
    write_mo(compiled, plain)
    return compiled.getvalue()


def entries(catalogue: Catalog) -> Iterator[Message]:
    """Every message but the header."""
    return (message for message in catalogue if message.id)


def lookup(catalogue: Catalog, message: Message) -> Message | None:
    found = catalogue.get(message.id, message.context)
    return found if found is not None and found.id == message.id else None


def is_translated(message: Message) -> bool:
    strings = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
    return not message.fuzzy and bool(strings) and all(strings)


def placeholders(texts: str | Iterable[str]) -> set[str]:
    texts = (texts,) if isinstance(texts, str) else texts
    return {name for text in texts for _, name, _, _ in string.Formatter().parse(brace_safe(text)) if name}


def brace_safe(text: str) -> str:
    """Only `{name}` is a placeholder; any other brace is text (a string without parameters is never formatted)."""
    return re.sub(r"\{(?![a-z_]+\})|(?<!\w)\}", "", text)


def label(message: Message) -> str:
    words = message.id[0] if isinstance(message.id, tuple) else message.id
    return f"{message.context} :: {words!r}" if message.context else repr(words)


if __name__ == "__main__":
    sys.exit(main())
