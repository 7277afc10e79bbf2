"""Selects trials, and pairs them by task, case and fixture."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from uwf_core.errors import UsageError
from uwf_eval.compare.records import Dimension, LeftOut, Reason, Side
from uwf_eval.records import Cell, Trial

_Key = tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One case of one task with trials on both sides."""

    task: str
    case: str
    a: Sequence[Trial]
    b: Sequence[Trial]


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """All pairs in the order of A's trials, and the trials without a pair."""

    pairs: Sequence[Pair]
    left_out: Sequence[LeftOut]


def pair_up(a: Sequence[Trial], b: Sequence[Trial], alike: Sequence[Dimension] = ()) -> Pairs:
    """Pair the trials that count. All repeats of a case are one pair.

    Args:
        a, b: all trials of each side.
        alike: further dimensions that must be equal in a pair.
    """
    counted_a, out_a = _counted(a)
    counted_b, out_b = _counted(b)
    groups_a, groups_b = _grouped(counted_a, alike), _grouped(counted_b, alike)
    pairs = [
        Pair(task=str(key[0]), case=str(key[1]), a=trials, b=groups_b[key])
        for key, trials in groups_a.items()
        if key in groups_b
    ]
    out_a += _unpaired(groups_a, groups_b)
    out_b += _unpaired(groups_b, groups_a)
    return Pairs(pairs=pairs, left_out=[*_left_out("A", out_a), *_left_out("B", out_b)])


def place_of(trial: Trial) -> str:
    """The task and case of a trial, for reports."""
    return f"{trial.cell.task}/{trial.cell.case}" if trial.cell.case else trial.cell.task


def _counted(trials: Iterable[Trial]) -> tuple[list[Trial], list[tuple[Reason, Trial]]]:
    counted: list[Trial] = []
    out: list[tuple[Reason, Trial]] = []
    for trial in trials:
        if trial.state == "infra_error" or trial.state == "not_run":
            out.append((trial.state, trial))
        elif trial.score is None:
            out.append(("no_score", trial))
        else:
            counted.append(trial)
    return counted, out


def _grouped(trials: Iterable[Trial], alike: Sequence[Dimension]) -> dict[_Key, list[Trial]]:
    groups: dict[_Key, list[Trial]] = {}
    for trial in trials:
        cell = trial.cell
        key = (cell.task, cell.case, trial.fixture, *(getattr(cell, each) for each in alike))
        groups.setdefault(key, []).append(trial)
    return groups


def _unpaired(
    mine: Mapping[_Key, Sequence[Trial]], others: Mapping[_Key, Sequence[Trial]]
) -> list[tuple[Reason, Trial]]:
    """The trials without a pair: the other side has another fixture, or not the case at all."""
    without_fixture = {(*key[:2], *key[3:]) for key in others}
    found: list[tuple[Reason, Trial]] = []
    for key, trials in mine.items():
        if key not in others:
            known = (*key[:2], *key[3:]) in without_fixture
            reason: Reason = "fixture" if known else "unpaired"
            found += [(reason, trial) for trial in trials]
    return found


def _left_out(side: Side, trials: Sequence[tuple[Reason, Trial]]) -> list[LeftOut]:
    places: dict[Reason, list[str]] = {}
    for reason, trial in trials:
        places.setdefault(reason, []).append(place_of(trial))
    return [
        LeftOut(side=side, reason=reason, trials=len(each), places=list(dict.fromkeys(each)))
        for reason, each in places.items()
    ]


CONFIGURED = "configured"
"""The word for the agent or model of the configuration."""


def select(trials: Sequence[Trial], by: Dimension, word: str) -> list[Trial]:
    """The trials with the agent, model or workflow `word`.

    A workflow is selected by its name, its reference or a prefix of it, or NAME@PREFIX.

    Raises:
        UsageError: nothing matches, or several versions of a workflow match.
    """
    words = {_names(trial.cell, by): trial.cell for trial in trials}
    meant = {names for names, cell in words.items() if _means(word, cell, by)}
    if len(meant) == 1:
        return [trial for trial in trials if _names(trial.cell, by) in meant]
    known = ", ".join(sorted(" ".join(names) for names in meant or words)) or "nothing"
    if meant:
        raise UsageError(f"{word!r} matches several {by}s: {known}", hint="add @REFERENCE")
    raise UsageError(f"the run has no {by} {word!r}", hint=f"it has: {known}")


def _names(cell: Cell, by: Dimension) -> tuple[str, ...]:
    if by == "workflow":
        return (f"{cell.workflow_name}@{cell.workflow}",)
    return (getattr(cell, by) or CONFIGURED,)


def _means(word: str, cell: Cell, by: Dimension) -> bool:
    if by != "workflow":
        return word == (getattr(cell, by) or CONFIGURED)
    name, _, prefix = word.rpartition("@")
    if name:
        return name == cell.workflow_name and cell.workflow.startswith(prefix)
    return word == cell.workflow_name or (len(word) >= 4 and cell.workflow.startswith(word))
