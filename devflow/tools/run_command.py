"""`run_command`: a program in the project folder, after a human has seen its exact line and folder."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from devflow.domain.request import ToolSpec
from devflow.domain.run import Risk
from devflow.tools import process
from devflow.tools.command import Command, Ended, How
from devflow.tools.command_environ import command_environ
from devflow.tools.command_words import rule_allowed, shown_line
from devflow.tools.paths import visible
from devflow.tools.policy import Effect, Subject
from devflow.tools.refusal import ToolRefused
from devflow.tools.tool import ToolContext, ToolOutcome, ToolStopped, Voided
from devflow.tools.workspace import Workspace

TIMEOUT_S, TIMEOUT_MAX_S = 120, 1_800
LINE_MAX, WORDS_MAX = 20_000, 1_000


class RunCommand:
    """`command` is a list of words and needs no shell; a `shell` line is one on purpose, and says so on its card."""

    risk = Risk.RUNS
    default = Effect.ASK
    spec = ToolSpec(
        "run_command",
        "Run a program in the project folder and get what it prints. Send `command`, a list of words: the program and"
        ' its arguments, for example ["git", "status", "--short"]; no shell reads them, so there are no pipes,'
        " variables or globs. Only where a shell is really needed, send `shell` instead, one line. The user sees it and"
        " must approve it. It gets no input; what it leaves running is ended with it.",
        {
            "type": "object",
            "properties": {
                "command": {
                    "type": "array",
                    "items": {"type": "string", "maxLength": LINE_MAX},
                    "description": "The program and its arguments, one word an item.",
                },
                "shell": {
                    "type": "string",
                    "description": "A line for the shell, instead of `command`.",
                    "minLength": 1,
                    "maxLength": LINE_MAX,
                },
                "folder": {
                    "type": "string",
                    "description": "Folder to run in, relative to the project folder.",
                    "default": ".",
                },
                "timeout": {
                    "type": "integer",
                    "description": "Seconds after which it is ended.",
                    "minimum": 1,
                    "maximum": TIMEOUT_MAX_S,
                    "default": TIMEOUT_S,
                },
            },
            "additionalProperties": False,
        },
    )

    def __init__(self, workspace: Workspace, environ: Mapping[str, str] | None = None) -> None:
        """`environ` is DevFlow's own environment, of which the command sees a part."""
        self._workspace = workspace
        self._environ = command_environ(os.environ if environ is None else environ)

    def subject(self, arguments: Mapping[str, Any]) -> Subject:
        """Without a shell its words can be held against a rule; a shell line never can.

        Nor can a command in a folder below: `./build` and `npm test` are something else there, and words do not say it.
        """
        if "shell" in arguments:
            return Subject("run_command", self.risk, _line_of(arguments), rule_allowed=False)
        words = _words_of(arguments)
        named = rule_allowed(words) and self._workspace.relative(arguments["folder"]) == "."
        return Subject("run_command", self.risk, shown_line(words), words, named)

    async def preview(self, arguments: Mapping[str, Any], ctx: ToolContext) -> Mapping[str, Any] | None:
        """`line` (exact), `shell`, `folder` (absolute), `program` (that will be started), `timeout` in seconds."""
        return await asyncio.to_thread(self._preview, arguments)

    async def run(
        self, arguments: Mapping[str, Any], ctx: ToolContext, preview: Mapping[str, Any] | None = None
    ) -> ToolOutcome | Voided:
        """Run what was approved; `Voided` if the words would now start another program."""
        now = await asyncio.to_thread(self._preview, arguments)
        if preview is not None and any(preview.get(name) != value for name, value in now.items()):
            return Voided(now, "What the command would start has changed since it was shown.")
        words = _words_of(arguments)
        command = Command(str(now["program"]), words, self._environ, arguments["timeout"])
        try:
            ended, output = await process.run_process(
                command, lambda: self._workspace.opened(arguments["folder"]), ctx.progress
            )
        except OSError as error:
            raise ToolRefused(_not_started(words[0], error)) from None
        except process.ProcessStopped as stopped:
            over = stopped.ended.how is How.EXITED
            raise ToolStopped(_outcome(stopped.ended, stopped.output, command.timeout), over=over) from None
        return _outcome(ended, output, command.timeout)

    def _preview(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        words = _words_of(arguments)
        with self._workspace.opened(arguments["folder"]) as folder:
            place = str(folder.path)
        return {
            "line": _line_of(arguments),
            "shell": "shell" in arguments,
            "folder": place,
            "program": self._program(words[0], arguments["folder"]),
            "timeout": arguments["timeout"],
        }

    def _program(self, word: str, folder: str) -> str:
        """What the word starts: a file on the path, or one named by its place; raises `ToolRefused`."""
        if "/" in word or (os.sep == "\\" and "\\" in word):
            place = self._workspace.root.joinpath(*self._workspace.parts(folder)) / word
            if not place.is_file():
                raise ToolRefused(f"There is no program {visible(word)} in the folder {visible(folder)}.")
            if not os.access(place, os.X_OK):
                raise ToolRefused(f"{visible(word)} may not be run: it is not executable.")
            return word if os.sep == "/" else _no_batch_file(str(place))
        found = shutil.which(word, path=_absolute_places(self._environ.get("PATH", os.defpath)))
        if found is None or not Path(found).is_absolute():
            raise ToolRefused(f"There is no program named {visible(word)} here. Nothing was run.")
        return _no_batch_file(found)


def exit_code_of(result: str) -> int | None:
    """The exit code that a stored result begins with."""
    words = result.split(maxsplit=3)
    if words[:2] == ["Exit", "code"] and words[2].isdecimal():
        return int(words[2])
    return None


def _words_of(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The words that are started, checked; raises `ToolRefused`."""
    shell, words = arguments.get("shell"), arguments.get("command")
    if (shell is None) is (words is None):
        raise ToolRefused("Send either command, a list of words, or shell, one line.")
    found = process.shell_words(shell) if shell is not None else tuple(words or ())
    if not found or not found[0].strip():
        raise ToolRefused("The command is empty: its first word is the program.")
    if shell is not None and not shell.strip():
        raise ToolRefused("The shell line is empty.")
    if len(found) > WORDS_MAX or sum(map(len, found)) > LINE_MAX:
        raise ToolRefused(f"The command is too long: at most {WORDS_MAX:,} words, {LINE_MAX:,} characters in all.")
    if any("\x00" in word for word in found):
        raise ToolRefused("The command holds a NUL character.")
    if any("\ud800" <= char <= "\udfff" for word in found for char in word):
        raise ToolRefused("The command holds half of a surrogate pair, which is no character.")
    return found


def _line_of(arguments: Mapping[str, Any]) -> str:
    return str(arguments["shell"]) if "shell" in arguments else shown_line(_words_of(arguments))


def _absolute_places(path: str) -> str:
    """A relative place on the path would mean the folder the command runs in, which the model can write to."""
    return os.pathsep.join(place for place in path.split(os.pathsep) if Path(place).is_absolute())


def _no_batch_file(program: str) -> str:
    """Windows hands a batch file's words to its shell, whose quoting nobody can get right."""
    if os.sep == "\\" and Path(program).suffix.casefold() in (".bat", ".cmd"):
        raise ToolRefused(f"{visible(program)} is a batch file, which a shell reads. Send the line as `shell`.")
    return program


def _not_started(word: str, error: OSError) -> str:
    if error.errno == errno.ENOEXEC:
        return f"{visible(word)} is no program that the system can start: it has no `#!` line."
    if error.errno == errno.ENOENT:
        return f"{visible(word)} cannot be started: it, or the interpreter it names, is not there."
    return f"{visible(word)} cannot be started: {error.strerror}."


def _outcome(ended: Ended, output: str, timeout: float) -> ToolOutcome:
    took = f"{ended.seconds:.1f} s"
    match ended.how:
        case How.EXITED if ended.code is None:
            said, error = f"After {took} it is not known how the command ended.", "It is not known how it ended."
        case How.EXITED:
            said, error = f"{_exit(ended.code)} after {took}.", ""
        case How.TIMED_OUT:
            error = f"It was not done after {timeout:g} s and was ended."
            said = f"The command was ended after {took}; what it did until then stands."
        case How.STOPPED:
            said, error = f"The command was stopped after {took}; what it did until then stands.", ""
    if ended.left:
        said += f" It had left {ended.left} running, which {'was' if ended.left == 1 else 'were'} ended."
    if ended.stuck or not ended.settled:
        missing = f"{ended.stuck} of its processes could not be ended" if ended.stuck else _UNSETTLED
        said += f" {missing}."
        error = error or f"It is over, but {missing[0].lower()}{missing[1:]}."
    text = output.strip("\n")
    return ToolOutcome(f"{said}\n\n{text}" if text.strip() else f"{said} It printed nothing.", error)


_UNSETTLED = "Whether everything it started was ended is not known"


def _exit(code: int | None) -> str:
    if code is None or code >= 0:
        return f"Exit code {code}"
    try:
        return f"Ended by the signal {signal.Signals(-code).name}"
    except ValueError:
        return f"Ended by the signal {-code}"
