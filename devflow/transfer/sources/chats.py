"""Conversations of other assistants: the data exports of ChatGPT and of Claude.

Neither company documents its export. ChatGPT: a list of conversations, each a tree (`mapping`) whose active path ends
at `current_node`. Claude: a list of conversations with `chat_messages`, newer ones with `parent_message_uuid`. What the
reader never saw (system texts, tool calls, thinking) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from devflow.domain.conversation import Role
from devflow.domain.messages import N_
from devflow.extraction.candidate import title_of
from devflow.store.imports import ImportedConversation, ImportedMessage
from devflow.transfer.pieces import Bad, BadFile, Chat, Format, conversation_id

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TITLE_MAX = 200
_NEVER = re.compile("[\x00\ud800-\udfff]")
_CITED = re.compile("\ue200[^\ue201]*\ue201|[\ue200-\ue20f]|【[^】\n]{0,40}†[^】\n]{0,80}】")
"""ChatGPT's own marks for sources, which name nothing outside of it."""


def format_of(value: Any) -> Format | None:
    """Whose export this is; an empty list is nobody's."""
    first = next((each for each in value if isinstance(each, dict)), None) if isinstance(value, list) else None
    if first is None:
        return None
    return Format.CHATGPT if "mapping" in first else Format.CLAUDE if "chat_messages" in first else None


def read(value: Sequence[Any], format: Format, file: str) -> tuple[tuple[Chat, ...], tuple[Bad, ...]]:
    """Conversations in which something was said, and those that cannot be read, each by its place in the list."""
    chats: list[Chat] = []
    bad: list[Bad] = []
    for number, each in enumerate(value, 1):
        try:
            if not isinstance(each, dict):
                raise _odd()
            conversation = _chatgpt(each) if format is Format.CHATGPT else _claude(each)
        except BadFile as problem:
            bad.append(Bad(f"{file} › {_name(each, number)}", 0, problem))
        else:
            if conversation.messages:
                chats.append(Chat(format, file, conversation))
    return tuple(chats), tuple(bad)


# ChatGPT ------------------------------------------------------------------------------------------------------------


def _chatgpt(value: Mapping[str, Any]) -> ImportedConversation:
    own = value.get("conversation_id") or value.get("id")
    mapping = value.get("mapping")
    if not isinstance(own, str) or not own or not isinstance(mapping, dict):
        raise _odd()
    id = conversation_id(Format.CHATGPT, own)
    messages = [
        message for node in _active_path(mapping, value.get("current_node")) if (message := _chatgpt_message(id, node))
    ]
    return _conversation(id, value.get("title"), messages, value.get("create_time"), value.get("update_time"))


def _active_path(mapping: Mapping[str, Any], leaf: Any) -> list[Mapping[str, Any]]:
    """From the root to the leaf; without one, to the node that was made last."""
    if not isinstance(leaf, str) or leaf not in mapping:
        leaf = max(mapping, key=lambda id: _made_at(mapping[id]), default=None)
    path: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    while isinstance(leaf, str) and leaf not in seen and isinstance(node := mapping.get(leaf), dict):
        seen.add(leaf)
        path.append({**node, "id": leaf})
        leaf = node.get("parent")
    return path[::-1]


def _made_at(node: Any) -> float:
    message = node.get("message") if isinstance(node, dict) else None
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, int | float) else 0.0


def _chatgpt_message(conversation: str, node: Mapping[str, Any]) -> ImportedMessage | None:
    message = node.get("message")
    if not isinstance(message, dict):
        return None
    author, content = _mapping(message.get("author")), _mapping(message.get("content"))
    metadata = _mapping(message.get("metadata"))
    role = author.get("role")
    hidden = metadata.get("is_visually_hidden_from_conversation") or metadata.get("is_user_system_message")
    if role not in ("user", "assistant") or hidden or message.get("recipient") not in (None, "all"):
        return None
    text = _chatgpt_text(content)
    if not text:
        return None
    model = metadata.get("model_slug")
    return ImportedMessage(
        conversation_id(Format.CHATGPT, f"{conversation}/{node['id']}"),
        Role(role),
        text,
        _instant(message.get("create_time")),
        model if role == "assistant" and isinstance(model, str) else "",
    )


