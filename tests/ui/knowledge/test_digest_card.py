"""The card at the foot of the wiki: how far a digest is, file by file, and what can be done about it."""

import asyncio
import time
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton

from devflow.app.core import opened
from devflow.app.paths import AppPaths
from devflow.domain.digest import BatchState, FileState
from devflow.ui.models.digests import PAUSE_MS
from tests.fakes.digest_server import DigestServer, page_for
from tests.fakes.openai_server import Gate, Request, Turn
from tests.support import hands
from tests.support.desk import PAGES, Desk, at_the_desk
from tests.support.digests import articles, base_in, begin, card, connect, look_at, row, status, watch
from tests.support.eventually import eventually
from tests.support.window import OpenWindow

Key = Qt.Key
LONG = 30.0


def shown(desk: Desk) -> str:
    """The title of the page beside the list."""
    title = desk.wiki.detail.title
    return title.text() if title.isVisible() else ""


@at_the_desk
async def test_the_card_tells_of_every_file_and_of_the_whole(desk: Desk, tmp_path: Path) -> None:
    gate = Gate()
    whole = page_for("Half\nwritten", chinese=False)
    cut = whole.index("Key details") + len("Key details\n")

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        match name:
            case "001.md":
                return Turn([whole[:cut], gate, whole[cut:]], usage=(2_000, 100))
            case "002.md" if before == 0:
                return Turn(" ", usage=(900, 0))
            case _:
                return Turn(page_for(f"Page of {name}\ntext", chinese=False), usage=(8_000, 1_100))

    with DigestServer(trouble) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        batch = await begin(desk, base, articles(tmp_path / "texts", 4), concurrency=3)
        await eventually(lambda: card(desk).counts.text == "3 of 4 files · 1 failed · 3 at a time", within=LONG)
        await eventually(lambda: row(desk, "001.md") == "Writing “Key details”")
        assert row(desk, "000.md") == "9.1k tokens"
        assert row(desk, "002.md") == "The model wrote nothing"
        assert card(desk).tokens.text() == "19.1k tokens"
        assert status(desk) == "Digest: 3 / 4"
        await eventually(lambda: "Page of 000.md" in hands.rows("pageList"))
        gate.open()
        await desk.core.digests.wait(batch.id)
        await eventually(lambda: card(desk).counts.text == "4 of 4 files · 1 failed")
        assert status(desk) == "Digest: 1 failed"
        hands.click_row("digestFiles", "000.md")
        await eventually(lambda: shown(desk) == "Page of 000.md")
        hands.click("dismissDigestButton")
        await eventually(lambda: not card(desk).isVisible() and status(desk) == "")


@at_the_desk
async def test_a_failed_file_says_why_and_is_tried_again_by_a_click_or_a_key(desk: Desk, tmp_path: Path) -> None:
    works = set[str]()

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        return None if name in works else Turn(" ")

    with DigestServer(trouble) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        await begin(desk, base, articles(tmp_path / "texts", 4))
        await eventually(lambda: card(desk).counts.text == "4 of 4 files · 4 failed", within=LONG)
        files = card(desk).list
        files.setFocus()
        files.setCurrentIndex(card(desk).model.index(0, 0))
        assert card(desk).reason.text() == (
            "scripted wrote no content. Retry it, or choose another model for digests in Settings."
        )
        works.add("000.md")
        hands.press_on(files, Key.Key_R)
        await eventually(lambda: card(desk).counts.text == "4 of 4 files · 3 failed", within=LONG)
        assert card(desk).reason.text() == ""

        works.add("001.md")
        line = files.visualRect(card(desk).model.index(1, 0))
        hands.click(files.viewport(), QPoint(line.right() - 20, line.center().y()))
        await eventually(lambda: card(desk).counts.text == "4 of 4 files · 2 failed", within=LONG)

        works.update(("002.md", "003.md"))
        hands.click("retryFailedButton")
        await eventually(lambda: card(desk).counts.text == "4 of 4 files", within=LONG)
        assert not hands.visible("retryFailedButton")
        assert [server.asked(f"00{number}.md") for number in range(4)] == [2, 2, 2, 2]


