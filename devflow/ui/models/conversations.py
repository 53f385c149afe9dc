"""The conversations as a list model: pinned ones, then by day; or the messages that contain what is searched for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from devflow.domain.conversation import Conversation
from devflow.domain.messages import Translator
from devflow.ui.widgets.lists import HEADER_ROLE, OBJECT_ROLE

if TYPE_CHECKING:
    from devflow.store.conversation_search import MessageHit

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Header:
    """A group's title."""

    title: str


@dataclass(frozen=True, slots=True)
class ConversationItem:
    """A conversation with what its row shows; `when` is the right slot's text."""

    conversation: Conversation
    title: str
    when: str


@dataclass(frozen=True, slots=True)
class HitItem:
    """A message found by the search."""

    hit: MessageHit
    title: str
    when: str


Item = Header | ConversationItem | HitItem


class ConversationModel(QAbstractListModel):
    """Shows what it is given; rows that stay keep their index, so that the current one and the scroll do not jump."""

    def __init__(self, t: Translator) -> None:
        super().__init__()
        self._t = t
        self._items: list[Item] = []

    def show_conversations(self, conversations: Sequence[Conversation], now: datetime) -> None:
        """All of them in their groups; `now` is local time with a zone."""
        self._replace(grouped(self._t, conversations, now))

    def show_hits(self, titles: Sequence[Conversation], hits: Sequence[MessageHit], now: datetime) -> None:
        """A search's answer: conversations whose title matches, then messages."""
        items: list[Item] = [conversation_item(self._t, each, now) for each in titles]
        if hits:
            items.append(Header(self._t("Messages")))
            items += [
                HitItem(hit, shown_title(self._t, hit.title), when_words(self._t, hit.created_at, now)) for hit in hits
            ]
        self._replace(items)

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        if not index.isValid():
            return None
        item = self._items[index.row()]
        if role == OBJECT_ROLE:
            return item
        if role == HEADER_ROLE:
            return isinstance(item, Header)
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return item.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return self._spoken(item)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if index.isValid() and isinstance(self._items[index.row()], Header):
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable

    def row_of(self, conversation_id: str) -> int:
        """The row of that conversation, or -1."""
        for row, item in enumerate(self._items):
            if isinstance(item, ConversationItem) and item.conversation.id == conversation_id:
                return row
        return -1

    def item(self, index: Index) -> Item | None:
        return self._items[index.row()] if index.isValid() else None

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(self._items)

    def _replace(self, items: list[Item]) -> None:
        """Change as little as possible: an unchanged order only repaints its rows."""
        if [_key(item) for item in items] == [_key(item) for item in self._items]:
            changed = [row for row, item in enumerate(items) if item != self._items[row]]
            self._items = items
            if changed:
                self.dataChanged.emit(self.index(changed[0]), self.index(changed[-1]))
            return
        self.beginResetModel()
        self._items = items
        self.endResetModel()

    def _spoken(self, item: Item) -> str:
        match item:
            case ConversationItem(conversation, title, when):
                mark = when
                if conversation.awaiting:
                    mark = self._t("waiting for approval")
                elif conversation.running:
                    mark = self._t("running")
                return f"{title}, {mark}" if mark else title
            case HitItem(hit, title, _):
                return f"{title}: {hit.excerpt}"
            case _:
                return item.title


def grouped(t: Translator, conversations: Sequence[Conversation], now: datetime) -> list[Item]:
    """Pinned, Today, Yesterday, Earlier; empty groups are left out."""
    groups: dict[str, list[Item]] = {t("Pinned"): [], t("Today"): [], t("Yesterday"): [], t("Earlier"): []}
    pinned, today, yesterday, earlier = groups
    for each in conversations:
        day = each.updated_at.astimezone(now.tzinfo).date()
        if each.pinned:
            group = pinned
        elif day >= now.date():
            group = today
        elif day == now.date() - timedelta(days=1):
            group = yesterday
        else:
            group = earlier
        groups[group].append(conversation_item(t, each, now))
    items: list[Item] = []
    for title, members in groups.items():
        if members:
            items += [Header(title), *members]
    return items


def conversation_item(t: Translator, conversation: Conversation, now: datetime) -> ConversationItem:
    title = shown_title(t, conversation.title)
    return ConversationItem(conversation, title, when_words(t, conversation.updated_at, now))


def shown_title(t: Translator, title: str) -> str:
    """A title as it is read: without the marks of Markdown that a first message may bring."""
    return title.replace("`", "").replace("**", "").strip() or t("New conversation")


def when_words(t: Translator, at: datetime, now: datetime) -> str:
    """`10:42` today, `Thu` within the week, `18 Nov` within the year, else the year too."""
    local = at.astimezone(now.tzinfo)
    days = (now.date() - local.date()).days
    if days <= 0:
        return f"{local:%H:%M}"
    if days < 7:
        return _weekdays(t)[local.weekday()]
    if local.year == now.year or days < 180:
        return t("{day} {month}", day=local.day, month=_months(t)[local.month - 1])
    return f"{local:%Y-%m}"


def _weekdays(t: Translator) -> tuple[str, ...]:
    return (
        t.p("weekday", "Mon"),
        t.p("weekday", "Tue"),
        t.p("weekday", "Wed"),
        t.p("weekday", "Thu"),
        t.p("weekday", "Fri"),
        t.p("weekday", "Sat"),
        t.p("weekday", "Sun"),
    )


def _months(t: Translator) -> tuple[str, ...]:
    return (
        t.p("month", "Jan"),
        t.p("month", "Feb"),
        t.p("month", "Mar"),
        t.p("month", "Apr"),
        t.p("month", "May"),
        t.p("month", "Jun"),
        t.p("month", "Jul"),
        t.p("month", "Aug"),
        t.p("month", "Sep"),
        t.p("month", "Oct"),
        t.p("month", "Nov"),
        t.p("month", "Dec"),
    )


def _key(item: Item) -> tuple[str, str]:
    match item:
        case Header(title):
            return ("header", title)
        case ConversationItem(conversation):
            return ("conversation", conversation.id)
        case HitItem(hit):
            return ("hit", hit.message_id)
