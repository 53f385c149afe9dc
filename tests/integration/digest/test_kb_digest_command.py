"""`devflow kb digest`, and the seed's first scenario: an ordinary folder of articles, digested and asked about."""

import json
import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Request, Turn
from tests.integration.cli.conftest import Home
from tests.support.commands import Result, finished, start
from tests.support.documents import docx, pdf
from tests.support.pages import write

SEVEN = {
    "一人公司的经营.md": "# 一人公司的经营\n\n一个人也能靠内容和工具做生意。\n\n关键是把流程交给代理。",
    "OpenClaw 多代理实践.md": "# OpenClaw 多代理实践\n\n多个 agent 分工写作、审稿、发布。\n\nOpenClaw 负责调度。",
    "怎样写标题.txt": "怎样写标题\n\n标题只说一件事。\n\n数字比形容词有力。",
    "选题的来源.md": "# 选题的来源\n\n从读者的提问里找选题。\n\n每周整理一次评论。",
    "写作的节奏.html": "<title>写作的节奏</title><p>每天固定写一小时。<p>先写完，再修改。",
}
PDF, DOCX = "提示词入门.pdf", "发布之后.docx"
QUESTION = "这是我自媒体创作的文章，总结一下。"


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    return Home(home, monkeypatch)


@pytest.fixture
def articles(tmp_path: Path) -> Path:
    """An ordinary folder of seven Chinese articles."""
    folder = write(tmp_path / "自媒体文章", SEVEN)
    (folder / PDF).write_bytes(pdf(["提示词入门", "先说角色，再说任务，最后给例子。"]))
    (folder / DOCX).write_bytes(docx(["# 发布之后", "发布后一周看一次数据。", "只改标题和开头。"]))
    return folder


def connect(run: Home, server: DigestServer) -> None:
    added = run("provider", "add", "--address", server.base_url, "--model", "scripted")
    assert added.code == 0, added.err


def asked(run: Home, folder: Path, question: str) -> dict[str, object]:
    told = run("ask", "--kb", str(folder), "--json", question)
    assert told.code == 0, told.err
    answer: dict[str, object] = told.value
    return answer


def test_seven_articles_are_digested_and_the_very_next_question_is_answered_from_them(
    run: Home, articles: Path
) -> None:
    with DigestServer() as server:
        connect(run, server)
        made = run("kb", "init", str(articles), "--purpose", "自媒体创作的文章，研究怎样写作和经营")
        assert made.code == 0, made.err
        digested = run("kb", "digest", str(articles), "--concurrency", "3", "--json")
        assert digested.code == 0, digested.err
        assert [file["state"] for file in digested.value["files"]] == ["done"] * 7
        told = asked(run, articles, QUESTION)
    pages = [page["path"] for page in told["pages"]]  # type: ignore[attr-defined]
    sessions = [path for path in pages if path.startswith("wiki/synthesis/sessions/")]
    assert len(sessions) >= 3
    prompt = server.requests[-1].last_user
    assert prompt.startswith(QUESTION)
    assert sum(path in prompt for path in sessions) == len(sessions)
    answer = str(told["answer"])
    references = answer.partition("参考页面")[2]
    assert sum(path in references for path in sessions) >= 3
    titles = [file["title"] for file in digested.value["files"]]
    assert sum(title in answer for title in titles) >= 3
    logs = (run.path / "logs/retrieval").glob("*.jsonl")
    (line,) = [json.loads(text) for log in logs for text in log.read_text(encoding="utf-8").splitlines()]
    assert line["triggered"] is True
    assert len([hit for hit in line["results"] if hit["path"] in sessions]) >= 3
    assert line["wrappedCharCount"] > len(QUESTION)
    assert (line["askedBack"], line["error"]) == (False, None)


def test_one_article_is_found_by_what_it_is_about(run: Home, articles: Path) -> None:
    with DigestServer() as server:
        connect(run, server)
        run("kb", "init", str(articles), "--purpose", "自媒体创作的文章")
        run("kb", "digest", str(articles))
        told = asked(run, articles, "OpenClaw 相关的文章讲了什么？")
    assert "OpenClaw-多代理实践" in told["pages"][0]["path"]  # type: ignore[index]


