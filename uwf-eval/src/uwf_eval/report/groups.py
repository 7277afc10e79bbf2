"""Groups trials by case and configuration, so that each trial is read once.

Every line of a report is computed from groups: of a task, of a configuration, of the whole run.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from uwf_core.api import Usage
from uwf_eval.records import Cell, JudgeResult, Trial, TrialState
from uwf_eval.statistics.intervals import mean

COUNTED: Final[frozenset[TrialState]] = frozenset(("scored", "failed", "tampered"))
"""The states of trials with a score; only these count."""


@dataclass(frozen=True, kw_only=True)
class States:
    """The number of trials in each state."""

    scored: int = 0
    failed: int = 0
    infra_error: int = 0
    not_run: int = 0
    tampered: int = 0

    @property
    def all(self) -> int:
        """The number of all trials."""
        return self.counted + self.infra_error + self.not_run

    @property
    def counted(self) -> int:
        """The number of trials with a score."""
        return self.scored + self.failed + self.tampered


def states_of(counters: Iterable[Mapping[str, int]]) -> States:
    """The sums of these counts."""
    sums: Counter[str] = Counter()
    for each in counters:
        sums.update(each)
    return States(**sums)


class CaseGroup:
    """The repeats of one case in one configuration.

    Attributes:
        cell: of the first trial. states: the number of trials in each state.
        passed, scores, used, durations, judges: of the trials that count.
        spent: by every trial with its judges, also by those that do not count.
    """

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.states: Counter[str] = Counter()
        self.passed: list[bool] = []
        self.scores: list[float] = []
        self.used: list[Usage] = []
        self.durations: list[int] = []
        self.spent: list[Usage] = []
        self.judges: dict[tuple[str, str], list[JudgeResult]] = {}

    @property
    def passed_at_least(self) -> list[bool]:
        """`passed`, with infrastructure errors as failures."""
        return [*self.passed, *[False] * self.states["infra_error"]]

    def add(self, trial: Trial) -> None:
        """Add a trial."""
        self.states[trial.state] += 1
        if trial.started_at_ms is not None:
            self.spent.append(trial.spent)
        if trial.state not in COUNTED:
            return
        self.passed.append(trial.passed is True)
        self.scores.append(trial.score or 0.0)
        self.used.append(trial.usage)
        self.durations.append(trial.duration_ms)
        for result in trial.judges:
            self.judges.setdefault((result.name, result.judge), []).append(result)


def groups_of(trials: Iterable[Trial]) -> list[CaseGroup]:
    """The groups of these trials, in the order of their first trials."""
    found: dict[Hashable, CaseGroup] = {}
    for trial in trials:
        cell = trial.cell
        key = cell.task, cell.case, cell.workflow, cell.agent, cell.model
        group = found.get(key)
        if group is None:
            group = found[key] = CaseGroup(cell)
        group.add(trial)
    return list(found.values())


def by_task(trials: Iterable[Trial]) -> Mapping[str, list[Trial]]:
    """The trials of each task."""
    found: dict[str, list[Trial]] = {}
    for trial in trials:
        found.setdefault(trial.cell.task, []).append(trial)
    return found


class Clustering:
    """Clusters values by task; of one task by case; of one case each value is a cluster."""

    def __init__(self, groups: Sequence[CaseGroup]) -> None:
        self._by_task = len({group.cell.task for group in groups}) > 1
        self._by_case = len({group.cell.case for group in groups}) > 1

    def clusters(self, values: Iterable[tuple[CaseGroup, Sequence[float]]]) -> list[list[float]]:
        """Cluster the values of groups."""
        if not (self._by_task or self._by_case):
            return [[one] for _, some in values for one in some]
        found: dict[str, list[float]] = {}
        for group, some in values:
            name = group.cell.task if self._by_task else group.cell.case
            found.setdefault(name, []).extend(some)
        return [cluster for cluster in found.values() if cluster]


def mean_score(trials: Iterable[Trial]) -> float | None:
    """The mean score of the trials that count, with equal weight of clusters; None without any."""
    groups = groups_of(trials)
    clusters = Clustering(groups).clusters((group, group.scores) for group in groups)
    return mean([mean(cluster) for cluster in clusters]) if clusters else None
