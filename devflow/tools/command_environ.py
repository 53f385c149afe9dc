"""What a command sees of DevFlow's environment: what stands on a list, nothing else (spec 03, Tools)."""

from __future__ import annotations

from collections.abc import Mapping

AGENT_CHILD = "DEVFLOW_AGENT_CHILD"
"""Set to 1 for what the agent starts: human acts are refused there (spec 01)."""

_PASSED = frozenset(
    # who and where
    "PATH HOME USER LOGNAME SHELL LANG LANGUAGE TZ TMPDIR TMP TEMP"
    " XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME"
    # Windows does not work without these
    " SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86)"
    " PROGRAMW6432 COMMONPROGRAMFILES ALLUSERSPROFILE PUBLIC USERPROFILE USERNAME HOMEDRIVE HOMEPATH"
    " NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE OS"
    # where build tools are
    " VIRTUAL_ENV CONDA_PREFIX JAVA_HOME ANDROID_HOME GOPATH GOROOT CARGO_HOME RUSTUP_HOME NVM_DIR PYENV_ROOT"
    " RBENV_ROOT DOTNET_ROOT MAVEN_HOME GRADLE_USER_HOME PNPM_HOME"
    # whom to trust
    " SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS".split()
)
_SECRET = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASS")

_SET = {
    AGENT_CHILD: "1",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "PYTHONUNBUFFERED": "1",
}
"""Nobody is there to page, to type or to see colours; and what is printed is to be seen at once."""


def command_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment of a command, made from DevFlow's own."""
    return {name: value for name, value in environ.items() if _passes(name.upper())} | _SET


def _passes(name: str) -> bool:
    return (name in _PASSED or name.startswith("LC_")) and not name.endswith(_SECRET)
