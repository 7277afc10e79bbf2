"""Why trials have no score, or a score of 0: by kind."""

from collections.abc import Iterable, Sequence

from uwf_core.api.record import record
from uwf_eval.records import Trial, TrialState

_SHOWN = 5
_MESSAGE = 400


@record
class FailureShare:
    """One kind of failure.

    Attributes:
        state: what it made of the trial; a kind that does both comes twice.
        trials: how many. tasks: in how many tasks.
        message: of the first, for example. numbers: of the first few.
    """

    kind: str
    state: TrialState
    trials: int
    tasks: int
    message: str
    numbers: Sequence[int]


def failures_of(trials: Iterable[Trial]) -> Sequence[FailureShare]:
    """The failures of these trials, the most frequent first."""
    groups: dict[tuple[str, TrialState], list[Trial]] = {}
    for trial in trials:
        kind = _kind(trial)
        if kind is not None:
            groups.setdefault((kind, trial.state), []).append(trial)
    shares = [_share(kind, state, group) for (kind, state), group in groups.items()]
    return sorted(shares, key=lambda each: (-each.trials, each.kind, each.state))


def reason_of(trial: Trial) -> str:
    """Why a trial has no score or one of 0, "" where it needs no reason."""
    if trial.tampered:
        return "touched " + ", ".join(trial.tampered)
    return trial.failure.message if trial.failure else ""


def _kind(trial: Trial) -> str | None:
    if trial.state == "tampered":
        return "tampered"
    if trial.failure is not None:
        return trial.failure.kind
    return "unknown" if trial.state in ("failed", "infra_error") else None


def _share(kind: str, state: TrialState, trials: Sequence[Trial]) -> FailureShare:
    message = next((reason for trial in trials if (reason := reason_of(trial))), "")
    return FailureShare(
        kind=kind,
        state=state,
        trials=len(trials),
        tasks=len({trial.cell.task for trial in trials}),
        message=message if len(message) <= _MESSAGE else message[: _MESSAGE - 1] + "…",
        numbers=[trial.number for trial in trials[:_SHOWN]],
    )
