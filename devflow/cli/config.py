"""`devflow config get | set`: `KnowledgeConfig` and the other settings, by bare keys."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from devflow.cli import more_settings
from devflow.cli.output import Output
from devflow.cli.parser import Acts, Parser
from devflow.domain import config
from devflow.domain.errors import InvalidInput
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core

APPEARANCE: Mapping[str, tuple[str, ...]] = {
    "theme": ("system", "light", "dark"),
    "language": ("system", "en", "zh_CN"),
}
KEYS = (*config.FIELDS, *APPEARANCE, *more_settings.KEYS)
TRUE, FALSE = ("true", "on", "yes", "1"), ("false", "off", "no", "0")


def add(parser: Parser) -> None:
    acts = Acts(parser)
    acts.add("get", _get, "All settings, or one.").add_argument(
        "key", metavar="KEY", nargs="?", help="a setting, or a group of them"
    )
    setting = acts.add("set", _set, "Change one setting.")
    setting.add_argument("key", metavar="KEY", help=", ".join(KEYS))
    setting.add_argument("value", metavar="VALUE", help="its new value; none: no value")


async def _get(core: Core, args: Namespace, output: Output) -> int:
    groups = await _everything(core)
    if args.key is None:
        _show(output, groups)
        return 0
    flat = {**groups["appearance"], **await more_settings.values(core), **groups[config.KEY]}
    if args.key in flat:
        _show_one(output, args.key, flat[args.key])
    elif args.key in groups:
        _show(output, {args.key: groups[args.key]})
    else:
        raise _unknown(args.key)
    return 0


async def _set(core: Core, args: Namespace, output: Output) -> int:
    from devflow.app.core import is_agent_child
    from devflow.cli import taking
    from devflow.knowledge.acts import require_human
    from devflow.knowledge.configuring import SAVING

    actor = taking.actor()
    require_human(actor, SAVING, agent_child=is_agent_child())
    if args.key in config.FIELDS:
        value = _parsed(args.key, args.value)
        changed = await core.knowledge.knowledge_change_config({args.key: value}, actor=actor)
        _show_one(output, args.key, getattr(changed, args.key))
    elif args.key in APPEARANCE:
        if args.value not in APPEARANCE[args.key]:
            raise InvalidInput(
                args.key,
                N_("{value} is not a value for {field}."),
                N_("Values: {known}."),
                value=repr(args.value),
                known=", ".join(APPEARANCE[args.key]),
            )
        await core.settings.update("appearance", **{args.key: args.value})
        _show_one(output, args.key, args.value)
    elif args.key in more_settings.KEYS:
        _show_one(output, args.key, await more_settings.change(core, args.key, args.value))
    else:
        raise _unknown(args.key)
    return 0


async def _everything(core: Core) -> dict[str, Any]:
    """Every setting by its group; what the window and the program remember for themselves is none."""
    more = await more_settings.values(core)
    appearance = await core.settings.get("appearance")
    return {
        config.KEY: asdict(await core.knowledge.knowledge_get_config()),
        "appearance": {name: appearance.get(name, usual) for name, (usual, *_) in APPEARANCE.items()},
        **{group: {name: more[key] for key, name in keys.items()} for group, keys in more_settings.GROUPS.items()},
    }


def _parsed(key: str, value: str) -> Any:
    """The text as the field's JSON type; what is not one goes on as it is and is refused by the field's own rule."""
    readers: Mapping[str, Callable[[str], Any]] = {
        "auto_extract": _truth,
        "auto_inject": _truth,
        "vector_enabled": _truth,
        "min_messages": _number,
        "idle_timeout_ms": _number,
        "embedding_provider_id": _name,
        "embedding_model": _name,
    }
    return readers.get(key, str)(value)


def _truth(value: str) -> Any:
    word = value.lower()
    return True if word in TRUE else False if word in FALSE else value


def _number(value: str) -> Any:
    return int(value) if value.isascii() and value.isdigit() else value


def _name(value: str) -> Any:
    return None if value in ("null", "none", "") else value


def _unknown(key: str) -> InvalidInput:
    known = ", ".join(KEYS)
    return InvalidInput(key, N_("There is no setting {field}."), N_("Settings: {known}."), known=known)


def _show(output: Output, groups: Mapping[str, Any]) -> None:
    if output.json:
        output.value(groups)
        return
    for group, values in groups.items():
        output.line(f"[{group}]")
        for name, value in values.items() if isinstance(values, Mapping) else ():
            output.line(f"{name} = {_text(value)}")
        output.line()


def _show_one(output: Output, key: str, value: Any) -> None:
    if output.json:
        output.value({key: value})
    else:
        output.line(_text(value))


def _text(value: Any) -> str:
    if isinstance(value, Mapping) and value.keys() == {"provider_id", "model"}:
        return f"{value['provider_id']}/{value['model']}"
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)
