"""`devflow ask`: one headless turn through the same composer as the window's (an AI node for any script)."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from devflow.cli import question
from devflow.cli.output import Output, one_line
from devflow.cli.parser import Parser, WrongUsage
from devflow.cli.streams import OutputFailed
from devflow.domain.citations import cited_numbers
from devflow.domain.conversation import OFFLINE, ModelChoice, Origin, Role
from devflow.domain.errors import Refused, UserFacing
from devflow.domain.events import (
    CallsChanged,
    Event,
    KnowledgeSearchDone,
    KnowledgeSearchEmpty,
    KnowledgeSearchError,
    KnowledgeSearchStart,
    LibrarySearchDone,
    MessageEnded,
    MessageStarted,
    RunChanged,
    TextArrived,
)
from devflow.domain.knowledge import Project
from devflow.domain.knowledge_base import KnowledgeBase
from devflow.domain.messages import N_
from devflow.domain.request import Injected, InjectedItem, Lookup, LookupFailed, NothingFound, NotUsed
from devflow.domain.run import Problem, Run, RunState
from devflow.knowledge.as_json import item_match_json
from devflow.retrieval.answers import named_pages

if TYPE_CHECKING:
    from devflow.app.core import Core

EVENTS = {
    RunChanged: "run_changed",
    KnowledgeSearchStart: "knowledge_search_start",
    KnowledgeSearchDone: "knowledge_search_done",
    KnowledgeSearchEmpty: "knowledge_search_empty",
    KnowledgeSearchError: "knowledge_search_error",
    LibrarySearchDone: "library_search_done",
    MessageStarted: "message_started",
    MessageEnded: "message_ended",
    CallsChanged: "calls_changed",
}
"""What `--json` lists of a turn; text comes whole, as the answer."""

GO_ON = N_("The conversation is kept: Continue in DevFlow's window goes on from there. A narrower question needs less.")
HINTS = {"output_limit": GO_ON, "step_limit": GO_ON, "repeated_calls": GO_ON}
"""What to do about the problems whose own hint names a button, which a terminal lacks."""


def add(parser: Parser) -> None:
    question.add(parser)
    parser.add_argument(
        "--workspace", metavar="DIR", help="the project folder: its entries hold, its files can be read"
    )
    parser.add_argument("--kb", metavar="DIR", help="the knowledge base to answer from")
    parser.add_argument("--model", metavar="M", help="a model instead of the main one")
    parser.add_argument(
        "--provider", metavar="P", help="a provider, by name or id; `offline` is the built-in assistant"
    )
    parser.add_argument("--no-inject", action="store_true", help="answer without the library")
    parser.add_argument(
        "--allow", metavar="TOOL", action="append", default=[], help="offer this tool, without asking; may be repeated"
    )
    parser.add_argument("--skill", metavar="NAME", help="a skill whose instructions go with the question")
    parser.set_defaults(run=_run)


async def _run(core: Core, args: Namespace, output: Output) -> int:
    from devflow.agent.starting import checked_text  # not at the top: `--help` needs no database

    asked = await question.asked(core, args)
    message = checked_text(asked.text)
    if args.skill == "":
        raise WrongUsage(N_("The skill has no name."), N_("`devflow skills list` shows those there are."))
    choice = await _choice(core, args.provider, args.model)
    project = await core.projects.ensure(args.workspace) if args.workspace else None
    base = await core.bases.open(Path(args.kb)) if args.kb else None
    tools = tuple(dict.fromkeys(args.allow))
    if args.skill is not None:  # before a conversation is made for it
        await core.skills.named(args.skill, base.path if base else None, project.path if project else None)
    await _check_tools(core, project, base, tools)
    conversation = await core.conversations.create(
        origin=Origin.CLI,
        project_id=project.id if project else None,
        kb_id=base.id if base else None,
        model=choice,
        retrieval=not args.no_inject,
    )
    told: list[Event] = []
    printer = _Printer(output)
    unsubscribe = core.hub.subscribe(told.append if output.json else printer)
    try:
        run = await core.turns.send(conversation.id, message, tools=tools, skill=args.skill)
        run = await core.turns.wait(run.id)
    finally:
        unsubscribe()
    if printer.failure is not None:
        raise printer.failure
    failure = _failure(run)
    if failure is not None and not await _has_answered(core, run):
        raise failure
    report = {**await _report(core, run), "template": asked.template_json}
    if output.json:
        problem = output.described(failure) if failure is not None else None
        events = [_event(event) for event in told if type(event) in EVENTS]
        output.value({**report, "problem": problem, "events": events})
    else:
        _say_sources(output, report)
        if run.skill is not None and run.choice == OFFLINE:
            output.note(output.t("The offline assistant does not follow skills; a model does."))
    if failure is not None:
        raise failure
    return 0


# what is asked ------------------------------------------------------------------------------------------------------


async def _choice(core: Core, provider: str | None, model: str | None) -> ModelChoice | None:
    """The model named by the options; None: the main role's."""
    if provider is None and model is None:
        return None
    if provider == OFFLINE.provider_id:
        return OFFLINE
    if provider is not None:
        from devflow.cli import taking

        named = await taking.provider(core.models, provider)
        name = model or next(iter(named.models), "")
        if not name:
            raise Refused(
                N_("The provider {provider} has no model."), N_("Name one with --model."), provider=named.name
            )
        return ModelChoice(named.id, name)
    assert model is not None
    offering = [config for config in await core.models.list() if model in config.models]
    main = await core.models.main_choice()
    if not offering and main == OFFLINE:
        raise Refused(
            N_("No provider offers the model {model}."), N_("Set one up in Settings, under Providers."), model=model
        )
    return ModelChoice(offering[0].id if offering else main.provider_id, model)


