"""KP-3 as a person meets it: the window dies while a call waits for a decision, and comes back with the card."""

from pathlib import Path

import pytest

from tests.fakes.openai_server import Call, OpenAIServer, Turn
from tests.support.commands import devflow
from tests.support.remote import RemoteWindow

QUESTION = "How should a sqlite transaction take the write lock?"
WRITE = Call("write_file", {"path": "lock.txt", "content": "BEGIN IMMEDIATE\n"})
OLD = "Sqlite write lock: first advice"
NEW = "Sqlite write lock: better advice"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def ready(home: Path, server: OpenAIServer) -> Path:
    """A home with a model and one published entry, both made by the command line."""
    added = devflow(home, "provider", "add", "--name", "Scripted", "--address", server.base_url, "--model", "scripted")
    assert added.code == 0, added.err
    publish(home, OLD, "A sqlite transaction takes the write lock late.")
    return home


def publish(home: Path, title: str, content: str) -> str:
    added = devflow(home, "knowledge", "add", "--kind", "pitfall", "--title", title, "--content", content, "--json")
    assert added.code == 0, added.err
    id: str = added.value["id"]
    assert devflow(home, "knowledge", "approve", id).code == 0
    return id


def test_kp3_a_card_survives_a_kill_and_the_resumed_run_has_the_library_of_now(
    ready: Path, workspace: Path, server: OpenAIServer
) -> None:
    server.script(Turn("I will write it down.", calls=[WRITE]), "Written, as the library says.")
    written = workspace / "lock.txt"

    with RemoteWindow(ready) as window:
        _choose_folder(window, workspace)
        window.asks(QUESTION)
        window.finds("approvalCard")
        window.sees("lock.txt", on="approvalCard")
        window.sees("BEGIN IMMEDIATE", on="approvalCard")
        window.kill()
    assert not written.exists()
    assert OLD in server.requests[0].system

    # while no window is open: one entry is published, the other archived
    publish(ready, NEW, "A sqlite transaction takes the write lock first.")
    (old,) = [entry["id"] for entry in devflow(ready, "knowledge", "list", "--json").value if entry["title"] == OLD]
    assert devflow(ready, "knowledge", "archive", old).code == 0

    with RemoteWindow(ready) as window:
        _open_the_conversation(window)
        window.finds("approvalCard")
        window.sees("BEGIN IMMEDIATE", on="approvalCard")
        assert len(server.requests) == 1, "nothing is asked of the model before the decision"
        assert not written.exists()
        window.do("double_click", "approveButton")
        window.is_answered("Written, as the library says.")
        window.misses("approvalCard")
        assert written.read_text() == "BEGIN IMMEDIATE\n"
        first_write = _stamp(written)
        resumed = server.requests[1]
        assert NEW in resumed.system, "published during the pause"
        assert OLD not in resumed.system, "archived during the pause"
        assert len(resumed.tool_results) == 1
        assert resumed.system.index(NEW) < resumed.system.index("\n\n---\n\n") < resumed.system.index("You are DevFlow")
        window.sees("1 library entry found", on="retrievalStatus")
        window.kill()

    with RemoteWindow(ready) as window:
        _open_the_conversation(window)
        window.is_answered("Written, as the library says.")
        assert not window.do("sees", "approvalCard")
        assert window.close() == 0
        assert window.complaints == ""
    assert _stamp(written) == first_write, "written once, whatever happened after"
    assert len(server.requests) == 2


def test_kp3_a_denial_after_a_kill_tells_the_model_why_and_writes_nothing(
    ready: Path, workspace: Path, server: OpenAIServer
) -> None:
    server.script(Turn("I will write it down.", calls=[WRITE]), "Then I leave it.")
    with RemoteWindow(ready) as window:
        _choose_folder(window, workspace)
        window.asks(QUESTION)
        window.finds("approvalCard")
        window.kill()
    with RemoteWindow(ready) as window:
        _open_the_conversation(window)
        window.finds("approvalCard")
        window.clicks("denyReason")
        window.do("type", "Not into that file.")
        window.clicks("denyButton")
        window.is_answered("Then I leave it.")
        assert window.close() == 0
    assert "Not into that file." in server.requests[1].tool_results[0]
    assert OLD in server.requests[1].system
    assert not (workspace / "lock.txt").exists()


def test_kp3_two_cards_survive_a_kill_and_are_decided_one_after_the_other(
    ready: Path, workspace: Path, server: OpenAIServer
) -> None:
    (workspace / "lock.txt").write_text("BEGIN\n")
    other = Call("write_file", {"path": "other.txt", "content": "x\n"})
    server.script(Turn("Both.", calls=[WRITE, other]), "One of them.")
    with RemoteWindow(ready) as window:
        _choose_folder(window, workspace)
        window.asks(QUESTION)
        window.until(lambda: window.do("count", "approvalCard") == 2, "two cards")
        window.kill()
    with RemoteWindow(ready) as window:
        _open_the_conversation(window)
        window.until(lambda: window.do("count", "approvalCard") == 2, "two cards")
        window.clicks("approveButton")  # the lower one
        window.until(lambda: window.do("count", "approvalCard") == 1, "one card")
        window.until((workspace / "other.txt").exists, "the file")
        assert len(server.requests) == 1, "the model is not called before the last decision"
        card = window.words("approvalCard").splitlines()
        assert {"lock.txt", "+1", "−1", "BEGIN IMMEDIATE"} <= set(card), card
        window.clicks("denyReason")
        window.do("type", "Not that file.")
        window.do("press", "Key_Return")
        window.is_answered("One of them.")
        assert window.close() == 0
        assert window.complaints == ""
    denied, done = server.requests[1].tool_results
    assert "Not that file." in denied
    assert "other.txt" in done
    assert OLD in server.requests[1].system
    assert (workspace / "lock.txt").read_text() == "BEGIN\n"


def _choose_folder(window: RemoteWindow, folder: Path) -> None:
    """The composer's picker, then the folder dialog with its path typed."""
    window.clicks("workspacePicker")
    window.do("choose", "Choose a folder")
    window.finds("fileNameEdit")
    window.clicks("fileNameEdit")
    window.do("type", str(folder))
    window.do("press", "Key_Return")
    window.misses("fileNameEdit")
    window.sees(folder.name, on="workspacePicker")


def _open_the_conversation(window: RemoteWindow) -> None:
    """The one there is, if it is not open already."""
    window.until(lambda: len(window.do("rows", "conversationList")) == 2, "its group and its row")
    title = window.do("rows", "conversationList")[1]
    if window.do("current_row", "conversationList") != title:
        window.do("click_row", "conversationList", title)


def _stamp(file: Path) -> tuple[int, int]:
    """Moves with every write, for a file is replaced whole."""
    status = file.stat()
    return status.st_ino, status.st_mtime_ns
