"""What the list says of a provider, and the names of a test's lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from devflow.domain.messages import Translator
from devflow.domain.provider import LineState, Probe
from devflow.ui.dialogs.settings.provider_edit import ProviderEdit, Reach


@dataclass(frozen=True, slots=True)
class Standing:
    """`color` None: a hollow circle, for nothing is known. The words say the same as the dot."""

    color: str | None
    words: str


OFFLINE_COLOR = "success"


def standing(t: Translator, edit: ProviderEdit, place: str | None, *, troubled: bool = False) -> Standing:
    """How a provider stands, in a dot and a few words. `place` is where keys are kept; `troubled`: an answer failed."""
    if edit.is_new:
        return Standing(None, t("Not saved yet"))
    if edit.changed:
        return Standing(None, t("Changed, not saved"))
    if not edit.models:
        return Standing("warning", t("No model chosen"))
    if troubled and edit.reach is not Reach.RUNNING:
        return Standing("warning", t("Not running") if edit.reach is Reach.SILENT else t("The answer failed"))
    if edit.is_local:
        return _local(t, edit)
    report = edit.last_test
    if report is not None and not report.usable:
        return Standing("danger", t("The last test failed"))
    if edit.preset.key == "required" and not edit.has_key and place is not None:
        return Standing("warning", t("Needs a key"))
    return Standing(None if report is None else "success", _key_words(t, edit, place))


def _local(t: Translator, edit: ProviderEdit) -> Standing:
    match edit.reach:
        case Reach.RUNNING:
            count = len(edit.offered or edit.models)
            return Standing("success", t.n("This machine · {count} model", "This machine · {count} models", count))
        case Reach.SILENT:
            return Standing(None, t("Not running"))
        case Reach.ASKING | Reach.UNKNOWN:
            return Standing(None, t("This machine"))
        case _:
            assert_never(edit.reach)


def _key_words(t: Translator, edit: ProviderEdit, place: str | None) -> str:
    if not edit.has_key:
        return t("No key")
    return t("Key in a file") if place == "file" else t("Key in the system keychain")


def probe_name(t: Translator, what: Probe) -> str:
    match what:
        case Probe.REACHABLE:
            return t("Reachable")
        case Probe.KEY:
            return t("Key")
        case Probe.MODELS:
            return t("Models")
        case Probe.STREAMING:
            return t("Streaming")
        case Probe.TOOLS:
            return t("Tool calls")
        case Probe.EMBEDDINGS:
            return t("Embeddings")
        case _:
            assert_never(what)


def line_mark(state: LineState) -> tuple[str, str]:
    """Icon and colour of a test's line."""
    match state:
        case LineState.OK:
            return "check", "success"
        case LineState.FAILED:
            return "cross", "danger"
        case LineState.NOT_NEEDED | LineState.SKIPPED:
            return "circle", "text-faint"
        case _:
            assert_never(state)