async def _check_tools(core: Core, project: Project | None, base: KnowledgeBase | None, tools: tuple[str, ...]) -> None:
    known = await core.turns.tool_names(project, tools, kb_id=base.id if base else None)
    if unknown := [tool for tool in tools if tool not in known]:
        for _, problem in await core.mcp.failed(unknown):
            raise problem
        raise Refused(
            N_("There is no tool {tool} here."),
            N_("Tools: {known}. File tools need --workspace, those of a knowledge base --kb."),
            tool=unknown[0],
            known=", ".join(known),
        )


# what is answered ---------------------------------------------------------------------------------------------------


class _Printer:
    """Prints the answer as it comes; once that fails no more is printed, and `failure` says why."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._last = "\n"
        self.failure: Exception | None = None

    def __call__(self, event: Event) -> None:
        if self.failure is not None:
            return
        try:
            self._print(event)
        except (BrokenPipeError, OutputFailed) as failure:
            self.failure = failure

    def _print(self, event: Event) -> None:
        match event:
            case TextArrived(text=text, reasoning=False):
                self._write(text)
            case MessageEnded() if self._last != "\n":
                self._write("\n")
            case _:
                pass

    def _write(self, text: str) -> None:
        self._output.text(text)
        self._output.flush()
        self._last = text[-1:] or self._last


def _failure(run: Run) -> UserFacing | None:
    match run.state, run.problem:
        case RunState.COMPLETED, _:
            return None
        case _, Problem() as problem:
            return _Failed(problem)
        case _:
            return Refused(N_("The run ended as {state}."), N_("Ask again; the log says more."), state=run.state.value)


async def _has_answered(core: Core, run: Run) -> bool:
    """Whether there is text to give, although the run failed."""
    path = await core.conversations.path(run.conversation_id)
    return path.messages[-1].role is Role.ASSISTANT and bool(path.messages[-1].content.strip())


class _Failed(UserFacing):
    """A run's problem as an error of the command."""

    def __init__(self, problem: Problem) -> None:
        self.code = problem.code  # type: ignore[misc]  # the problem's own, instead of one for the class
        super().__init__(problem.message, HINTS.get(problem.code, problem.hint), **dict(problem.params or {}))


