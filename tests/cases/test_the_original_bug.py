"""What all this began with: seven articles, and a model that asked for them although they were there."""

from pathlib import Path

from devflow.domain.digest import FileState
from tests.cases.asking import SESSIONS
from tests.cases.conftest import Talk
from tests.support.articles import ARTICLES, write_articles

QUESTION = "这是我自媒体创作的文章，总结一下。"


async def test_seven_articles_of_an_ordinary_folder_are_summed_up_at_once(talk: Talk, tmp_path: Path) -> None:
    assert talk.server is not None
    folder = tmp_path / "我的文章"
    files = write_articles(folder)
    before = {file: file.read_bytes() for file in files}
    assert {file.suffix for file in files} == {".md", ".txt", ".docx", ".pdf"}
    assert all(300 <= len("".join(article.paragraphs)) <= 800 for article in ARTICLES)

    await talk.use(None)
    bare = await talk.ask(QUESTION)
    assert "请把文章的内容发给我" in bare.answer, "this server asks back when it is given nothing"

    base = await talk.core.bases.initialise(folder, "自媒体创作的文章")
    batch = await talk.core.digests.wait((await talk.core.digests.start(base.id, files, concurrency=3)).id)
    assert [file.state for file in batch.files] == [FileState.DONE] * 7
    assert [file.title for file in batch.files] == [article.title for article in ARTICLES]
    assert {file: file.read_bytes() for file in files} == before, "the originals are as they were"
    shown = "\n".join(str(request.messages) for request in talk.server.digests)
    assert all(article.phrase in shown.replace("\\n", "") for article in ARTICLES), "each was sent whole"

    await talk.use(base)
    said = await talk.ask(QUESTION)
    said.found(least=3)
    pages = {file.page for file in batch.files}
    for where in (said.paths, said.references, [result["path"] for result in said.line["results"]]):
        assert len(pages & set(where)) >= 3
        assert all(path.startswith(f"{SESSIONS}/") for path in pages & set(where))
    assert said.sent.startswith(f"{QUESTION}\n\n---\n[系统检索上下文 / 用户不可见]")
    assert "请把文章的内容发给我" not in said.answer
    assert said.line["askedBack"] is False
