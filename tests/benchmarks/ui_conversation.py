"""How long a conversation of 5,000 messages takes to open: `python -m tests.benchmarks.ui_conversation`.

Each question has its run and its receipt, as in real use. The bar (spec 05) is 300 ms from the click to the newest
messages on the screen; the older ones of the newest hundred follow in idle slices.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

BAR_MS = 300.0
_TURNS = 2_500
_ROUNDS = 5


async def _measure(home: Path) -> tuple[list[float], list[float]]:
    """Milliseconds until the newest messages stand, and until a hundred are there; one pair a round."""
    from PySide6.QtWidgets import QApplication

    from devflow.app.desktop import Desktop
    from devflow.app.paths import app_paths
    from devflow.store.database import Unit
    from devflow.ui.garbage import GarbageCollector
    from devflow.ui.pages.chat import ChatPage
    from devflow.ui.window import Pages

    app = QApplication.instance()
    assert isinstance(app, QApplication)
    garbage = GarbageCollector()  # as the application does
    desktop = await Desktop.open(app, app_paths(home), pages=Pages(chat=ChatPage))
    made = await desktop.core.conversations.create()
    long_one = made.id

    def fill(unit: Unit) -> None:
        _fill(unit, long_one)

    await desktop.core.db.write(fill)
    desktop.window.resize(1280, 800)
    desktop.window.show()
    page = desktop.window.page("chat")
    assert isinstance(page, ChatPage)
    await desktop.tasks.settled()
    garbage.settle()
    newest: list[float] = []
    hundred: list[float] = []
    for _ in range(_ROUNDS):
        page.start_new()
        await desktop.tasks.settled()
        began = time.perf_counter()
        await page.session.open(long_one)
        newest.append((time.perf_counter() - began) * 1000)
        await desktop.tasks.settled()
        assert len(page.transcript.blocks) == 50
        hundred.append((time.perf_counter() - began) * 1000)
    await desktop.close()
    garbage.close()
    return newest, hundred


def _fill(unit: object, conversation_id: str) -> None:
    from devflow.domain.conversation import OFFLINE, Role
    from devflow.domain.receipt import Phase
    from devflow.domain.request import Injected, InjectedItem, NotUsed
    from devflow.domain.run import RunState
    from devflow.store import conversations, receipts, runs
    from devflow.store.database import Unit

    assert isinstance(unit, Unit)
    parent = None
    for number in range(_TURNS):
        question = conversations.insert_message(
            unit, conversation_id=conversation_id, parent_id=parent, role=Role.USER, content=f"Question {number}: why?"
        )
        run = runs.insert(
            unit, conversation_id=conversation_id, user_message_id=question.id, choice=OFFLINE, owner="bench"
        )
        answer = conversations.insert_message(
            unit,
            conversation_id=conversation_id,
            parent_id=question.id,
            role=Role.ASSISTANT,
            content=f"Answer {number}: because of `this` [K1].\n\n- one\n- two\n\n```python\nx = {number}\n```\n",
            run_id=run.id,
        )
        item = InjectedItem("entry", "e1", "K1", "A title", "What the model was given. " * 20, "term", 1.0, 520)
        receipts.insert(
            unit,
            conversation_id=conversation_id,
            run_id=run.id,
            phase=Phase.TURN,
            nonce="n",
            library=Injected("The block as it was sent. " * 40, (item,)),
            pages=NotUsed("no_kb"),
        )
        runs.append_message(unit, run.id, answer.id)
        runs.set_state(unit, run.id, RunState.COMPLETED, owner=None)
        parent = answer.id
    conversations.set_fields(unit, conversation_id, leaf_id=parent, title="A long one")


def opened() -> tuple[list[float], list[float]]:
    """Milliseconds until the newest messages stand, and until a hundred are there; one pair a round."""
    import qasync
    from PySide6.QtWidgets import QApplication

    app = QApplication.instance() or QApplication(["devflow-bench"])
    assert isinstance(app, QApplication)
    app.setQuitOnLastWindowClosed(False)
    with tempfile.TemporaryDirectory() as folder:
        newest, hundred = qasync.run(_measure(Path(folder) / "home"))
    return newest, hundred


def main() -> int:
    newest, hundred = opened()
    best = sorted(newest)[len(newest) // 2]
    print(f"5,000 messages: the newest stand after {best:.0f} ms (median of {_ROUNDS}; bar {BAR_MS:.0f} ms)")
    print(f"all of the newest hundred after {sorted(hundred)[len(hundred) // 2]:.0f} ms")
    print("held" if best <= BAR_MS else "NOT held")
    return 0 if best <= BAR_MS else 1


if __name__ == "__main__":
    raise SystemExit(main())
