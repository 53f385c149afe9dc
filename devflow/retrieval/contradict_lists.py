"""Words that deny, words that exclude each other, words before a choice, units: English and Chinese, of any subject."""

from __future__ import annotations

import re

_APART = re.compile(r"\s*/\s*")

DENIES_WHAT_FOLLOWS = re.compile(
    r"(?<!-)\b(?:(?:do|does|did|must|should|may|can|could|will|would|need)(?: not|n't)|cannot|won't|never|no longer|"
    r"no|not|"
    r"nobody|nothing|none|neither|nor|avoid|avoids|stop|instead of|rather than|"
    r"forbid|forbids|prohibit|prohibits|disallow|disallows|reject|rejects|refuse|refuses|ban|bans)\b(?!-)"
    r"|不(?!同|一致|足|清|稳|变|错|过|仅|但|断|管|论|到|久|一样|一定|对称|是很)"
    r"(?:要|能|可以|可|得|许|准|应该|应|该|会|再|需要|必|用|支持|使用|接受|允许)?"
    r"|没有人|没人|没有|没(?!问题)|(?<!从)未(?!来|知|必)|无法|无需|无须|不用|禁止|严禁|避免|拒绝|绝不|从不|从未|而非|弃用|停用|移除"
    r"|(?<![特分级类识区个辨判告离])别(?![人的名处])|勿"
)
"""What stands behind one of these, up to the end of the clause, is denied."""
REMINDS = re.compile(
    r"(?:\b(?:do not|don't|never|must not|should not) (?:forget|omit)(?: to)?\b)"
    r"|(?:不要|不能|不可|切勿|勿|别)(?:忘记|忘了|忘|漏掉|漏)"
)
"""Denied twice in two words: it affirms what follows."""
LACKS = re.compile(r"^(?:没有|没|无)$")
"""One of these denies only the few characters behind it: 没有数据返回空列表."""
LACKED = 4
DENIES_THE_CLAUSE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|gets?)(?: \w+ly)?(?: not|n't| never| no longer)\b"
    r"|\b(?:forbidden|prohibited|refused|rejected|banned|disallowed|unsupported|closed|unavailable|impossible|deprecated|abandoned|obsolete|"
    r"switched off|being removed|was removed|were removed|sent back)\b"
    r"|(?:不支持|不允许|不行|不可以|被禁止|被拒绝|不接受|被退回|下线|废弃|不再使用|不使用|禁止|不能|不得|不许)$"
)
SUPPOSES = re.compile(
    r"^\W*(?:if|unless|when|without|otherwise|else|or|because|since|as|while|although|though|so that|lest|and then)\b"
    r"|^\W*(?:如果|若|假如|要是|除非|否则|不然|即使|因为|由于|一旦|虽然|尽管|以免|免得|防止)|的话$|^\W*(?:不|没有|没).{1,12}(?:时|就|则|会|将)"
    r"|就(?:不|无|没|会)|才(?:能|会|可以)"
)
"""A clause that begins so says nothing of its own: it supposes, gives a reason, or tells what would follow."""

SUPPOSED_FROM = re.compile(r"\b(?:without|unless|or|so that)\b")
"""What stands behind one of these in a clause is not stated."""
FORMERLY = re.compile(
    r"\b(?:was|were|formerly|previously|used to|no longer|too few|too many|not enough|until now)\b"
    r"|不够|原来|以前|曾|旧的|过去"
)
"""Numbers in such a clause are not what holds now."""

