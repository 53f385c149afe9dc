"""The skill that a message is sent with, as the run keeps it: the very words that every request of the run carries."""

from __future__ import annotations

from devflow.agent.engine import Engine
from devflow.domain.errors import NotFound
from devflow.domain.skill import UsedSkill
from devflow.domain.text.language import language_of
from devflow.store import conversations
from devflow.wiki.skills import readable_folder


async def used_skill(
    engine: Engine, conversation_id: str, question: str, name: str, tools: tuple[str, ...] | None
) -> UsedSkill:
    """Read the skill of that name; raises `UserFacing` where there is none, or it cannot be used.

    Its folder is named where a file tool of the run can read what lies beside `SKILL.md`.
    """
    conversation = await engine.db.read(lambda session: conversations.get(session, conversation_id))
    project = conversation.project.path if conversation.project is not None else None
    base = await _base_path(engine, conversation.kb_id)
    found = await engine.skills.named(name, base, project)
    language = language_of(question)
    text = engine.templates.fill(language, "skill", name=found.skill.name, text=found.instructions)
    folder = readable_folder(found.skill, project)
    if folder and (tools is None or "read_file" in tools):
        text = f"{text}\n\n{engine.templates.fill(language, 'skill_folder', folder=folder)}"
    return UsedSkill(found.skill.name, found.skill.source, text)


async def _base_path(engine: Engine, kb_id: str | None) -> str | None:
    try:
        return (await engine.bases.get(kb_id)).path if kb_id is not None else None
    except NotFound:  # it was erased by hand; the other folders still have skills
        return None
