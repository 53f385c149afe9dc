"""`devflow samples`: load them, ask them, remove them."""

from pathlib import Path

from tests.support.commands import devflow


def test_the_samples_are_loaded_asked_and_removed_in_a_terminal(home: Path) -> None:
    loaded = devflow(home, "samples", "load", "--language", "zh_CN", "--json")
    assert len(loaded.value["entries"]) == 12
    base = loaded.value["base"]
    assert base["name"] == "DevFlow 手册"
    answer = devflow(home, "ask", "--kb", base["path"], "文件怎样变成页面？")
    assert "参考页面" in answer.out
    assert "wiki/topics/消化.md" in answer.out
    (Path(base["path"]) / "wiki/overview.md").write_text("# 我的总览\n", encoding="utf-8")
    removed = devflow(home, "samples", "remove")
    assert "12 entries are archived." in removed.out
    assert "Kept, because you changed or added it:" in removed.out
    assert removed.out.strip().endswith("overview.md")
    assert devflow(home, "knowledge", "list", "--json").value == []
