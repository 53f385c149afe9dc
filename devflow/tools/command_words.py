"""The words of a command: how a card shows them, and whether "always allow" may ever cover them (spec 03, rule 4).

A rule is a prefix of words, so it says nothing about what follows. It is therefore never made for, nor held against, a
program that carries out whatever its arguments say: interpreters, shells, programs that start other programs, and
those that write, delete or send what they are told to. The lists are short on purpose, they cannot be complete, and a
name that stands on none of them still asks until its user has said "always" to a pattern shown in full.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath, PureWindowsPath

from devflow.domain.text.hidden import hidden_characters

SHELLS = frozenset(
    "sh ash bash busybox cmd command csh dash elvish eval fish ksh mksh nu powershell pwsh rbash source tcsh toybox"
    " wscript cscript mshta wsl xonsh yash zsh".split()
)
# `m` is m4: names are compared without what looks like a version.
INTERPRETERS = frozenset(
    "awk gawk mawk nawk bc clojure dc deno dotnet bun ed elixir emacs erl ex expect gdb ghci groovy guile irb java"
    " jjs jshell julia lldb lua luajit m mysql node nodejs octave osascript perl php psql pypy python pythonw r racket"
    " rscript ruby runghc runhaskell sbcl scala scheme sed sqlite swift tclsh ts-node tsx vi view vim nvim wish".split()
)
STARTERS = frozenset(
    "env xargs sudo doas su pkexec runuser runas nohup setsid nice ionice chrt taskset timeout time stdbuf unbuffer"
    " chroot unshare nsenter bwrap firejail flock watch entr parallel script strace ltrace start start-stop-daemon"
    " systemd-run at batch crontab screen tmux open xdg-open gio rundll32 msbuild"
    " docker podman nerdctl kubectl ssh npx bunx pnpx uvx pipx direnv mise just".split()
)
CHANGERS = frozenset(
    "rm rmdir unlink shred dd truncate mv cp ln install tee rsync chmod chown chgrp setfacl mkfs mount umount kill"
    " pkill killall skill shutdown reboot halt poweroff del erase rd move copy xcopy robocopy reg schtasks"
    " tar zip unzip 7z patch".split()
)
SENDERS = frozenset("curl wget aria2c http https xh scp sftp ftp tftp nc ncat netcat socat telnet mail".split())

_RUNNING = {
    "bundle": {"exec"},
    "cargo": {"run"},
    "conda": {"run"},
    "go": {"run", "generate"},
    "hatch": {"run"},
    "npm": {"exec", "x", "explore", "config", "set"},
    "pdm": {"run"},
    "pnpm": {"exec", "dlx", "config"},
    "poetry": {"run"},
    "pipenv": {"run"},
    "rye": {"run"},
    "uv": {"run", "tool"},
    "yarn": {"exec", "dlx", "config"},
}
"""Subcommands that start whatever follows."""

_GIT_ACTS = frozenset(
    {"clone", "config", "bisect", "submodule", "filter-branch", "difftool", "mergetool", "daemon", "alias"}
)
_LETTERS = {"cmake": ("-E", "-P", "-C"), "rake": ("-e", "-E", "-p", "-r", "-f")}
"""Short options that carry out a command, a script or an expression; a value may follow without a space."""
_FIND_ACTS = ("-exec", "-ok", "-delete", "-fprint", "-fls")
_OPTIONS = (
    "--exec",
    "--eval",
    "--execute",
    "--command",
    "--ext-diff",
    "--textconv",
    "--output",
    "--upload-pack",
    "--receive-pack",
    "--open-files-in-pager",
    "--pre",
    "--hostname-bin",
    "--compress-program",
    "--pager",
    "--editor",
    "--config",
    "--init-script",
    "--script-shell",
    "--require",
    "--import",
)
"""Options of well-known programs (git, rg, sort, npm, …) that start a program, load code or write a file they name."""

_MAKE_WORD = re.compile(r"-j\d*|-[kBs]|\d+|[A-Za-z0-9_][\w./+-]*")
"""A target, a number of jobs; no variable (`SHELL=…`), no `--eval`, no other makefile."""


def shown_line(words: Sequence[str]) -> str:
    """The words as one line: quoted so that a POSIX shell would read exactly these words."""
    return shlex.join(words)


def rule_allowed(words: Sequence[str]) -> bool:
    """Whether a rule that allows may cover this command. Shell lines have no words, and never may."""
    if not words or not words[0]:
        return False
    if any(not word.isprintable() or hidden_characters(word) for word in words):
        return False
    name = program_name(words[0])
    if name in SHELLS | INTERPRETERS | STARTERS | CHANGERS | SENDERS:
        return False
    rest = words[1:]
    if name in _RUNNING and not _RUNNING[name].isdisjoint(rest):
        return False
    if name == "git" and (not rest or rest[0].startswith("-") or rest[0] in _GIT_ACTS):
        return False
    if name == "git" and any(word == "-x" or word.startswith("-O") for word in rest):
        return False
    if name in ("make", "gmake") and not all(_MAKE_WORD.fullmatch(word) for word in rest):
        return False
    if any(word.startswith(_LETTERS.get(name, ())) for word in rest):
        return False
    if name in ("find", "fd", "fdfind") and any(word.startswith((*_FIND_ACTS, "-x", "-X")) for word in rest):
        return False
    return not any(_abbreviates(word) for word in rest)


def program_name(word: str) -> str:
    """The program's bare name: without folder, letter case, version and the endings Windows knows."""
    name = PureWindowsPath(word).name if "\\" in word else PurePosixPath(word).name
    name = re.sub(r"\.(exe|com|cmd|bat|ps1)$", "", name.casefold())
    return re.sub(r"(?<=[a-z])[-_.]?\d+(\.\d+)*[a-z]?$", "", name) or name


def _abbreviates(word: str) -> bool:
    """GNU and git take any unambiguous beginning of a long option: `--exe` is `--exec`."""
    option = word.split("=", 1)[0]
    return len(option) >= 4 and any(name.startswith(option) for name in _OPTIONS)