@at_the_desk
async def test_a_file_is_tried_again_while_the_others_are_still_read(desk: Desk, tmp_path: Path) -> None:
    gate = Gate()

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        if name == "000.md" and before == 0:
            return Turn(" ")
        return Turn([gate, page_for("Late\ntext")]) if name == "001.md" else None

    with DigestServer(trouble) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        await begin(desk, base, articles(tmp_path / "texts", 2))
        await eventually(lambda: row(desk, "000.md") == "The model wrote nothing", within=LONG)
        card(desk).list.setCurrentIndex(card(desk).model.index(0, 0))
        hands.press_on(card(desk).list, Key.Key_R)
        await eventually(lambda: row(desk, "000.md") == "Waiting")
        gate.open()
        await eventually(lambda: card(desk).counts.text == "2 of 2 files", within=LONG)


@at_the_desk
async def test_cancelling_ends_it_within_two_seconds_and_keeps_the_pages(desk: Desk, tmp_path: Path) -> None:
    gate = Gate()

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        whole = page_for(f"{name}\ntext")
        return None if name == "000.md" else Turn([whole[:20], gate, whole[20:]])

    with DigestServer(trouble) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        sessions = Path(base.path) / "wiki/synthesis/sessions"
        await begin(desk, base, articles(tmp_path / "texts", 9))
        await eventually(lambda: card(desk).counts.text.startswith("1 of 9 files"), within=LONG)
        await asyncio.to_thread(gate.wait_reached)
        began = time.monotonic()
        hands.click("cancelDigestButton")
        await eventually(lambda: card(desk).counts.text == "1 of 9 files · cancelled")
        assert time.monotonic() - began < 2
        assert len(list(sessions.glob("*.md"))) == 1
        assert not list(sessions.glob(".*"))
        assert status(desk) == "Digest cancelled: 1 / 9"
        assert row(desk, "005.md") == "Not digested"
        gate.open()
        hands.click("resumeDigestButton")
        await eventually(lambda: card(desk).counts.text == "9 of 9 files", within=LONG)
        assert server.asked("000.md") == 1


async def test_what_quitting_cut_off_is_offered_at_the_next_start_and_resumed(
    open_window: OpenWindow, tmp_path: Path
) -> None:
    gate = Gate()

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        return Turn(["# ", gate, "x"]) if name == "001.md" and before == 0 else None

    with DigestServer(trouble) as server:
        async with open_window(PAGES) as desktop:
            desk = Desk(desktop)
            await desk.built()
            await connect(desk, server)
            base = await base_in(desk, tmp_path / "notes")
            await begin(desk, base, articles(tmp_path / "texts", 3), concurrency=1)
            await asyncio.to_thread(gate.wait_reached)
            began = time.monotonic()
        assert time.monotonic() - began < 2  # the window closes as fast as ever
        async with open_window(PAGES) as desktop:
            desk = Desk(desktop)
            await desk.built()
            await eventually(lambda: status(desk) == "Digest interrupted: 1 / 3")
            hands.click("statusDigest")
            await eventually(lambda: card(desk).isVisible())
            assert card(desk).counts.text == "1 of 3 files · interrupted"
            assert not hands.visible("cancelDigestButton")
            gate.open()
            hands.click("resumeDigestButton")
            await eventually(lambda: card(desk).counts.text == "3 of 3 files", within=LONG)
            assert [server.asked(f"00{number}.md") for number in range(3)] == [1, 2, 1]


