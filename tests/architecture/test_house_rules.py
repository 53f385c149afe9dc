"""Rules of the house that a reader would otherwise have to remember."""

import ast

import pytest

from tests.architecture.source import modules

LONGEST_MODULE = 400


def test_a_model_request_is_built_by_the_composer_alone() -> None:
    """Leaving out knowledge is impossible only while there is one maker (KP-3)."""
    built = [
        f"{module.path}:{line}"
        for module in modules("devflow")
        for line, name, _ in module.calls()
        if name == "ModelRequest" and not module.path.startswith("devflow/prompt/")
    ]
    assert built == []


def test_modules_stay_small() -> None:
    long = [
        f"{module.path}: {lines} lines"
        for module in modules("devflow")
        if (lines := module.text.count("\n")) > LONGEST_MODULE
    ]
    assert long == []


@pytest.mark.parametrize("name,positions", [("t", (0,)), ("_t", (0,)), ("N_", (0,)), ("n", (0, 1)), ("p", (0, 1))])
def test_translated_strings_are_written_out(name: str, positions: tuple[int, ...]) -> None:
    """An f-string is filled in before the catalogue sees it, so it is never translated."""
    filled = [
        f"{module.path}:{line}"
        for module in modules("devflow")
        for line, called, call in module.calls()
        if called == name and any(isinstance(call.args[at], ast.JoinedStr) for at in positions if at < len(call.args))
    ]
    assert filled == []


def test_no_translated_string_stands_inside_an_f_string() -> None:
    """The catalogue's reader does not look into f-strings, so such a text is never translated."""
    hidden = [
        f"{module.path}:{call.lineno}"
        for module in modules("devflow")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.JoinedStr)
        for call in ast.walk(node)
        if isinstance(call, ast.Call) and _translates(call)
    ]
    assert hidden == []


def test_no_layout_is_asked_for_an_item() -> None:
    """PySide keeps what `itemAt` returned as long as the layout lives. Once Qt has freed the item, whatever it makes at
    the same address comes to Python as that old item: `viewport()` as a `QWidgetItem`, then a crash.
    """
    asked = [
        f"{module.path}:{line}"
        for folder in ("devflow", "tests")
        for module in modules(folder)
        for line, name, _ in module.calls()
        if name in ("itemAt", "itemAtPosition")
    ]
    assert asked == []


def test_no_test_sleeps() -> None:
    """Tests wait for signals and futures: a fixed time is too long on one machine and too short on another."""
    sleeps = [
        f"{module.path}:{line}"
        for module in modules("tests")
        if module.path.rpartition("/")[2].startswith("test_")
        for line, name, call in module.calls()
        if (name == "sleep" and not _is_zero(call)) or (name == "wait" and _called_on(call, "qtbot"))
    ]
    assert sleeps == []


def test_no_test_is_skipped_or_expected_to_fail() -> None:
    skips = [
        f"{module.path}:{node.lineno}"
        for module in modules("tests")
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and node.attr in ("skip", "skipif", "xfail", "importorskip")
        and _root_name(node) == "pytest"
    ]
    assert skips == []


def _is_zero(call: ast.Call) -> bool:
    return len(call.args) == 1 and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0


def _called_on(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and _root_name(call.func) == name


def _root_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _translates(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in ("t", "_t", "n", "p") and bool(call.args) and isinstance(call.args[0], ast.Constant)
