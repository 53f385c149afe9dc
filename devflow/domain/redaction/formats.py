"""Secrets that show by their own format: provider keys, tokens, private keys, passwords inside addresses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from devflow.domain.redaction.chance import is_cloud_secret, is_stand_in, looks_random

KEY = "API key"
TOKEN = "token"
PASSWORD = "password"
PRIVATE_KEY = "private key"
SECRET = "secret"

_BEGINS = r"(?<![A-Za-z0-9_-])"
_ENDS = r"(?![A-Za-z0-9_-])"

Hit = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Format:
    """One format. `marks` are cheap substrings of which one must stand in the text before the pattern is tried.

    Group 1, where the pattern has one, is the secret; else the whole match. `check` sees the secret and may decline.
    """

    label: str
    marks: tuple[str, ...]
    pattern: re.Pattern[str]
    check: Callable[[str], bool]


def by_format(text: str) -> Iterator[Hit]:
    """Every secret that its own format gives away."""
    lowered = text.lower()
    for format in FORMATS:
        if not any(mark in lowered for mark in format.marks):
            continue
        for match in format.pattern.finditer(text):
            group = 1 if format.pattern.groups else 0
            if format.check(match[group]):
                yield (*match.span(group), format.label)


def _anything(_: str) -> bool:
    return True


def _no_stand_in(value: str) -> bool:
    return not is_stand_in(value)


def _key_body(value: str) -> bool:
    """What follows `sk-` decides: `sk-estimator-doc-link` is a CSS class, `sk-SK` a language."""
    body = value.split("-", 1)[1]
    return not is_stand_in(body) and (re.search(r"[A-Za-z0-9]{20}", body) is not None or looks_random(body))


def _has_key_material(block: str) -> bool:
    """The two header lines alone, as a manual quotes them, are no key."""
    return sum(char.isalnum() for char in block) > 120


def _prefixed(label: str, prefixes: str, body: str, check: Callable[[str], bool] = _no_stand_in) -> Format:
    """A key of the shape prefix + body; `prefixes` are literal, separated by spaces."""
    words = prefixes.split()
    either = "|".join(re.escape(word) for word in words)
    pattern = re.compile(f"{_BEGINS}(?:{either}){body}{_ENDS}")
    return Format(label, tuple(word.lower() for word in words), pattern, check)


def _shaped(
    label: str, marks: str, pattern: str, check: Callable[[str], bool] = _no_stand_in, flags: int = 0
) -> Format:
    return Format(label, tuple(marks.split()), re.compile(pattern, flags), check)


FORMATS: tuple[Format, ...] = (
    # Model providers. `sk-` is OpenAI, DeepSeek, DashScope, Moonshot, SiliconFlow, Baichuan, StepFun, and more.
    _prefixed(KEY, "sk-ant-", r"[A-Za-z0-9]{2,12}-[A-Za-z0-9_-]{20,200}"),
    _prefixed(KEY, "sk-or-v1-", r"[0-9a-f]{40,80}"),
    _shaped(KEY, "sk-", _BEGINS + r"sk-(?:proj-|svcacct-|admin-|lf-|None-)?[A-Za-z0-9_-]{20,250}", _key_body),
    _prefixed(KEY, "AIza", r"[A-Za-z0-9_-]{35}"),
    _prefixed(KEY, "gsk_", r"[A-Za-z0-9]{40,60}"),
    _prefixed(KEY, "xai-", r"[A-Za-z0-9]{60,100}"),
    _prefixed(KEY, "r8_", r"[A-Za-z0-9]{36,40}"),
    _prefixed(KEY, "pplx- fw_ tvly- jina_ voyage- csk-", r"[A-Za-z0-9_-]{20,100}", looks_random),
    _prefixed(KEY, "nvapi-", r"[A-Za-z0-9_-]{40,100}"),
    _prefixed(TOKEN, "hf_ api_org_", r"[A-Za-z0-9]{30,50}"),
    # Zhipu GLM: an id of 32 hexadecimal digits, a dot, a secret of 16.
    _shaped(KEY, ".", _BEGINS + r"[0-9a-f]{32}\.[A-Za-z0-9]{16}" + _ENDS, looks_random),
    # Clouds.
    _prefixed(KEY, "AKIA ASIA ABIA ACCA", r"[A-Z2-7]{16}"),
    _shaped(
        SECRET,
        "akia asia",
        r"(?:AKIA|ASIA)[A-Z2-7]{16}[^A-Za-z0-9][^\n]{0,60}\n?[^\n]{0,60}?(?<![A-Za-z0-9+/=])([A-Za-z0-9+/]{40})(?![A-Za-z0-9+/=])",
        is_cloud_secret,
    ),
    _prefixed(KEY, "AKID", r"[A-Za-z0-9]{32,36}", looks_random),
    _prefixed(KEY, "LTAI", r"[A-Za-z0-9]{12,26}"),
    _prefixed(KEY, "AKLT", r"[A-Za-z0-9]{40,60}={0,2}", looks_random),
    _prefixed(KEY, "bce-v3/ALTAK- ALTAK", r"[A-Za-z0-9]{21,23}(?:/[0-9a-f]{40})?"),
    _prefixed(TOKEN, "ya29.", r"[A-Za-z0-9_-]{20,300}"),
    _prefixed(SECRET, "GOCSPX-", r"[A-Za-z0-9_-]{20,40}"),
    _shaped(KEY, "accountkey=", r"AccountKey=([A-Za-z0-9+/]{40,100}={0,2})", flags=re.IGNORECASE),
    _prefixed(TOKEN, "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    # Code hosts and registries.
    _prefixed(TOKEN, "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{36,255}"),
    _prefixed(TOKEN, "github_pat_", r"[A-Za-z0-9_]{50,255}"),
    _prefixed(
        TOKEN, "glpat- gldt- glrt- glcbt- glptt- glft- glsoat- glagent- gloas- glimt-", r"[A-Za-z0-9_.-]{20,300}"
    ),
    _prefixed(TOKEN, "npm_", r"[A-Za-z0-9]{36}"),
    _prefixed(TOKEN, "pypi-", r"AgE[A-Za-z0-9_-]{50,250}"),
    _prefixed(TOKEN, "rubygems_", r"[0-9a-f]{48}"),
    _prefixed(TOKEN, "dckr_pat_", r"[A-Za-z0-9_-]{27,40}"),
    _prefixed(TOKEN, "cio", r"[A-Za-z0-9]{32}", looks_random),
    # Services.
    _prefixed(TOKEN, "xoxb- xoxp- xoxa- xoxo- xoxe- xoxr- xoxs- xapp-", r"[A-Za-z0-9-]*\d{5}[A-Za-z0-9-]{5,250}"),
    _shaped(
        SECRET, "hooks.slack.com", r"https://hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,120})"
    ),
    _shaped(SECRET, "oapi.dingtalk.com", r"oapi\.dingtalk\.com/robot/send\?access_token=([0-9a-f]{32,80})"),
    _shaped(
        SECRET, "/open-apis/bot/", r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v\d/hook/([0-9a-f-]{30,60})"
    ),
    _shaped(SECRET, "qyapi.weixin.qq.com", r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([0-9a-f-]{30,60})"),
    _prefixed(SECRET, "SEC", r"[0-9a-f]{64}"),  # a DingTalk robot's signing secret
    _prefixed(TOKEN, "t-", r"[A-Za-z0-9]{32,60}", looks_random),  # Feishu's tenant and app tokens
    _shaped(SECRET, "/api/webhooks/", r"discord(?:app)?\.com/api/webhooks/\d{15,22}/([A-Za-z0-9_-]{50,90})"),
    _prefixed(KEY, "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{16,250}"),
    _prefixed(SECRET, "whsec_", r"[A-Za-z0-9+/]{24,80}={0,2}"),
    _prefixed(KEY, "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    _shaped(TOKEN, ":", r"(?<![A-Za-z0-9_:-])\d{8,10}:AA[A-Za-z0-9_-]{33}" + _ENDS),
    _shaped(
        TOKEN, ".", _BEGINS + r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}" + _ENDS, looks_random
    ),
    _prefixed(TOKEN, "shpat_ shpca_ shppa_ shpss_", r"[0-9a-f]{32}"),
    _prefixed(TOKEN, "dapi", r"[0-9a-f]{32}(?:-\d)?"),
    _prefixed(TOKEN, "hvs. hvb. hvr.", r"[A-Za-z0-9_-]{24,300}"),
    _prefixed(
        TOKEN,
        "glsa_ glc_ sntrys_ sntryu_ figd_ sbp_ lin_api_ ntn_ PMAK- dp.pt. dp.st.",
        r"[A-Za-z0-9_+/=.-]{24,300}",
        looks_random,
    ),
    _prefixed(TOKEN, "ATATT3 ATCTT3", r"[A-Za-z0-9_=-]{60,250}"),
    _shaped(TOKEN, ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,80}"),
    _prefixed(KEY, "key-", r"[0-9a-f]{32}"),
    # Anything signed.
    _shaped(
        TOKEN, "eyj", _BEGINS + r"eyJ[A-Za-z0-9_-]{8,4000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{10,2000}", _anything
    ),
    # Private keys; one that was cut off counts to the end of its base64.
    _shaped(
        PRIVATE_KEY,
        "private key",
        r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{0,20000}?-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"|(?:[A-Za-z0-9+/=:,\- ]|\\?[\\rnt]|\s){20,20000})",
        _has_key_material,
    ),
    _shaped(PRIVATE_KEY, "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{50,70}"),
)
