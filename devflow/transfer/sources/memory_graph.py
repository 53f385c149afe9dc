"""What the reference MCP memory server keeps: one JSON object a line, an entity or a relation. One candidate an entity.

https://github.com/modelcontextprotocol/servers, src/memory: `{"type": "entity", "name", "entityType", "observations"}`
and `{"type": "relation", "from", "to", "relationType"}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from devflow.domain.foreign_json import loads
from devflow.domain.messages import N_
from devflow.transfer.files import SourceFile
from devflow.transfer.pieces import BadFile, Format, Piece, key_of
from devflow.transfer.sources.drafts import made


@dataclass(slots=True)
class _Entity:
    line: int
    kind: str = ""
    observations: list[str] = field(default_factory=list)
    relations: list[str] = field(default_factory=list)


def looks_like(text: str) -> bool:
    """Whether the first line is an entity or a relation."""
    first = next((line for line in text.split("\n", 200) if line.strip()), "")
    try:
        value = loads(first)
    except ValueError:
        return False
    return isinstance(value, dict) and value.get("type") in ("entity", "relation")


def read(text: str, file: SourceFile, place: str) -> tuple[Piece, ...]:
    """Raises BadFile that names the first bad line."""
    entities: dict[str, _Entity] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            _take(entities, _object(line, number), number)
    return _pieces(entities, file, place)


def read_graph(value: Mapping[str, Any], file: SourceFile, place: str) -> tuple[Piece, ...]:
    """The same as the server's tools give it: `{"entities": […], "relations": […]}`."""
    entities: dict[str, _Entity] = {}
    for kind in ("entities", "relations"):
        listed = value.get(kind, [])
        for each in listed if isinstance(listed, list) else [None]:
            if not isinstance(each, dict):
                raise BadFile(N_("its {field} are no list of objects"), N_("Export it again."), field=kind)
            _take(entities, {**each, "type": "entity" if kind == "entities" else "relation"}, 0)
    return _pieces(entities, file, place)


def _object(line: str, number: int) -> Mapping[str, Any]:
    try:
        value = loads(line)
    except ValueError as error:
        problem = getattr(error, "msg", str(error))
        raise BadFile(
            N_("it is no JSON: {problem}"), N_("Mend or remove that line."), line=number, problem=problem
        ) from error
    if not isinstance(value, dict):
        raise BadFile(N_("it is no JSON object"), N_("Mend or remove that line."), line=number)
    return value


def _take(entities: dict[str, _Entity], value: Mapping[str, Any], line: int) -> None:
    match value:
        case {"type": "entity", "name": str(name), "entityType": str(kind), "observations": list(said)} if name.strip():
            entity = entities.setdefault(name, _Entity(line))
            entity.kind = kind
            entity.observations += [" ".join(each.split()) for each in _texts(said, line) if each.strip()]
        case {"type": "relation", "from": str(one), "to": str(other), "relationType": str(relation)}:
            entities.setdefault(one, _Entity(line)).relations.append(f"{relation} → {other}")
        case {"type": "entity" | "relation"}:
            raise BadFile(N_("a field is missing, or of another kind"), N_("Mend or remove that line."), line=line)
        case _:
            raise BadFile(N_("it is neither an entity nor a relation"), N_("Mend or remove that line."), line=line)


def _texts(said: Iterable[Any], line: int) -> list[str]:
    found = list(said)
    if not all(isinstance(each, str) for each in found):
        raise BadFile(N_("an observation is no text"), N_("Mend or remove that line."), line=line)
    return found


def _pieces(entities: Mapping[str, _Entity], file: SourceFile, place: str) -> tuple[Piece, ...]:
    """Entities that nothing is said of are left out."""
    return tuple(
        Piece(
            key_of(Format.MCP_MEMORY, place, name),
            Format.MCP_MEMORY,
            file.name,
            entity.line,
            made(
                Format.MCP_MEMORY,
                title=name,
                content="\n".join(f"- {said}" for said in (*entity.observations, *entity.relations)),
                line=entity.line,
                tags=[entity.kind],
            ),
        )
        for name, entity in entities.items()
        if entity.observations or entity.relations
    )
