"""Trials gathered by what repeats are repeats of, so that each is looked at once.

A leaf is one case in one configuration. Every line of a report is made of leaves: those of a task,
of a configuration, of the whole run.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from uwf_eval.records import Cell, JudgeResult, Trial
from uwf_eval.report.amounts import tokens_of
from uwf_eval.report.states import COUNTED
from uwf_eval.statistics.cluster import mean


class JudgeLeaf:
    """What one judge said within a leaf, trial by trial."""

    def __init__(self) -> None:
        self.weight = 0.0
        self.scores: list[float] = []
        self.errors: list[str] = []
        self.agreements: list[float] = []
        self.costs: list[float | None] = []

    def add(self, result: JudgeResult) -> None:
        """Take one more result in."""
        self.weight = max(self.weight, result.weight)
        self.costs.append(result.usage.cost_usd)
        if result.score is not None:
            self.scores.append(result.score)
        if result.error is not None:
            self.errors.append(result.error)
        if result.agreement is not None:
            self.agreements.append(result.agreement)


class Leaf:
    """The repeats of one case in one configuration.

    Attributes:
        cell: of the first trial. states: how many are in which state.
        passed, scores, costs, tokens, durations, judges: of the trials that count.
        spent: dollars of every trial and judge, whether they count or not.
    """

    def __init__(self, cell: Cell) -> None:
        self.cell = cell
        self.states: Counter[str] = Counter()
        self.passed: list[bool] = []
        self.scores: list[float] = []
        self.costs: list[float | None] = []
        self.tokens: list[int | None] = []
        self.durations: list[int] = []
        self.spent: list[float | None] = []
        self.judges: dict[tuple[str, str], JudgeLeaf] = {}

    def add(self, trial: Trial) -> None:
        """Take one more trial in."""
        self.states[trial.state] += 1
        if trial.started_at_ms is not None:
            self.spent.append(trial.usage.cost_usd)
            self.spent += [each.usage.cost_usd for each in trial.judges]
        if trial.state not in COUNTED:
            return
        self.passed.append(trial.passed is True)
        self.scores.append(trial.score or 0.0)
        self.costs.append(trial.usage.cost_usd)
        self.tokens.append(tokens_of(trial.usage))
        self.durations.append(trial.duration_ms)
        for result in trial.judges:
            key = result.name, result.judge
            judge = self.judges.get(key)
            if judge is None:
                judge = self.judges[key] = JudgeLeaf()
            judge.add(result)


def leaves_of(trials: Iterable[Trial]) -> list[Leaf]:
    """The leaves of these trials, in the order of their first ones."""
    found: dict[Hashable, Leaf] = {}
    for trial in trials:
        cell = trial.cell
        key = cell.task, cell.case, cell.workflow, cell.agent, cell.model
        leaf = found.get(key)
        if leaf is None:
            leaf = found[key] = Leaf(cell)
        leaf.add(trial)
    return list(found.values())


class Clustering:
    """Which values of some leaves belong together: those of a task; within one task those of a
    case; within one case each is on its own.
    """

    def __init__(self, leaves: Sequence[Leaf]) -> None:
        self._by_task = len({leaf.cell.task for leaf in leaves}) > 1
        self._by_case = len({leaf.cell.case for leaf in leaves}) > 1

    def groups(self, values: Iterable[tuple[Leaf, Sequence[float]]]) -> list[list[float]]:
        """The values of the leaves in their clusters."""
        pairs = [(leaf.cell, each) for leaf, each in values]
        if not (self._by_task or self._by_case):
            return [[one] for _, each in pairs for one in each]
        found: dict[str, list[float]] = {}
        for cell, each in pairs:
            name = cell.task if self._by_task else cell.case
            found.setdefault(name, []).extend(each)
        return [group for group in found.values() if group]


def mean_score(trials: Iterable[Trial]) -> float | None:
    """The mean score of the trials that count, each cluster alike; None where none counts."""
    leaves = leaves_of(trials)
    groups = Clustering(leaves).groups((leaf, leaf.scores) for leaf in leaves)
    return mean([mean(group) for group in groups]) if groups else None
