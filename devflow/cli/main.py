"""`devflow`: parse, open what the command needs, run it, and turn every failure into an exit code and one line."""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from typing import Any

from devflow.app.i18n import translator
from devflow.app.paths import AppPaths, app_paths, named_paths
from devflow.cli.output import Output
from devflow.cli.parser import WrongUsage, build
from devflow.cli.streams import OutputFailed, let_go, open_streams, speak_utf8_to_the_system
from devflow.domain.errors import UserFacing
from devflow.domain.messages import Translator, english

DONE, FAILED, USAGE = 0, 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 refused or failed, 2 wrong usage."""
    if argv is None:
        speak_utf8_to_the_system()
    out, err = open_streams()
    words = [_as_utf8(word) for word in (sys.argv[1:] if argv is None else argv)]
    output = Output("--json" in _before_the_end(words), english(), out, err)
    try:
        code = _run(words, output)
        code = code or _flushed(output)
    except BrokenPipeError:  # the reader has seen enough (`devflow knowledge list | head`)
        let_go(out)
        return DONE
    except KeyboardInterrupt:
        return 130
    return code


def _flushed(output: Output) -> int:
    try:
        output.flush()
    except OutputFailed as problem:
        let_go(output.out)
        output.error(problem)
        return FAILED
    return DONE


def _run(words: Sequence[str], output: Output) -> int:
    try:
        args = build(words).parse_args(words)
    except SystemExit as exit_:  # --help and --version have printed what they had to say
        return int(exit_.code or 0)
    except WrongUsage as problem:
        output.error(problem)
        return USAGE
    try:
        paths = named_paths(args.home) if _leaves_nothing(args) else app_paths(args.home)
        output = Output(args.json, _translator(args.json, paths), output.out, output.err)
        return _dispatch(paths, args, output)
    except WrongUsage as problem:
        output.error(problem)
        return USAGE
    except OutputFailed as problem:
        let_go(output.out)
        output.error(problem)
        return FAILED
    except UserFacing as problem:
        output.error(problem)
        return FAILED


def _dispatch(paths: AppPaths, args: Any, output: Output) -> int:
    gc.disable()  # imports make no garbage, and looking for it takes a tenth of their time
    if not hasattr(args, "run") and not hasattr(args, "run_alone"):
        # Before Qt, for PySide reads the whole source of every module that is imported after it.
        importlib.import_module("devflow.app.core")
        from devflow.app.desktop_run import run

        return run(paths)
    if _leaves_nothing(args):
        return int(args.run_alone(paths, args, output))
    from devflow.app import logs

    stop_logging = logs.set_up(paths, verbose=args.verbose)
    try:
        if hasattr(args, "run_alone"):
            return int(args.run_alone(paths, args, output))
        return asyncio.run(_with_core(paths, args, output))
    finally:
        gc.enable()
        stop_logging()


def _leaves_nothing(args: Any) -> bool:
    """What is asked for at each press of a key makes no data directory, and no log."""
    return bool(getattr(args, "leaves_nothing", False))


async def _with_core(paths: AppPaths, args: Any, output: Output) -> int:
    from devflow.app.core import opened

    async with opened(paths) as core:
        gc.enable()
        return int(await args.run(core, args, output))


def _translator(json: bool, paths: AppPaths) -> Translator:
    return english() if json else translator(paths.resources)


def _before_the_end(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index("--")] if "--" in words else words


def _as_utf8(word: str) -> str:
    """Arguments are decoded by the locale; people type UTF-8 under any."""
    try:
        return os.fsencode(word).decode("utf-8")
    except UnicodeError:
        return word
