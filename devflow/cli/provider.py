"""`devflow provider …`: the model servers. Keys come from standard input or a named variable, never as an argument."""

from __future__ import annotations

import os
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from devflow.cli.output import Output
from devflow.cli.parser import Acts, Parser, WrongUsage
from devflow.cli.streams import read_stdin
from devflow.domain.errors import ProviderFailed, Refused
from devflow.domain.messages import N_

if TYPE_CHECKING:
    from devflow.app.core import Core
    from devflow.domain.provider import ProviderConfig, ProviderDraft, Roles, TestReport

MARKS = {"ok": "✓", "failed": "✗", "not_needed": "○", "skipped": "–"}


def add(parser: Parser) -> None:
    acts = Acts(parser)
    acts.add("list", _list, "The model servers that are set up.")
    adding = acts.add("add", _add, "Set up a model server; prints its id.")
    adding.add_argument("--preset", metavar="P", default="custom", help="openai, anthropic, ollama, … or custom")
    adding.add_argument("--name", metavar="N", help="as lists show it; the preset's by default")
    adding.add_argument("--address", metavar="URL", help="the preset's by default")
    adding.add_argument("--model", metavar="M", action="append", default=[], help="may be repeated; else it is asked")
    adding.add_argument("--context-window", metavar="TOKENS", type=int, help="instead of what the server says")
    key = adding.add_mutually_exclusive_group()
    key.add_argument("--key-stdin", action="store_true", help="read the key from standard input")
    key.add_argument("--key-env", metavar="VARIABLE", help="read the key from this environment variable")
    for name, run, about in (
        ("test", _test, "Ask it everything a conversation would, and say what works."),
        ("remove", _remove, "Remove it, with its key and its roles."),
    ):
        acts.add(name, run, about).add_argument("provider", metavar="PROVIDER", help="its id or its name")


async def _list(core: Core, args: Namespace, output: Output) -> int:
    roles = await core.models.roles()
    shown = [await _shown(core, config, roles) for config in await core.models.list()]
    if output.json:
        output.value(shown)
        return 0
    for one in shown:
        about = [one["base_url"], ", ".join(one["models"]) or output.t("no models")]
        if one["has_key"]:
            about.append(output.t("has a key"))
        if one["roles"]:
            about.append(", ".join(one["roles"]))
        output.line(f"{one['id']}  {one['name']}  {'  '.join(about)}")
    if not shown:
        output.note(output.t("No model is set up: the offline assistant answers."))
    if core.keys.notice:
        output.note(output.t(core.keys.notice))
    return 0


async def _add(core: Core, args: Namespace, output: Output) -> int:
    from devflow.domain.provider import ProviderDraft
    from devflow.providers.presets import presets

    known = {one.id: one for one in presets(core.paths.resources)}
    preset = known.get(args.preset)
    if preset is None:
        raise WrongUsage(
            N_("There is no preset {name}."), N_("Presets: {known}."), name=args.preset, known=", ".join(known)
        )
    address = args.address or preset.base_url
    if not address:
        raise WrongUsage(
            N_("A server of your own needs --address."), N_("For example --address http://127.0.0.1:8000.")
        )
    settings = {} if args.context_window is None else {"context_window": args.context_window}
    draft = ProviderDraft(
        name=args.name or preset.name or address,
        base_url=address,
        preset=preset.id,
        adapter=preset.adapter,
        models=tuple(args.model),
        settings=settings,
    )
    key = _key(args)
    if not draft.models:
        draft = replace(draft, models=await _listed(core, draft, key, output))
    config = await core.models.add(draft, key)
    if output.json:
        output.value(await _shown(core, config, await core.models.roles()))
    else:
        output.line(config.id)
        if key and core.keys.notice:
            output.note(output.t(core.keys.notice))
    return 0


async def _test(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import taking

    config = await taking.provider(core.models, args.provider)
    report = await core.models.test(config)
    await core.models.save_test(config.id, report)
    if output.json:
        output.value(_report(report, output))
    else:
        names = {
            "reachable": output.t("Reachable"),
            "key": output.t("Key"),
            "models": output.t("Models"),
            "streaming": output.t("Streaming"),
            "tools": output.t("Tool calls"),
            "embeddings": output.t("Embeddings"),
        }
        for line in report.lines:
            output.line(f"{MARKS[line.state]} {names[line.what]}  {line.render(output.t)}")
    return 0 if report.usable else 1


async def _remove(core: Core, args: Namespace, output: Output) -> int:
    from devflow.cli import taking

    config = await taking.provider(core.models, args.provider)
    shown = await _shown(core, config, await core.models.roles())
    await core.models.remove(config.id)
    if output.json:
        output.value(shown)
    else:
        output.line(config.id)
    return 0


# helpers ------------------------------------------------------------------------------------------------------------


def _key(args: Namespace) -> str:
    if args.key_stdin:
        key = read_stdin(8_192, "key").decode("utf-8", "replace").strip()
        if not key:
            raise Refused(N_("Nothing came on standard input."), N_("Pipe the key into it, or leave --key-stdin out."))
        return key
    if args.key_env:
        key = os.environ.get(args.key_env, "")
        if not key:
            raise Refused(
                N_("The environment variable {name} is not set."), N_("Set it, or use --key-stdin."), name=args.key_env
            )
        return key
    return ""


async def _listed(core: Core, draft: ProviderDraft, key: str, output: Output) -> tuple[str, ...]:
    """What the server offers; it is set up without models where it does not say."""
    try:
        return await core.models.fetch_models(draft, key=key)
    except ProviderFailed as failure:
        advice = output.t("It is set up without models; name them with --model.")
        output.note(f"{failure.render(output.t)} {advice}")
        return ()


async def _shown(core: Core, config: ProviderConfig, roles: Roles) -> dict[str, Any]:
    held = {"main": roles.main, "digest": roles.digest, "extraction": roles.extraction}
    return {
        "id": config.id,
        "name": config.name,
        "preset": config.preset,
        "adapter": config.adapter,
        "base_url": config.base_url,
        "models": list(config.models),
        "settings": dict(config.settings),
        "has_key": await core.models.has_key(config.id),
        "roles": [role for role, choice in held.items() if choice is not None and choice.provider_id == config.id],
    }


def _report(report: TestReport, output: Output) -> dict[str, Any]:
    from devflow.knowledge.as_json import instant_json

    return {
        "at": instant_json(report.at),
        "duration_ms": report.duration_ms,
        "usable": report.usable,
        "lines": [
            {"what": line.what.value, "state": line.state.value, "message": line.render(output.t)}
            for line in report.lines
        ],
    }
