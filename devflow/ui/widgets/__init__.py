"""The kit: `from devflow.ui.widgets import Button, Card, …`; the first argument is a `Look` (a UiContext is one)."""

from devflow.ui.widgets.buttons import Button, IconButton, SendButton, SplitButton
from devflow.ui.widgets.cards import (
    Card,
    EmptyState,
    Hairline,
    IconLabel,
    NoticeStrip,
    OptionRow,
    Pane,
    section_title,
)
from devflow.ui.widgets.chips import Chip, ConfidenceBar, ElidedLabel, Label, Paragraph
from devflow.ui.widgets.dialogs import Dialogs, MessageDialog, PromptDialog, QtDialogs
from devflow.ui.widgets.diff import CodeDiff, ProseDiff
from devflow.ui.widgets.fields import ComboBox, DecimalBox, SearchField, SpinBox
from devflow.ui.widgets.focusring import FocusRing
from devflow.ui.widgets.keysheet import KeyCap, KeySheet
from devflow.ui.widgets.layouts import FlowLayout
from devflow.ui.widgets.lists import HEADER_ROLE, OBJECT_ROLE, Row, RowDelegate, RowList
from devflow.ui.widgets.markdown import CodeBlock, MarkdownView
from devflow.ui.widgets.picker import Choice, Picker
from devflow.ui.widgets.rail import Badge, Rail, RailButton
from devflow.ui.widgets.segmented import Segmented
from devflow.ui.widgets.splitter import HairlineSplitter
from devflow.ui.widgets.switch import Switch
from devflow.ui.widgets.timeline import Timeline, TimelineItem
from devflow.ui.widgets.toast import UndoBar

__all__ = [
    "HEADER_ROLE",
    "OBJECT_ROLE",
    "Badge",
    "Button",
    "Card",
    "Chip",
    "Choice",
    "CodeBlock",
    "CodeDiff",
    "ComboBox",
    "ConfidenceBar",
    "DecimalBox",
    "Dialogs",
    "ElidedLabel",
    "EmptyState",
    "FlowLayout",
    "FocusRing",
    "Hairline",
    "HairlineSplitter",
    "IconButton",
    "IconLabel",
    "KeyCap",
    "KeySheet",
    "Label",
    "MarkdownView",
    "MessageDialog",
    "NoticeStrip",
    "OptionRow",
    "Pane",
    "Paragraph",
    "Picker",
    "PromptDialog",
    "ProseDiff",
    "QtDialogs",
    "Rail",
    "RailButton",
    "Row",
    "RowDelegate",
    "RowList",
    "SearchField",
    "Segmented",
    "SendButton",
    "SpinBox",
    "SplitButton",
    "Switch",
    "Timeline",
    "TimelineItem",
    "UndoBar",
    "section_title",
]