OPPOSITES: tuple[tuple[str, str], ...] = tuple(
    (one, other)
    for one, other in (
        _APART.split(line)
        for line in """
        always / never
        enable / disable
        enabled / disabled
        enables / disables
        on by default / off by default
        allowed / forbidden
        allowed / prohibited
        allow / deny
        allows / denies
        allows / refuses
        allows / forbids
        accepts / refuses
        accepts / rejects
        required / optional
        mandatory / optional
        increase / decrease
        increase / reduce
        raise / lower
        maximum / minimum
        ascending / descending
        oldest first / newest first
        synchronous / asynchronous
        synchronously / asynchronously
        public / private
        internal / external
        mutable / immutable
        manual / automatic
        manually / automatically
        by hand / automatically
        by hand / by ci
        local / remote
        locally / remotely
        single / double
        tabs / spaces
        optimistic / pessimistic
        eager / lazy
        eagerly / lazily
        sequential / parallel
        sequentially / in parallel
        blocking / non-blocking
        blacklist / whitelist
        denylist / allowlist
        inclusive / exclusive
        upgrade / downgrade
        soft deleted / hard deleted
        as root / as non-root
        case-sensitive / case-insensitive
        stateless / stateful
        signed / unsigned
        plain text / encrypted
        succeeds / fails
        safe / unsafe
        push / pull
        每次 / 从不
        总是 / 从不
        始终 / 从不
        必须 / 禁止
        必须 / 不得
        必须 / 不必
        必须 / 不要
        必须 / 无需
        要 / 不要
        允许 / 禁止
        允许 / 拒绝
        可以 / 不能
        可以 / 不得
        可以 / 禁止
        开启 / 关闭
        打开 / 关闭
        启用 / 禁用
        启用 / 停用
        增加 / 减少
        增大 / 减小
        调大 / 调小
        调高 / 调低
        最大 / 最小
        上限 / 下限
        升序 / 降序
        同步 / 异步
        公开 / 私有
        内部 / 外部
        手动 / 自动
        手工 / 自动
        手工 / 由流水线
        本地 / 远程
        单引号 / 双引号
        制表符 / 空格
        乐观 / 悲观
        串行 / 并行
        黑名单 / 白名单
        升级 / 降级
        软删除 / 物理删除
        软删除 / 硬删除
        有状态 / 无状态
        区分大小写 / 不区分大小写
        明文 / 密文
        明文 / 加密
        成功 / 失败
        可选 / 必填
        可选 / 必需
        递增 / 递减
        推送 / 拉取
        横向 / 纵向
        """.strip().splitlines()
    )
    for one, other in [(one.strip(), other.strip())]
)
"""Of two texts about one thing, the first of a pair in one and the second in the other cannot both hold."""
ORDERS: tuple[tuple[str, str], ...] = (("before", "after"), ("之前", "之后"))
"""As `OPPOSITES`, and what stands around them must stand around them in both: B after A is A before B."""

BEFORE_A_CHOICE = re.compile(
    r"(?:\b(?:use|uses|using|used|prefer|prefers|choose|chooses|pick|adopt|adopts|take|takes|is|are|as|in|on|with|by|via|"
    r"through|at|from|to|into|onto|than)(?: the| an?)?"
    r"|使用|采用|改用|选用|用|放在|放进|存在|存为|存到|存入|(?<![内缓])存|写在|写成|走|由|以|按|为|是|在|到|从|选择|统一|一律|转成|输出)\W*$"
)
"""Behind one of these stands what was chosen."""
BEFORE_A_NATURE = re.compile(r"(?:\b(?:is|are)(?: the| an?)?|为|是)\W*$")
"""Behind one of these may as well stand one of several things that are true: only names exclude each other there."""
FIRST = re.compile(r"先(?P<first>.{2,10}?)(?=再|后|然后|$)|(?P<word>[a-z][\w-]+)(?: (?:row|step|table))? first\b")

NUMBER_WORDS = {
    "zero": 0, "one": 1, "once": 1, "two": 2, "twice": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30,
    "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip
HAN_DIGITS = {"零": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}

PLACES = frozenset(
    """part chapter section step page line issue ticket figure fig table appendix item no number lesson vol volume round
    question rfc task sprint phase doc document case example slide week""".split()
)
"""A number behind one of these says which one it is, not how much: part 3, RFC 7807."""

TIME_UNITS: dict[str, float] = {
    **dict.fromkeys(("ms", "millisecond", "milliseconds", "毫秒"), 0.001),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒", "秒钟"), 1),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "分钟"), 60),
    **dict.fromkeys(("h", "hr", "hour", "hours", "小时", "个小时"), 3_600),
    **dict.fromkeys(("d", "day", "days", "天", "日"), 86_400),
    **dict.fromkeys(("week", "weeks", "周", "个星期"), 604_800),
    **dict.fromkeys(("month", "months", "个月"), 2_592_000),
    **dict.fromkeys(("year", "years", "年"), 31_536_000),
}
SIZE_UNITS: dict[str, float] = {
    **dict.fromkeys(("b", "byte", "bytes", "字节"), 1),
    **dict.fromkeys(("k", "kb", "kib"), 1_024),
    **dict.fromkeys(("mb", "mib"), 1_024**2),
    **dict.fromkeys(("g", "gb", "gib"), 1_024**3),
    **dict.fromkeys(("tb", "tib"), 1_024**4),
}
HAN_UNITS = (
    "毫秒|秒钟|秒|分钟|个小时|小时|天|周|个星期|个月|年|次|个|条|行|倍|点|核|人|台|位|层|字符|分区|项|份|号|级|版"
)
