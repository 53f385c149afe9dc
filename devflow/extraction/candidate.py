"""A message as a candidate without a model: its first heading or sentence as title, and a plain guess of its kind."""

from __future__ import annotations

import re

from devflow.domain.citations import without_marks
from devflow.domain.conversation import OFFLINE, Message
from devflow.domain.knowledge import TITLE_MAX, EntryDraft, Evidence, Kind, draft
from devflow.domain.messages import N_
from devflow.domain.redaction import redact
from devflow.domain.text import cut_at_sentence
from devflow.providers.offline import quoted_part

TITLE_AIM = 80  # characters; a longer first sentence is cut at a word
QUOTE_MAX = 300  # characters of the message that stand as its evidence

UNTITLED = N_("Untitled")

_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
_FENCE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_LINE_MARK = re.compile(r"^\s*(?:[-*+>]|\d{1,3}[.)]|\[[ xX]\]|\|)+\s*")
_INLINE = re.compile(r"\*\*|__|`|!?\[([^\]]*)\]\([^)]*\)|\[K\d+\]")
_SENTENCE = re.compile(r".+?(?:[。！？!?]|[.](?=\s|$)|$)")

_KIND_WORDS: tuple[tuple[Kind, str], ...] = (
    (
        Kind.DIAGNOSIS,
        r"root cause|caused by|diagnos|stack ?trace|traceback|the reason (?:is|was)|排查|根因|原因是|报错|定位",
    ),
    (Kind.PITFALL, r"pitfall|gotcha|beware|careful|trap\b|do not|don't|never\b|踩坑|陷阱|坑|注意|不要|切勿|避免"),
    (Kind.DEPLOYMENT_NOTE, r"deploy|release|rollback|docker|nginx|kubernetes|systemd|helm|部署|上线|发布|回滚"),
    (Kind.REVIEW_RULE, r"code review|review rule|must always|checklist|lint|审查|评审|规范|必须检查"),
    (Kind.PROMPT_TEMPLATE, r"prompt|system message|few-shot|提示词|指令模板"),
    (Kind.ARCHITECTURE_PATTERN, r"architect|pattern|layer|module boundar|event[- ]driven|架构|模式|分层|解耦"),
    (Kind.WORKFLOW_OPTIMIZATION, r"workflow|automat|speed up|shortcut|pipeline|流程|自动化|提效|脚本化"),
)


def candidate_from(
    message: Message, *, kind: str | None = None, title: str | None = None, project_id: str | None = None
) -> EntryDraft:
    """The whole message as a draft, without secrets and `[K1]` marks; InvalidInput where it is too long or empty.

    Of the offline assistant only what it quotes: what it says of itself would be quoted in its next answers. The
    evidence is the message's own beginning, marks and all.
    """
    text = quoted_part(message.content) if message.provider_id == OFFLINE.provider_id else message.content
    said = redact(text).text.strip()
    content = without_marks(said).strip()
    return draft(
        kind=kind or guess_kind(content),
        title=redact(title).text if title and title.strip() else title_of(content),
        content=content,
        project_id=project_id,
        source_ref=f"conv:{message.conversation_id}",
        evidence=Evidence((message.id,), _beginning(said), message.role.value),
    )


def _beginning(text: str) -> str:
    """Word for word, ended with a sentence where one ends."""
    quote, was_cut = cut_at_sentence(text, QUOTE_MAX)
    return quote[:-1] if was_cut else quote


def title_of(text: str) -> str:
    """The first heading, else the first sentence of prose, else the first line of code; at most 200 characters."""
    prose = _FENCE.sub("\n", text)
    heading = _HEADING.search(prose)
    if heading is not None and (found := _plain(heading[1])):
        return _shortened(found)
    code = [line for line in text.splitlines() if not line.lstrip().startswith(("```", "~~~"))]
    for line in (*prose.splitlines(), *code):
        found = _plain(_LINE_MARK.sub("", line))
        if re.search(r"\w", found):
            sentence = _SENTENCE.match(found)
            return _shortened((sentence[0] if sentence else found).rstrip("。.:：；;"))
    return UNTITLED


def guess_kind(text: str) -> Kind:
    """The kind whose words the text uses most; a pitfall where it uses none, the commonest of them."""
    lowered = text[:4_000].casefold()
    counts = [(len(re.findall(words, lowered)), -place, kind) for place, (kind, words) in enumerate(_KIND_WORDS)]
    most, _, kind = max(counts)
    return kind if most else Kind.PITFALL


def _plain(line: str) -> str:
    """Without the marks of Markdown, white space folded."""
    return " ".join(_INLINE.sub(lambda match: match[1] or "", line).split())


def _shortened(title: str) -> str:
    if len(title) <= TITLE_AIM:
        return title
    cut = title[:TITLE_AIM]
    space = cut.rfind(" ")
    return (cut[:space] if space > TITLE_AIM // 2 else cut)[: TITLE_MAX - 1].rstrip(" ,;:，；：、") + "…"
