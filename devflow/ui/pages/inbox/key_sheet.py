"""The sheet of the inbox's keys."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from devflow.ui.context import UiContext
from devflow.ui.widgets import KeySheet


def key_sheet(ctx: UiContext, parent: QWidget) -> KeySheet:
    t = ctx.t
    return KeySheet(
        ctx,
        [
            (
                t("Decide"),
                [
                    (["A"], t("Publish")),
                    (["R"], t("Reject; then 1–4 for a reason")),
                    (["S"], t("Send to review")),
                    (["E"], t("Edit")),
                    (["Ctrl", "Enter"], t("In the editor: save and publish")),
                    (["W"], t("Widen to all projects")),
                    (["M"], t("Merge with the similar entry, or the selected ones")),
                ],
            ),
            (
                t("Move and select"),
                [
                    (["J", "K"], t("Next, previous")),
                    (["X"], t("Select")),
                    (["Shift", "J"], t("Extend the selection")),
                    (["/"], t("Filter")),
                    (["Y"], t("Why this?")),
                    (["Esc"], t("Clear the selection")),
                ],
            ),
            (t("Take back"), [(["Ctrl", "Z"], t("Undo")), (["Ctrl", "Shift", "Z"], t("Do again"))]),
        ],
        parent=parent,
    )