async def test_what_was_cut_off_can_be_discarded_for_good(open_window: OpenWindow, tmp_path: Path) -> None:
    gate = Gate()
    with DigestServer(lambda request, name, before: Turn(["# ", gate, "x"])) as server:
        async with open_window(PAGES) as desktop:
            desk = Desk(desktop)
            await desk.built()
            await connect(desk, server)
            base = await base_in(desk, tmp_path / "notes")
            batch = await begin(desk, base, articles(tmp_path / "texts", 3))
            await asyncio.to_thread(gate.wait_reached)
        async with open_window(PAGES) as desktop:
            desk = Desk(desktop)
            await desk.built()
            await look_at(desk, base)
            await eventually(lambda: card(desk).isVisible())
            hands.click("discardDigestButton")
            await eventually(lambda: not card(desk).isVisible() and status(desk) == "")
            assert (await desk.core.digests.status(batch.id)).state is BatchState.CANCELLED
        async with open_window(PAGES) as desktop:
            desk = Desk(desktop)
            await desk.built()
            await watch(desk).ready
            assert watch(desk).all == ()
        gate.open()


@at_the_desk
async def test_hundreds_of_files_come_in_a_list_that_scrolls_and_news_are_gathered(desk: Desk, tmp_path: Path) -> None:
    with DigestServer(lambda request, name, before: Turn(" ") if int(name[:3]) % 50 == 7 else None) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        told: list[float] = []
        heard: list[float] = []
        watch(desk).moved.connect(lambda _id, _files: told.append(time.monotonic()))
        desk.desktop.window.events.digest_step.connect(lambda _event: heard.append(time.monotonic()))
        files = card(desk).list
        await begin(desk, base, articles(tmp_path / "texts", 300), concurrency=5)
        await eventually(
            lambda: card(desk).counts.text.startswith("120 of 300") or watch(desk).all[0].ended >= 120, within=100
        )
        follows = files.verticalScrollBar().value()
        assert follows > 0  # what is being done is in sight
        QTest.keyClick(files, Key.Key_Home)
        assert files.verticalScrollBar().value() == 0
        await eventually(lambda: card(desk).counts.text == "300 of 300 files · 6 failed", within=150)
        assert files.verticalScrollBar().value() == 0  # somebody reads there: nothing moved by itself
        assert len(heard) > 1_500
        assert len(told) * PAUSE_MS / 1_000 < 1.5 * (told[-1] - told[0])
        assert len(told) < len(heard) / 3
        assert card(desk).model.rowCount() == 300
        hands.click("failedOnlyButton")
        assert hands.rows("digestFiles") == [f"{number:03}.md" for number in (7, 57, 107, 157, 207, 257)]


@at_the_desk
async def test_another_base_has_no_part_in_it_and_the_status_line_leads_back(desk: Desk, tmp_path: Path) -> None:
    gate = Gate()
    with DigestServer(lambda request, name, before: Turn([gate, page_for(f"{name}\ntext")])) as server:
        await connect(desk, server)
        other = await base_in(desk, tmp_path / "other")
        base = await base_in(desk, tmp_path / "notes")
        await begin(desk, base, articles(tmp_path / "texts", 2))
        await eventually(lambda: card(desk).isVisible())
        await look_at(desk, other)
        hands.click_row("kbList", "other")
        await eventually(lambda: not card(desk).isVisible())
        assert status(desk) == "Digest: 0 / 2"
        desk.desktop.window.show_page("inbox")
        hands.click("statusDigest")
        await eventually(lambda: card(desk).isVisible() and hands.current_row("kbList") == "notes")
        gate.open()
        await eventually(lambda: card(desk).counts.text == "2 of 2 files", within=LONG)


@at_the_desk
async def test_two_digests_of_one_base_are_shown_in_turn(desk: Desk, tmp_path: Path) -> None:
    gate = Gate()
    with DigestServer(lambda request, name, before: Turn([gate, page_for(f"{name}\ntext")])) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        await begin(desk, base, articles(tmp_path / "one", 1, "one-{}.md"))
        await begin(desk, base, articles(tmp_path / "two", 2, "two-{}.md"))
        await eventually(lambda: hands.rows("digestFiles") == ["two-0.md", "two-1.md"])
        assert card(desk).other.text() == "1 of 2 digests"
        hands.click("otherDigestButton")
        assert hands.rows("digestFiles") == ["one-0.md"]
        assert card(desk).other.text() == "2 of 2 digests"
        assert status(desk) == "Digest: 0 / 3"
        gate.open()
        await eventually(lambda: status(desk) == "Digest: 2 / 2" or status(desk) == "Digest: 1 / 1", within=LONG)


