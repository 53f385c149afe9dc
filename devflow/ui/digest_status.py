"""The status line's words on digests: what runs, what was cut off, what has just ended."""

from __future__ import annotations

from PySide6.QtCore import QObject

from devflow.domain.digest import BatchState
from devflow.domain.errors import UserFacing
from devflow.ui.context import UiContext
from devflow.ui.models.digests import Digest, DigestWatch


class DigestStatus(QObject):
    """A click on the item leads to the base whose digest it tells of."""

    def __init__(self, ctx: UiContext, parent: QObject) -> None:
        super().__init__(parent)
        self._ctx = ctx
        self._watch = DigestWatch.of(ctx)
        self._watch.listed.connect(self._say)
        self._watch.moved.connect(self._moved)
        self._watch.troubled.connect(self._cut_off)
        self._say()

    def _cut_off(self, problem: UserFacing) -> None:
        t = self._ctx.t
        self._ctx.shell.notify(" ".join(part for part in (problem.render(t), problem.render_hint(t)) if part))

    def _moved(self, _batch_id: str, _file_ids: object) -> None:
        self._say()

    def _say(self) -> None:
        t, digests = self._ctx.t, self._watch.all
        running = [digest for digest in digests if digest.running]
        cut_off = [digest for digest in digests if digest.cut_off]
        if running:
            self._tell(running, "half-disc", t("Digest: {done} / {total}", **_counts(running)), "busy")
        elif cut_off:
            self._tell(cut_off, "pause", t("Digest interrupted: {done} / {total}", **_counts(cut_off)), "trouble")
        elif digests:
            self._ended(digests[0])
        else:
            self._ctx.shell.set_status("digest", "", "", "", "")

    def _ended(self, digest: Digest) -> None:
        t = self._ctx.t
        if digest.failed:
            words = t.n("Digest: {count} failed", "Digest: {count} failed", digest.failed)
            self._tell([digest], "warning", words, "trouble")
        elif digest.batch.state is BatchState.CANCELLED:
            self._tell([digest], "stop", t("Digest cancelled: {done} / {total}", **_counts([digest])), "")
        else:
            self._tell([digest], "check", t("Digest: {done} / {total}", **_counts([digest])), "good")

    def _tell(self, digests: list[Digest], icon: str, words: str, tone: str) -> None:
        self._ctx.shell.set_status("digest", icon, words, tone, f"devflow:digest/{digests[0].batch.kb_id}")


def _counts(digests: list[Digest]) -> dict[str, int]:
    return {
        "done": sum(digest.ended for digest in digests),
        "total": sum(len(digest.files) for digest in digests),
    }