def test_what_is_done_and_what_failed_is_said_with_an_exit_code(run: Home, articles: Path) -> None:
    (articles / "坏.pdf").write_bytes(b"no pdf")
    with DigestServer() as server:
        connect(run, server)
        run("kb", "init", str(articles), "--purpose", "自媒体创作的文章")
        told = run("kb", "digest", str(articles / "坏.pdf"), str(articles / "选题的来源.md"))
        assert told.code == 1
        assert told.out.startswith("wiki/synthesis/sessions/选题的来源-20")
        assert told.out.rstrip().endswith("选题的来源")
        assert "/2] 坏.pdf: failed" in told.err
        assert "/2] 选题的来源.md: digested" in told.err
        assert "devflow: 坏.pdf is damaged" in told.err
        assert "1 digested, 0 before, 1 failed; 1,100 tokens." in told.err
        again = run("kb", "digest", "--retry", "--json")
        assert again.code == 1
        assert [file["state"] for file in again.value["files"]] == ["failed", "done"]
        assert again.value["files"][0]["error"]["code"] == "unreadable_source"
        assert len(server.digests) == 1


def test_without_a_model_it_says_to_connect_one(run: Home, articles: Path) -> None:
    run("kb", "init", str(articles), "--purpose", "自媒体创作的文章")
    told = run("kb", "digest", str(articles), "--json")
    assert told.code == 1
    assert "offline assistant cannot" in told.error["message"]
    assert "Connect a model first" in told.error["hint"]


@pytest.mark.parametrize(
    "words,code,said",
    [
        (("--concurrency", "2", "a.md"), 1, "Choose 1, 3 or 5."),
        ((), 1, "no files to digest"),
        (("--resume",), 1, "No digest was left unfinished."),
        (("--retry", "a.md"), 2, "Name none"),
        (("--retry", "--resume"), 2, "not allowed with"),
    ],
)
def test_what_makes_no_sense_is_refused(
    run: Home, articles: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    run("kb", "init", str(articles), "--purpose", "自媒体创作的文章")
    told = run("kb", "digest", *words)
    assert told.code == code
    assert said in told.err


def test_an_interrupted_command_can_be_resumed(run: Home, articles: Path) -> None:
    gate = Gate()

    def holds(request: Request, name: str, before: int) -> Turn | None:
        return Turn(["# ", gate]) if len(server.digests) == 3 else None

    with DigestServer(holds) as server:
        connect(run, server)
        run("kb", "init", str(articles), "--purpose", "自媒体创作的文章")
        process = start(run.path, "kb", "digest", str(articles), "--concurrency", "1")
        gate.wait_reached(30)
        process.send_signal(signal.SIGINT)
        stopped: Result = finished(process)
        assert stopped.code == 130
        assert len(list((articles / "wiki/synthesis/sessions").glob("*.md"))) == 2
        resumed = run("kb", "digest", "--resume", "--json")
        assert resumed.code == 0, resumed.err
        assert [file["state"] for file in resumed.value["files"]] == ["done"] * 7
        assert len(server.digests) == 8  # the third one twice


def test_a_base_that_moved_away_refuses_to_be_resumed(run: Home, articles: Path) -> None:
    with DigestServer(lambda request, name, before: Turn(page_for("甲\n乙"), status=400, error="no")) as server:
        connect(run, server)
        run("kb", "init", str(articles), "--purpose", "自媒体创作的文章")
        assert run("kb", "digest", str(articles / "选题的来源.md")).code == 1
    shutil.move(articles, articles.with_name("elsewhere"))
    told = run("kb", "digest", "--retry")
    assert told.code == 1
    assert "is no knowledge base" in told.err


def test_a_folder_stands_for_what_can_be_digested_in_it(run: Home, articles: Path, tmp_path: Path) -> None:
    write(tmp_path, {"secret.md": "# 密钥\n\n不要外传"})
    write(articles, {"深/一层.md": "# 深一层\n\n正文", ".hidden/a.md": "# 藏\n\n正文", "图.png": "x"})
    (articles / "链接.md").symlink_to(tmp_path / "secret.md")
    with DigestServer() as server:
        connect(run, server)
        run("kb", "init", str(articles), "--purpose", "自媒体创作的文章")
        told = run("kb", "digest", str(articles), "--json")
    names = {Path(file["path"]).name for file in told.value["files"]}
    assert names == {*SEVEN, PDF, DOCX, "一层.md"}
    assert "不要外传" not in "".join(request.last_user for request in server.digests)


def test_a_file_whose_name_is_no_text_stops_no_batch(run: Home, tmp_path: Path) -> None:
    folder = write(tmp_path / "articles", {"one.md": "# One\n\nText."})
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md")).write_text("# Odd", encoding="utf-8")
    with DigestServer() as server:
        connect(run, server)
        run("kb", "init", str(folder), "--purpose", "research")
        digested = run("kb", "digest", str(folder), "--json")
    assert digested.code == 1
    assert [Path(file["path"]).name for file in digested.value["files"]] == ["one.md"]
    assert "is no text" in digested.error["message"]
