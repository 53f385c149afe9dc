"""`ids.txt` has the ids of all cases of knowledge bases; each has its tests, and each test here its case."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
IDS = (HERE / "ids.txt").read_text(encoding="utf-8").split()


def claims() -> Iterator[tuple[str, list[str]]]:
    """Every test of this folder about cases, and the cases it claims by its marker."""
    for file in sorted(HERE.glob("test_case_*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                yield (
                    f"{file.name}::{node.name}",
                    [
                        call.args[0].value
                        for call in node.decorator_list
                        if isinstance(call, ast.Call) and ast.unparse(call.func) == "pytest.mark.case"
                    ],
                )


def test_every_id_is_claimed_by_exactly_the_tests_that_exist() -> None:
    claimed = dict(claims())
    assert [name for name, ids in claimed.items() if not ids] == []
    assert sorted({id for ids in claimed.values() for id in ids}) == sorted(IDS)


def test_no_id_is_listed_twice_and_none_is_claimed_by_two_tests() -> None:
    assert max(Counter(IDS).values()) == 1
    counts = Counter(id for _, ids in claims() for id in ids)
    assert [id for id, count in counts.items() if count > 1] == []
    assert len(IDS) == 106