async def _report(core: Core, run: Run) -> dict[str, Any]:
    path = await core.conversations.path(run.conversation_id)
    answers = [message for message in path.messages if message.role is Role.ASSISTANT]
    receipts = await core.conversations.receipts(run.conversation_id)
    numbers = await core.conversations.numbers(run.conversation_id)
    cited = {numbers[number] for number in cited_numbers(answers[-1].content) if number in numbers}
    library = receipts[-1].library
    named = named_pages(answers[-1].content)
    calls = await core.conversations.calls([message.id for message in answers])
    return {
        "answer": answers[-1].content,
        "sources": [_source(item, item.ref in cited) for item in _items(library)],
        "pages": [_page(item, item.ref in named) for item in _items(receipts[-1].pages)],
        "receipt": {
            "id": receipts[-1].id,
            "phase": receipts[-1].phase.value,
            "library": _lookup(library),
            "pages": _lookup(receipts[-1].pages),
        },
        "usage": {
            "input_tokens": _total([message.usage.input_tokens for message in answers if message.usage]),
            "output_tokens": _total([message.usage.output_tokens for message in answers if message.usage]),
        },
        "calls": [
            {"tool": call.tool, "arguments": call.arguments, "state": call.state.value, "error": call.error or None}
            for message in answers
            for call in calls.get(message.id, ())
        ],
        "model": {"provider": run.choice.provider_id, "model": run.choice.model},
        "skill": {"name": run.skill.name, "source": run.skill.source.value} if run.skill else None,
        "conversation_id": run.conversation_id,
        "run_id": run.id,
        "state": run.state.value,
    }


def _say_sources(output: Output, report: dict[str, Any]) -> None:
    """Beside the answer, on standard error: what it rests on, or that nothing was found."""
    t = output.t
    for source in (*report["sources"], *report["pages"]):
        mark = t("cited") if source["cited"] else t("given")
        place = source["path"] if "path" in source else source["id"]
        output.note(f"[{source['number']}] {one_line(source['title'])} ({mark}, {place})")
    match report["receipt"]["pages"]["outcome"]:
        case "nothing_found":
            output.note(t("Nothing relevant in the knowledge base."))
        case "failed":
            output.note(t("The knowledge base could not be searched; answered without it."))
        case _:
            pass
    if report["sources"] or report["pages"]:
        return
    match report["receipt"]["library"]["outcome"]:
        case "nothing_found":
            output.note(t("Nothing in the library matches."))
        case "failed":
            output.note(t("Search failed; answered without it."))
        case _:
            pass


def _source(item: InjectedItem, cited: bool) -> dict[str, Any]:
    return {
        "number": item.number,
        "id": item.ref,
        "title": item.title,
        "kind": item.kind,
        "version": item.version,
        "reason": item.reason,
        "score": item.score,
        "match": item_match_json(item),
        "excerpt": item.excerpt,
        "cut": item.cut,
        "cited": cited,
    }


def _page(item: InjectedItem, cited: bool) -> dict[str, Any]:
    return {
        "number": f"P{item.number}",
        "path": item.ref,
        "title": item.title,
        "snippet": item.excerpt,
        "hit_reason": item.reason,
        "score": item.score,
        "match": item_match_json(item),
        "cut": item.cut,
        "cited": cited,
    }


def _lookup(lookup: Lookup) -> dict[str, Any]:
    match lookup:
        case Injected(block, items, dropped):
            return {"outcome": "injected", "count": len(items), "size": len(block), "dropped": list(dropped)}
        case NothingFound():
            return {"outcome": "nothing_found"}
        case NotUsed(why):
            return {"outcome": "not_used", "why": why}
        case LookupFailed(message):
            return {"outcome": "failed", "message": message}


def _items(lookup: Lookup) -> tuple[InjectedItem, ...]:
    return lookup.items if isinstance(lookup, Injected) else ()


def _total(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _event(event: Event) -> dict[str, Any]:
    values = {name: value for name, value in asdict(event).items() if name != "conversation_id"}
    return {"event": EVENTS[type(event)], **values}