def _chatgpt_text(content: Mapping[str, Any]) -> str:
    match content:
        case {"content_type": "text" | "multimodal_text", "parts": list(parts)}:
            texts = [part if isinstance(part, str) else _mapping(part).get("text") for part in parts]
            return _clean(texts)
        case _:
            return ""


# Claude -------------------------------------------------------------------------------------------------------------


def _claude(value: Mapping[str, Any]) -> ImportedConversation:
    own, listed = value.get("uuid"), value.get("chat_messages")
    if not isinstance(own, str) or not own or not isinstance(listed, list):
        raise _odd()
    if not all(isinstance(each, dict) for each in listed):
        raise _odd()
    id = conversation_id(Format.CLAUDE, own)
    path = _claude_path(listed, value.get("current_leaf_message_uuid"))
    messages = [message for each in path if (message := _claude_message(id, each))]
    return _conversation(id, value.get("name"), messages, value.get("created_at"), value.get("updated_at"))


def _claude_path(listed: Sequence[Mapping[str, Any]], leaf: Any) -> Sequence[Mapping[str, Any]]:
    """Of a tree, the way to its leaf; of a list, all of it."""
    by_id = {str(each.get("uuid")): each for each in listed}
    if len(by_id) < len(listed) or not any(str(each.get("parent_message_uuid")) in by_id for each in listed):
        return listed
    at = leaf if leaf in by_id else str(listed[-1].get("uuid"))
    path: list[Mapping[str, Any]] = []
    while at in by_id:
        path.append(by_id.pop(at))
        at = str(path[-1].get("parent_message_uuid"))
    return path[::-1]


def _claude_message(conversation: str, value: Mapping[str, Any]) -> ImportedMessage | None:
    role = {"human": Role.USER, "assistant": Role.ASSISTANT}.get(str(value.get("sender")))
    blocks = value.get("content")
    said = [
        each.get("text")
        for each in (blocks if isinstance(blocks, list) else ())
        if isinstance(each, dict) and each.get("type") == "text"
    ]
    text = _clean(said, "\n\n") or _clean([value.get("text")])
    own = value.get("uuid")
    if role is None or not text or not isinstance(own, str):
        return None
    return ImportedMessage(
        conversation_id(Format.CLAUDE, f"{conversation}/{own}"), role, text, _instant(value.get("created_at"))
    )


# Both ---------------------------------------------------------------------------------------------------------------


def _conversation(
    id: str, title: Any, messages: Sequence[ImportedMessage], created: Any, updated: Any
) -> ImportedConversation:
    """What one side said in several messages becomes one: here an answer is a message."""
    joined: list[ImportedMessage] = []
    for message in messages:
        if joined and joined[-1].role is message.role:
            joined[-1] = replace(joined[-1], content=f"{joined[-1].content}\n\n{message.content}")
        else:
            joined.append(message)
    began = _instant(created)
    ended = max([_instant(updated), began, *(message.at for message in joined)])
    named = " ".join(_clean([title]).split())
    first = joined[0].content if joined else ""
    dated = tuple(replace(each, at=each.at if each.at > EPOCH else began) for each in joined)
    return ImportedConversation(id, (named or title_of(first))[:TITLE_MAX], began, ended, dated)


def _clean(texts: Iterable[Any], between: str = "\n") -> str:
    text = between.join(each for each in texts if isinstance(each, str) and each.strip())
    return _CITED.sub("", _NEVER.sub("\ufffd", text)).replace("\r\n", "\n").strip()


def _instant(value: Any) -> datetime:
    """Seconds since 1970, or ISO 8601; long ago where it is neither."""
    try:
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value, UTC)
        at = datetime.fromisoformat(value) if isinstance(value, str) else EPOCH
    except (ValueError, OverflowError, OSError):
        return EPOCH
    return at.astimezone(UTC) if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _name(value: Any, number: int) -> str:
    title = (value.get("title") or value.get("name")) if isinstance(value, dict) else None
    return title if isinstance(title, str) and title else str(number)


def _odd() -> BadFile:
    return BadFile(N_("it is no conversation of this format"), N_("Ask for a new export."))
