"""SHOULD: which messages are looked up in the knowledge base."""

from pathlib import Path

import pytest

from devflow.domain.request import LookupFailed
from devflow.domain.run import RunState
from devflow.prompt import page_lookup
from devflow.retrieval.trigger import should_use_knowledge_base
from tests.cases.asking import FX1
from tests.cases.conftest import Talk


def searches(message: str, *, kb_selected: bool = True) -> bool:
    return should_use_knowledge_base(message, kb_selected)


@pytest.mark.case("SHOULD-01")
def test_without_a_knowledge_base_nothing_is() -> None:
    assert not searches("总结一下", kb_selected=False)


@pytest.mark.case("SHOULD-02")
def test_sediment_is_a_command() -> None:
    assert not searches("/sediment")


@pytest.mark.case("SHOULD-03")
def test_an_unknown_command_is_a_command() -> None:
    assert not searches("/pdf")


@pytest.mark.case("SHOULD-04")
def test_hello_with_a_full_stop_is_a_greeting() -> None:
    assert not searches("你好。")


@pytest.mark.case("SHOULD-05")
def test_which_model_is_a_question_about_the_application() -> None:
    assert not searches("当前模型是什么")


@pytest.mark.case("SHOULD-06")
@pytest.mark.parametrize(
    "message", ["/export", "/export pdf", "把这个对话导出为 PDF", "Export this conversation as PDF"]
)
def test_exporting_the_conversation_asks_nothing(message: str) -> None:
    assert not searches(message)


@pytest.mark.case("SHOULD-07")
def test_a_reference_is_always_looked_up() -> None:
    assert searches("[[wiki/x.md]] 说了啥")


@pytest.mark.case("SHOULD-08")
def test_the_question_this_all_began_with_is_looked_up() -> None:
    assert searches("这是我自媒体创作的文章，总结一下")


@pytest.mark.case("SHOULD-09")
def test_a_question_about_a_topic_is_looked_up() -> None:
    assert searches("OpenClaw 相关页面讲了什么")


@pytest.mark.case("SHOULD-10")
def test_one_character_is_not() -> None:
    assert not searches("嗯")


@pytest.mark.case("SHOULD-11")
@pytest.mark.parametrize("message", ["谢谢", "ok"])
def test_thanks_are_not(message: str) -> None:
    assert not searches(message)


@pytest.mark.case("SHOULD-12")
def test_a_bare_wish_for_a_summary_is() -> None:
    assert searches("总结一下")


@pytest.mark.case("SHOULD-15")
def test_a_command_stays_one_with_a_reference_behind_it() -> None:
    assert not searches("/sediment [[wiki/a.md]]")


@pytest.mark.case("SHOULD-18")
def test_two_letters_are_not() -> None:
    assert not searches("ab")


@pytest.mark.case("SHOULD-20")
def test_three_characters_with_a_space_are() -> None:
    assert searches("a b")


@pytest.mark.case("SHOULD-21")
@pytest.mark.parametrize("message", ["Hello!!", "HELLO", "thx!", "OK。", "好的。"])
def test_a_greeting_stays_one_in_capitals_and_with_marks(message: str) -> None:
    assert not searches(message)


@pytest.mark.case("SHOULD-23")
def test_emoji_alone_have_nothing_to_search_for() -> None:
    assert not searches("😀😀😀")


@pytest.mark.case("SHOULD-28")
@pytest.mark.parametrize("message", ["你好～", "早上好", "哈喽"])
def test_a_decorated_greeting_is_one(message: str) -> None:
    assert not searches(message)


@pytest.mark.case("SHOULD-29")
@pytest.mark.expects_log
async def test_a_decision_that_fails_leaves_the_plain_message(
    talk: Talk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talk.open(tmp_path / "kb", FX1)

    def broken(message: str, kb_selected: bool) -> bool:
        raise RuntimeError("no decision")

    monkeypatch.setattr(page_lookup, "should_use_knowledge_base", broken)
    said = await talk.ask("总结一下")
    assert said.state is RunState.COMPLETED
    assert said.sent == "总结一下"
    assert said.answer
    assert isinstance(said.receipt.pages, LookupFailed)
    assert "no decision" in said.line["error"]
    assert said.searches == ["start", "error"]
