"""Why a run failed, as a row that any edge can render."""

from __future__ import annotations

from devflow.domain.errors import ProviderFailed, UserFacing
from devflow.domain.messages import N_
from devflow.domain.run import Problem


def problem_of(error: UserFacing) -> Problem:
    retryable = error.retryable if isinstance(error, ProviderFailed) else True
    return Problem(error.code, error.message, error.hint, error.params, retryable)


def unexpected(error: Exception) -> Problem:
    """A bug: logged whole elsewhere; the user is told calmly and can try again."""
    return Problem(
        "internal",
        N_("The run stopped at an unexpected error ({error})."),
        N_("Retry; if it happens again, the log file has the details."),
        {"error": type(error).__name__},
    )


def empty_answer() -> Problem:
    return Problem(
        "empty_answer",
        N_("The model ended without an answer."),
        N_("Retry, or choose another model."),
    )


def output_limit() -> Problem:
    return Problem(
        "output_limit",
        N_("The answer was cut at the model's output limit."),
        N_("Continue lets the model go on from here."),
    )


def refused(detail: str) -> Problem:
    if detail:
        return Problem(
            "model_refused",
            N_("The model declined to answer: {detail}"),
            N_("Put the question differently, or choose another model."),
            {"detail": detail},
        )
    return Problem(
        "model_refused",
        N_("The model declined to answer."),
        N_("Put the question differently, or choose another model."),
    )
