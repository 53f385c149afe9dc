"""Secrets that show by the name beside them: `password: …`, `密码：…`, `API_KEY=…`, `--token …`, `Authorization: …`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from devflow.domain.redaction.chance import entropy, is_cloud_secret, is_stand_in, looks_random
from devflow.domain.redaction.formats import KEY, PASSWORD, SECRET, TOKEN, Hit

_PASSWORD_NAMES = r"password|passwd|passphrase|passcode|pwd|(?<![A-Za-z])pass|密\s?码|口令"
_SECRET_NAMES = r"secret(?:[ _-]?key(?:[_-]?base)?)?"
_KEY_NAMES = (
    r"(?:api|app|access|private|(?:encoding[_-]?)?aes|encryption|signing|master|account|shared[ _-]?access"
    r"|secret[ _-]?access|auth|license)"
    r"[ _-]?key(?:[_-]?(?:id|secret))?|(?<![A-Za-z])[as]k|token|credentials?|(?:api|访问|接口)?\s?[密秘]钥|令牌|凭证"
)
_NAMED = re.compile(
    rf"(?:(?P<password>{_PASSWORD_NAMES})|(?P<key>{_KEY_NAMES})|(?P<secret>{_SECRET_NAMES}))"
    r"(?:[_-]?\d{1,2}|[_-](?:prod|production|dev|test|staging|value|new))?(?![A-Za-z0-9_])"
    r"(?:[ ](?:for|of|on)[ ][^\n:=.,]{1,40}?(?=[ ]is|:))?"
    r"[\\\"'`*\])）]{0,4}"
    r"(?P<separator>[ \t]{0,4}(?:=>|:=|={1,3}|[:：](?:[ \t]{0,4}\n)?|->|→|\||>)[ \t]{0,4}"
    r"|[ \t]{1,4}(?:is|was|to)[ \t]{1,4}|[ \t]{0,2}(?:[设改]|设置|修改|更新|重置)?[是为成]了?[ \t:：]{0,3}|[ \t]{1,4})"
    r"[*]{0,2}(?:[bBrRuU]?\\{0,2}[\"'`“「](?P<quoted>[^\n\"'`”」]{3,500})[\"'`”」]"
    r"|(?P<bare>[^\s\"'`“”「」<>()（）\[\]{},;，。；、！？|*]{3,500}))",
    re.IGNORECASE,
)
_FLAG = re.compile(
    r"(?<!\S)--?(?:[A-Za-z]+-)*(?P<name>password|passwd|pass|token|secret|api-?key|access-?key|secret-?key)(?:[ \t]+|=)"
    r"[\"']?(?P<value>[^\s\"'<>$]{4,300})",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"\b(?:mysql(?:dump|admin|import)?|mariadb)\b[^\n|;&]{0,200}?[ \t]-p[\"']?([^\s\"'|;&$<-][^\s\"'|;&]{2,100})"
    r"|\bsshpass[ \t]+-p[ \t]*[\"']?([^\s\"'$<][^\s\"']{2,100})"
    r"|\bredis-cli\b[^\n|;&]{0,120}?[ \t]-a[ \t]+[\"']?([^\s\"'$<][^\s\"']{2,100})"
    r"|\bcurl\b[^\n|;&]{0,300}?[ \t](?:-u|--user)[ \t=]+[\"']?[\w.@+-]{1,80}:([^\s\"'$<@][^\s\"'@]{2,100})"
)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/?#@\"'<>]{0,100}:([^\s/\"'<>]{1,200})@(?=[\w\[.$-])")
_HEADER = re.compile(
    r"\bauthorization[\"'`]?\s{0,3}[:=][ \t]{0,3}[\"'`]?"
    r"(?:basic|token|apikey|key|bearer|digest)[ \t]+([^\s\"'`<>{}$,]{8,4000})"
    r"|\bbearer[ \t:]{1,3}[\"'`]?([A-Za-z0-9._~+/=-]{12,4000})"
    r"|\b(?:set-)?cookie[ \t]{0,2}:[ \t]{0,3}[\w.-]{2,60}=([A-Za-z0-9._~+/%=-]{24,4000})",
    re.IGNORECASE,
)

_OTHER_NAME = re.compile(  # what stands before the name makes it something else
    r"(?:page|next|continuation|sync|cursor|resume|eos|bos|pad|unk|sep|stop|mask|special|public|csrf|xsrf|max|min|num"
    r"|hashed|forgot|forgotten|reset|show|hide|toggle|no|without|invalid|wrong|confirm|type)[ _-]?$",
    re.IGNORECASE,
)
_WORDS = frozenset(
    """str string text char varchar bytes int integer number bool boolean none null nil undefined true false optional
    required any object password passwd passphrase passcode pass pwd secret token key value hidden masked empty blank
    unset default field input label invalid incorrect wrong missing expired hash hashed encrypted encryption plaintext
    plain env environ environment prompt placeholder user username yes no on off never always disabled enabled here hint
    auth authentication login credentials redacted removed credential secretstr securestring changed unchanged correct
    weak strong mismatch""".split()
)
_METHOD = re.compile(
    r"(?:base(?:32|58|64)|sha-?\d+|md5|s?crypt|bcrypt|argon2\w*|utf-?8|aes-?\d+|rsa-?\d+|pbkdf2|[hre]s\d{3}|oauth2?"
    r"|ed25519|x509)\b",
    re.IGNORECASE,
)
_REFERENCE = re.compile(  # stands for a secret kept elsewhere
    r"^[$%<{*#&@]?[{(<]|^\$\w|^%\w+%$|\$\{|\{\{|\*\*\*|^\[redacted|xxxx|placeholder|required\||^[.…·•●-]+$"
    r"|^(?:your|my)[-_]?(?:db[-_]?)?(?:password|passwd|pass|pwd|secret|token|api|key)"
    r"|^env[.:]|process\.env|os\.environ|getenv|^(?:https?|file)://|^[~.]{0,2}/[\w.-]+/",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_]*(?:(?:\.|::|->)[A-Za-z_]\w*)*\Z")
_UUID_OR_HASH = re.compile(
    r"(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{40}|[0-9a-f]{64})\Z", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class _Value:
    """What stands beside a name; how it is joined to it decides how much it must look like a secret."""

    text: str
    quoted: bool
    separator: str  # stripped; empty for mere blanks
    continues: bool  # a bracket follows: a call or an index, not a literal
    field: bool  # it is all there is to the line: `password: swordfish`, `DB_PASSWORD=swordfish`


def by_name(text: str) -> Iterator[Hit]:
    """Every secret that the name, flag, header or address around it gives away."""
    at = 0
    while (named := _NAMED.search(text, at)) is not None:
        hit = _named(text, named)
        if hit is not None:
            yield hit
        # What stood there for a value may be the next name: `password:` and, on the line below, `token: …`.
        at = hit[1] if hit is not None else named.start("separator")
    for match in _FLAG.finditer(text):
        if _is_literal(match["value"]):
            yield (*match.span("value"), PASSWORD if "pass" in match["name"].lower() else SECRET)
    for pattern, label, check in (
        (_PROGRAM, PASSWORD, _is_literal),
        (_ADDRESS, PASSWORD, _is_literal),
        (_HEADER, TOKEN, _is_header_value),
    ):
        for match in pattern.finditer(text):
            group = match.lastindex or 0
            if check(match[group]):
                yield (*match.span(group), label)


def _named(text: str, match: re.Match[str]) -> Hit | None:
    before = text[max(0, match.start() - 40) : match.start()]
    separator = match["separator"]
    if _OTHER_NAME.search(before) or (separator.strip() == ">" and not re.search(r"<[\w:.-]*$", before)):
        return None
    group = "quoted" if match["quoted"] is not None else "bare"
    start, end = match.span(group)
    raw = text[start:end]
    if "&" in raw and (match["key"] or re.search(r"[?&][\w.-]*$", before)):
        raw = raw.split("&", 1)[0]  # the next parameter of an address
    raw = raw.rstrip("\\" if group == "quoted" else ".:?：…\\")
    end = start + len(raw)
    value = _Value(
        raw,
        quoted=group == "quoted",
        separator=separator.strip(" \t"),
        continues=text[end : end + 1] in ("(", "[", "{"),
        field=_is_field(match, separator, before, text[end : end + 8]),
    )
    if len(raw) < 3:
        return None
    if match["password"]:
        return (start, end, PASSWORD) if _is_password(value, match["password"].lower()) else None
    if match["secret"]:
        return (start, end, SECRET) if _is_password(value, "secret") or _is_key(value) else None
    name = match["key"].lower()
    found = looks_random(raw) and bool(value.separator) if name in ("ak", "sk") else _is_key(value)
    return (start, end, TOKEN if name in ("token", "令牌") else KEY) if found else None


def _is_field(match: re.Match[str], separator: str, before: str, after: str) -> bool:
    name = match["password"] or match["secret"] or match["key"]
    if separator == "=" and name.isascii() and name.isupper():
        return True
    if re.match(r"[*`\"'.!]{0,3}[ \t]*(?:\Z|[\r\n。，；、）)])", after) is None:
        return False
    return separator.strip(" \t") in (":", "：") or (
        separator == "=" and re.search(r"(?:^|\n)[\w.-]*\Z", before) is not None
    )


def _is_password(value: _Value, name: str) -> bool:
    """Anything meant as it stands; a bare value that is not all of its line must hold a digit or a sign."""
    text = value.text
    if not value.separator or not _is_literal(text):
        return False
    if " " in text:
        return name == "passphrase" and value.quoted
    if value.quoted:
        return True
    if value.continues or len(text) < 4:
        return False
    if text.isdigit() or re.search(r"[^\w.:|/-]", text) is not None:
        return True
    if value.field and value.separator in ("=", ":", "：") and not (name == "secret" and value.separator != "="):
        return _IDENTIFIER.match(text) is None or not (set(text) & set(".:>") or _is_type(text))
    return any(char.isdigit() for char in text)


def _is_key(value: _Value) -> bool:
    """Key-like text; without a separator between it and the name it must be plainly random, and no hash of a commit."""
    text = value.text
    if is_cloud_secret(text):
        return bool(value.separator)
    if value.continues or is_stand_in(text) or not _is_literal(text):
        return False
    if not re.fullmatch(r"[A-Za-z0-9_.~+/=:@!$%^#-]+", text):
        return False
    if not value.separator:
        return len(text) >= 24 and looks_random(text) and not _UUID_OR_HASH.match(text)
    if len(text) >= 16:
        return looks_random(text, bits=2.8) or _UUID_OR_HASH.match(text) is not None
    mixed = any(char.isalpha() for char in text) and any(char.isdigit() for char in text)
    return len(text) >= (8 if value.quoted else 10) and mixed and text.isalnum() and entropy(text) >= 2.5


def _is_literal(text: str) -> bool:
    """Meant as it stands: no reference to a secret kept elsewhere, no type, no word about secrets, no method."""
    if len(text) < 3 or len(set(text)) <= 1 or _REFERENCE.search(text):
        return False
    return text.lower() not in _WORDS and _METHOD.match(text) is None


def _is_type(text: str) -> bool:
    """`String`, `HashedPassword`: letters with a capital first; passwords of letters alone are rarely written so."""
    return text[:1].isupper() and not text.isupper()


def _is_header_value(text: str) -> bool:
    if is_stand_in(text) or not _is_literal(text):
        return False
    return any(char.isdigit() for char in text) or looks_random(text) or text.endswith("=")
