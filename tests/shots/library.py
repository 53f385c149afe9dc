"""The library and the inbox at work: browsed, searched, judged, taken back, edited."""

import asyncio
import tempfile
from pathlib import Path

from devflow.domain.knowledge import Status, draft
from devflow.knowledge.acts import Actor
from devflow.store.entry_lists import Filters
from devflow.ui.dialogs.compare_entries import CompareEntries
from devflow.ui.dialogs.merge_entries import MergeEntries
from devflow.ui.pages.inbox import InboxPage
from devflow.ui.pages.knowledge import KnowledgePage
from devflow.ui.pages.knowledge.library_side import LibrarySide
from devflow.ui.samples import remove_samples
from devflow.ui.widgets.entry_editor import EntryEditor
from tests.shots.library_seed import seed_inbox, seed_library
from tests.shots.stage import Stage

USER = Actor.user()


async def library(stage: Stage) -> None:
    """The seeded library instead of the samples; the entry with the longest life is open."""
    await remove_samples(stage.window.ctx)
    seeded = await seed_library(stage.core, stage.say)
    folder = Path(stage.on_close.enter_context(tempfile.TemporaryDirectory()))
    await seed_inbox(stage.core, stage.say, folder / "inkwell-server")
    await stage.show("knowledge")
    _library(stage).list.go_to(seeded.first)
    await stage.focus("entryList")
    await stage.settled()


async def library_search(stage: Stage) -> None:
    page = _library(stage)
    page.pane.search.setText(stage.say("transaction", "事务"))
    await _until_read(stage, lambda: page.view.searching)
    page.detail.why.button.setChecked(True)
    await stage.focus("librarySearch")


async def inbox(stage: Stage) -> None:
    """One was published just now, three came in meanwhile, the first is being judged."""
    _library(stage).pane.search.clear()
    await stage.show("inbox")
    page = _inbox(stage)
    page.candidates.refresh(take_new=True)
    await stage.settled()
    page.list.go_to(page.model.ids[-1])
    await stage.settled()
    page.approve()
    late = [
        draft(kind="pitfall", title=f"{stage.say('A late one', '晚到的一条')} {number}", content="…", confidence=0.4)
        for number in range(3)
    ]
    await stage.core.knowledge.knowledge_submit(late, actor=Actor.ai())
    await stage.settled()
    page.list.go_to(page.model.ids[0])
    await stage.focus("inboxList")
    await stage.settled()
    page.bar.show_undo(page.bar.words.text(), page.review.undo)


async def inbox_compare(stage: Stage) -> None:
    """The candidate beside the entry that it resembles."""
    page = _inbox(stage)
    page.compare()
    await stage.settled(dialog=True)
    stage.target = next(each for each in stage.app.topLevelWidgets() if isinstance(each, CompareEntries))


async def inbox_merge(stage: Stage) -> None:
    page = _inbox(stage)
    page.merge()
    await stage.settled(dialog=True)
    stage.target = next(each for each in stage.app.topLevelWidgets() if isinstance(each, MergeEntries))


async def inbox_rejected(stage: Stage) -> None:
    """Several are marked; the last one was rejected and may get its reason."""
    page = _inbox(stage)
    page.list.go_to(page.model.ids[-1])
    page.reject()
    await stage.settled()
    page.list.go_to(page.model.ids[1])
    page.list.toggle()
    page.list.extend(1)
    await stage.settled()


async def editor(stage: Stage) -> None:
    """A rule is broken, and something like it is there already."""
    page = _inbox(stage)
    page.list.unmark()
    page.list.go_to(page.model.ids[0])
    await stage.settled()
    page.edit()
    await stage.settled(dialog=True)
    shown = [each for each in stage.app.topLevelWidgets() if isinstance(each, EntryEditor)]
    stage.target = shown[0]
    shown[0].form.title.setText("")
    shown[0].form.judge()
    await asyncio.sleep(0.6)  # it looks for repetitions a moment after the last key


async def put_away(stage: Stage) -> None:
    """Leave nothing of these scenes in the way of the next ones."""
    for editor in [each for each in stage.app.topLevelWidgets() if isinstance(each, EntryEditor)]:
        editor._leave = True
        editor.reject()
    ids = await stage.core.knowledge.knowledge_order(Filters(statuses=frozenset(Status) - {Status.ARCHIVED}))
    if ids:
        await stage.core.knowledge.knowledge_archive(ids, actor=USER)
    await stage.core.samples.load(stage.language, actor=USER)
    await stage.settled()


def _library(stage: Stage) -> LibrarySide:
    page = stage.window.page("knowledge")
    assert isinstance(page, KnowledgePage)
    return page.library


def _inbox(stage: Stage) -> InboxPage:
    page = stage.window.page("inbox")
    assert isinstance(page, InboxPage)
    return page


async def _until_read(stage: Stage, condition) -> None:  # type: ignore[no-untyped-def]
    for _ in range(100):
        if condition():
            break
        await asyncio.sleep(0.02)
    await stage.settled()
