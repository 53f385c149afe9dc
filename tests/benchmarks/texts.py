"""Texts for benchmarks: Chinese, English and both, made from word lists and a seed, the same on every machine.

Words are drawn as in real text: few very often, most seldom. An entry keeps to a topic, so that words that belong
together stand together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

HEAD_EN = """the a to of in is and for it with on when that not be by from this as at or if then only after before while
use run set read write call test build file line error value config server client request response cache lock thread
process memory database index query table column row user key token path folder package module function class type
version release branch commit merge review deploy container image network socket timeout retry queue worker task event
message stream buffer page window button list field label dialog theme font icon color layout signal slot model view
""".split()
HEAD_ZH = """的 是 在 和 了 有 不 为 与 时 可以 需要 如果 因为 所以 但是 这个 那个 我们 使用 运行 设置 读取 写入 调用
测试 构建 文件 错误 配置 服务 客户端 请求 响应 缓存 线程 进程 内存 数据库 索引 查询 表格 字段 用户 密钥 路径 目录
模块 函数 类型 版本 发布 分支 提交 合并 评审 部署 容器 镜像 网络 连接 超时 重试 队列 任务 事件 消息 页面 窗口
按钮 列表 主题 字体 布局 信号 模型 视图 项目 代码 接口 参数 返回 日志 权限 备份 迁移 事务 死锁 并发 编码 解析
渲染 检索 知识 条目 会话 引用
""".split()
PREFIXES = "re un pre inter sub over auto multi semi de co out micro macro meta proto".split()
STEMS = """connect compil render serial valid schedul alloc replic partit normal encod index monitor provision
authentic balanc migrat snapshot subscrib throttl tokeniz vectoriz sandbox bundl profil shard stag mirror patch orchestr
""".split()
SUFFIXES = "er ing ed able ation ity ize or ment less ful ist".split()
CHARS = (
    "安包保报表编标并部参层查差常场超程持传创词次存错达代单导低点定动端断队对多额发法反范方访分封服符复改概感高格更工构关管规"
    "过函核合后化环回汇活获机级集计记加架检建将交接节结解界仅进径竞局具卷绝开考可控库块扩类离理力立联链量列临流路逻码慢忙密面"
    "名命模默内能逆判配批频平启迁签前切清区权全缺确任容入软散色删设申生失识时式事适收手数刷双私算锁踢体替填条调停通同统图推外完"
    "网维位未文稳务析系限线相项消效协写心新信行形型性修序选询循压验样异译引隐应映用优由源远约阅云暂择增栈占着整正证支执值止指制"
    "中终重周注转装状追准资自字总阻组最作"
)

TAIL = 12_000
"""Seldom words in each language."""
TOPICS = 600
PER_TOPIC = 60


@dataclass(frozen=True, slots=True)
class Text:
    """What an entry is made of."""

    title: str
    content: str
    tags: tuple[str, ...]


class Words:
    """A vocabulary and the texts made of it. Two objects with one seed make the same texts, in the same order."""

    def __init__(self, seed: int = 20_261_130) -> None:
        self._random = random = Random(seed)
        self.tail_en = _distinct(TAIL, lambda: _english(random))
        self.tail_zh = _distinct(TAIL, lambda: "".join(random.choices(CHARS, k=random.choice((2, 2, 2, 3, 4)))))
        self._en, self._zh = _Drawn([*HEAD_EN, *self.tail_en]), _Drawn([*HEAD_ZH, *self.tail_zh])
        self._topics = [
            (random.sample(self.tail_en, PER_TOPIC), random.sample(self.tail_zh, PER_TOPIC)) for _ in range(TOPICS)
        ]

    def text(self) -> Text:
        """Two fifths Chinese, two fifths English, one fifth both; 300 to 2,000 characters."""
        random = self._random
        topic_en, topic_zh = random.choice(self._topics)
        language = random.choice(("zh", "zh", "en", "en", "both"))
        size = random.randint(300, 2000)
        parts: list[str] = []
        length = 0
        while length < size:
            chinese = language == "zh" or (language == "both" and random.random() < 0.5)
            sentence = self._chinese(topic_zh, topic_en) if chinese else self._english(topic_en)
            if random.random() < 0.04:
                sentence = f"\n\n```python\n{_snippet(random, topic_en)}\n```\n\n"
            elif random.random() < 0.15:
                sentence += "\n\n"
            parts.append(sentence)
            length += len(sentence)
        title = self._chinese(topic_zh, topic_en)[:60] if language == "zh" else self._english(topic_en)[:90]
        tags = tuple(random.sample((topic_zh if language == "zh" else topic_en)[:8], random.randint(0, 3)))
        return Text(title.strip("。. "), "".join(parts).strip()[:2000], tags)

    def answer(self, characters: int) -> str:
        """A long answer in Markdown: Chinese paragraphs, lists, and code."""
        random = self._random
        parts: list[str] = []
        while sum(map(len, parts)) < characters:
            topic_en, topic_zh = random.choice(self._topics)
            parts.append(f"## {self._chinese(topic_zh, topic_en)}\n\n")
            parts += ["".join(self._chinese(topic_zh, topic_en) for _ in range(4)) + "\n\n" for _ in range(2)]
            parts.append(
                "".join(f"- **{random.choice(topic_zh)}**：{self._chinese(topic_zh, topic_en)}\n" for _ in range(4))
            )
            code = "\n".join(_snippet(random, topic_en) for _ in range(random.randint(2, 8)))
            parts.append(f"\n```python\n{code}\n```\n\n")
        return "".join(parts)[:characters]

    def questions(self, count: int) -> dict[str, tuple[str, ...]]:
        """Queries by class: `count` of each, half Chinese and half English where a class has both."""
        random = self._random

        def both(chinese: str, english: str) -> str:
            return random.choice((chinese, english))

        def topic() -> tuple[list[str], list[str]]:
            return random.choice(self._topics)

        made: dict[str, list[str]] = {name: [] for name in ("rare", "common", "absent", "question", "many common")}
        for _ in range(count):
            en, zh = topic()
            made["rare"].append(both(random.choice(zh), random.choice(en)))
            made["common"].append(both(random.choice(HEAD_ZH[10:]), random.choice(HEAD_EN[22:])))
            made["absent"].append(
                both("".join(random.choices("犇羴鱻麤龘靐齉爨", k=3)), f"zq{random.randrange(10**6)}xv")
            )
            made["question"].append(
                both(
                    f"为什么{random.choice(zh)}的时候{random.choice(HEAD_ZH[24:])}会{random.choice(zh)}，应该怎么"
                    f"{random.choice(HEAD_ZH[20:40])}才能避免{random.choice(zh)}？",
                    f"Why does the {random.choice(HEAD_EN[30:])} {random.choice(en)} fail when {random.choice(en)} is "
                    f"{random.choice(en)}, and how do I {random.choice(HEAD_EN[24:40])} it?",
                )
            )
            made["many common"].append(
                both("".join(random.sample(HEAD_ZH[10:60], 6)), " ".join(random.sample(HEAD_EN[22:80], 6)))
            )
        return {name: tuple(queries) for name, queries in made.items()}

    def _chinese(self, topic: Sequence[str], latin: Sequence[str]) -> str:
        random = self._random
        words = self._zh.draw(random, random.randint(6, 14))
        words[2:2] = random.sample(topic, 2)
        if random.random() < 0.25:
            words.insert(4, f" {random.choice(latin)} ")
        return "".join(words[:7]) + "，" + "".join(words[7:]) + "。"

    def _english(self, topic: Sequence[str]) -> str:
        random = self._random
        words = self._en.draw(random, random.randint(7, 16))
        words[2:2] = random.sample(topic, 2)
        return " ".join(words).capitalize() + ". "


class _Drawn:
    """Draws words so that the n-th most frequent one comes about 1/n as often as the first (Zipf)."""

    def __init__(self, words: Sequence[str]) -> None:
        self._words = words
        self._weights = list(accumulate(1 / (rank + 8) for rank in range(len(words))))

    def draw(self, random: Random, count: int) -> list[str]:
        return random.choices(self._words, cum_weights=self._weights, k=count)


def _english(random: Random) -> str:
    return f"{random.choice(('', '', *PREFIXES))}{random.choice(STEMS)}{random.choice(SUFFIXES)}" + (
        random.choice("bcdfghklmnprstvw") + random.choice("aeiou") + random.choice("bdgklmnprstx")
        if random.random() < 0.9
        else ""
    )


def _distinct(count: int, make: object) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found[make()] = None  # type: ignore[operator]
    return list(found)


def _snippet(random: Random, words: Sequence[str]) -> str:
    name, other = random.sample(words, 2)
    return (
        f"def {name}(self, {other}: int = {random.randrange(100)}) -> str:\n"
        f'    """Return the {name} of {other}."""\n'
        f"    for each in range({other}):\n"
        f'        self.{random.choice(words)}[each] = f"{{each}}-{random.choice(words)}"  # {random.choice(words)}'
    )