@at_the_desk
async def test_what_another_process_digests_is_followed_and_left_alone(
    desk: Desk, tmp_path: Path, paths: AppPaths
) -> None:
    gate = Gate()

    def trouble(request: Request, name: str, before: int) -> Turn | None:
        return Turn([gate, page_for("Late\ntext")]) if name == "001.md" else None

    with DigestServer(trouble) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        async with opened(paths) as other:
            batch = await other.digests.start(base.id, articles(tmp_path / "texts", 2))
            await eventually(lambda: card(desk).counts.text == "1 of 2 files · 3 at a time", within=LONG)
            assert not hands.visible("cancelDigestButton")
            assert status(desk) == "Digest: 1 / 2"
            gate.open()
            await other.digests.wait(batch.id)
            await eventually(lambda: card(desk).counts.text == "2 of 2 files", within=LONG)


@at_the_desk
async def test_the_card_is_used_with_the_keyboard_alone_and_says_what_it_shows(desk: Desk, tmp_path: Path) -> None:
    with DigestServer(lambda request, name, before: Turn(" ") if name == "001.md" else None) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        await begin(desk, base, articles(tmp_path / "texts", 3))
        await eventually(lambda: card(desk).counts.text == "3 of 3 files · 1 failed", within=LONG)
        buttons = [button for button in card(desk).findChildren(QAbstractButton) if button.isVisible()]
        assert {button.objectName() for button in buttons} == {"retryFailedButton", "dismissDigestButton"}
        assert all(button.accessibleName() for button in buttons)
        assert all(button.focusPolicy() & Qt.FocusPolicy.TabFocus for button in buttons)
        assert card(desk).accessibleName() == "Batch digest, 3 of 3 files · 1 failed"
        files, model = card(desk).list, card(desk).model
        assert files.focusPolicy() & Qt.FocusPolicy.TabFocus
        spoken = [str(model.index(number, 0).data(Qt.ItemDataRole.AccessibleTextRole)) for number in range(3)]
        assert spoken[0] == "000.md, done, 1.1k tokens, Enter opens the page"
        assert spoken[1].startswith("001.md, Failed, scripted wrote no content.")
        assert spoken[1].endswith("R tries again")
        files.setFocus()
        files.setCurrentIndex(model.index(0, 0))
        hands.press_on(files, Key.Key_Return)
        await eventually(lambda: shown(desk) == "Article 0")
        hands.press_on(files, Key.Key_J)
        hands.press_on(files, Key.Key_J)
        hands.press_on(files, Key.Key_Return)
        await eventually(lambda: shown(desk) == "Article 2")


@at_the_desk
async def test_the_card_outlives_a_change_of_language(desk: Desk, tmp_path: Path) -> None:
    gate = Gate()
    with DigestServer(lambda request, name, before: Turn([gate, page_for(f"{name}\ntext")])) as server:
        await connect(desk, server)
        base = await base_in(desk, tmp_path / "notes")
        await begin(desk, base, articles(tmp_path / "texts", 2))
        await eventually(lambda: card(desk).isVisible())
        desk.desktop.window.rebuild()
        await desk.built()
        await look_at(desk, base)
        await eventually(lambda: card(desk).isVisible())
        assert card(desk).counts.text == "0 of 2 files · 3 at a time"
        gate.open()
        await eventually(lambda: watch(desk).all[0].count(FileState.DONE) == 2, within=LONG)
        await eventually(lambda: card(desk).counts.text == "2 of 2 files")
