"""A rule by hand: what is asked about each time, or never done. Rules that allow come from a call's card alone."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from devflow.domain.errors import InvalidInput
from devflow.domain.ids import now
from devflow.domain.knowledge import Project
from devflow.tools.call_words import verb_of
from devflow.tools.patterns import check_pattern
from devflow.tools.policy import Effect, Rule
from devflow.ui.context import UiContext
from devflow.ui.dialogs.settings.page import ProblemLine, sentence_of
from devflow.ui.widgets import Button, ComboBox, Label, Paragraph, Segmented

_WIDTH = 480


class RuleDialog(QDialog):
    """Run it with `ctx.dialogs.run`; when accepted, `rule` is what was written."""

    def __init__(
        self, ctx: UiContext, tools: Sequence[str], projects: Sequence[Project], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        t = ctx.t
        self._ctx = ctx
        self.rule: Rule | None = None
        self.setObjectName("ruleDialog")
        self.setWindowTitle(t("Add a rule"))
        self.setFixedWidth(_WIDTH)
        self.effect = Segmented(ctx, [t("Ask each time"), t("Never allow")])
        self.effect.setObjectName("ruleEffect")
        self.tool = ComboBox(ctx, name=t("Tool"))
        self.tool.setObjectName("ruleTool")
        for name in tools:
            verb = verb_of(t, name)
            self.tool.add(name if verb == name else f"{verb} · {name}", name)
        self.folder = ComboBox(ctx, name=t("Project folder"))
        self.folder.setObjectName("ruleFolder")
        for project in projects:
            self.folder.add(project.name, project.path)
        self.folder.add(t("without a project folder"), "")
        self.pattern = QLineEdit()
        self.pattern.setObjectName("rulePattern")
        self.pattern.setAccessibleName(t("What it covers"))
        self.pattern.setPlaceholderText("secrets/*")
        self.pattern.setFont(ctx.theme.font("code"))
        self.problem = ProblemLine(self.pattern)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 20, 24, 16)
        column.setSpacing(8)
        column.addWidget(Label(t("Add a rule"), "heading"))
        row = QHBoxLayout()
        row.addWidget(self.effect)
        row.addStretch(1)
        column.addLayout(row)
        form = QGridLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setColumnStretch(1, 1)
        names = t("Tool"), t("Project folder"), t("What it covers")
        for place, (name, field) in enumerate(zip(names, (self.tool, self.folder, self.pattern), strict=True)):
            form.addWidget(Label(name, "small", "muted"), place, 0)
            form.addWidget(field, place, 1)
        column.addLayout(form)
        column.addWidget(self.problem)
        about = t(
            "A file or a folder with everything below it; for a command its words, with * at the end for whatever"
            " follows. * alone covers everything the tool could do there."
        )
        column.addWidget(Paragraph(ctx, about, "small"))
        column.addSpacing(8)
        column.addLayout(self._foot())
        self.pattern.textEdited.connect(self._typed)
        self.pattern.returnPressed.connect(self._add)
        self.pattern.setFocus()

    def _foot(self) -> QHBoxLayout:
        t = self._ctx.t
        cancel = Button(self._ctx, t("Cancel"))
        cancel.setObjectName("cancelButton")
        cancel.clicked.connect(self.reject)
        add = Button(self._ctx, t("Add"), variant="primary")
        add.setObjectName("acceptButton")
        add.clicked.connect(self._add)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        for button in (cancel, add):
            button.setAutoDefault(False)
            row.addWidget(button)
        return row

    def _typed(self) -> None:
        self.problem.say("")

    def _add(self) -> None:
        try:
            pattern = check_pattern(self.pattern.text().strip(), allows=False)
        except InvalidInput as error:
            self.problem.say(sentence_of(self._ctx.t, error))
            return
        effect = Effect.DENY if self.effect.current else Effect.ASK
        self.rule = Rule(effect, self.tool.currentData(), self.folder.currentData(), pattern, since=now())
        self.accept()
