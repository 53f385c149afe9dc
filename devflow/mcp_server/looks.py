"""The tools that only look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from devflow.domain.errors import InvalidInput, Refused
from devflow.domain.messages import N_
from devflow.mcp_server import results
from devflow.mcp_server.room import Room

Arguments = Mapping[str, Any]
Json = dict[str, Any]


async def search(room: Room, given: Arguments) -> Json:
    found = await room.library.search(room.visitor, given["query"], kind=given.get("kind"), limit=given["limit"])
    return results.hits(room.visitor, found)


async def get(room: Room, given: Arguments) -> Json:
    return results.entry(room.visitor, await room.library.get(room.visitor, given["id"]))


async def listing(room: Room, given: Arguments) -> Json:
    page = await room.library.list(
        room.visitor,
        given.get("status"),
        kind=given.get("kind"),
        tag=given.get("tag"),
        limit=given["limit"],
        offset=given["offset"],
        sort=given["sort"],
    )
    return results.entries(room.visitor, page, given["offset"])


async def candidates(room: Room, given: Arguments) -> Json:
    page = await room.library.candidates(
        room.visitor, kind=given.get("kind"), limit=given["limit"], offset=given["offset"]
    )
    return results.entries(room.visitor, page, given["offset"])


async def timeline(room: Room, given: Arguments) -> Json:
    return results.events(await room.library.timeline(room.visitor, given["id"]), given["limit"])


async def similar(room: Room, given: Arguments) -> Json:
    id, text = given.get("id"), given.get("text", "")
    if (id is None) == (not text):
        raise InvalidInput("text", N_("Give either an id or a text."))
    found = await room.library.similar(room.visitor, id=id, text=text, limit=given["limit"])
    return results.hits(room.visitor, found)


async def get_config(room: Room, given: Arguments) -> Json:
    return {"knowledge_config": asdict(await room.library.config(room.visitor))}


async def query_base(room: Room, given: Arguments) -> Json:
    from devflow.tools.knowledge_base import search_base

    base = await room.core.bases.current()
    if base is None:
        raise Refused(
            N_("No knowledge base is selected in DevFlow."),
            N_("The user opens one in the window, or with `devflow kb open DIR`."),
        )
    if not given["query"].strip():
        raise InvalidInput("query", N_("The query is empty."), N_("Give a question, or words of the page."))
    found = await search_base(room.core.bases, base, given["query"])
    return {
        "knowledge_base": {"name": base.name, "path": base.path},
        "pages": [results.page(hit) for hit in found.hits],
        "matching": found.matching,
        "missing": list(found.missing),
    }


async def current_base(room: Room, given: Arguments) -> Json:
    from devflow.tools.knowledge_base import INDEXING_S

    base = await room.core.bases.current()
    if base is None:
        return {"selected": False, "name": None, "path": None, "pages": 0}
    progress = await room.core.bases.refresh(base, within=INDEXING_S)
    return {"selected": True, "name": base.name, "path": base.path, "pages": progress.pages}
