"""Computes the report of a run, which every format renders."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from uwf_eval.records import Cell, Run, RunTask, Trial
from uwf_eval.report.configurations import Configuration, Configurations
from uwf_eval.report.estimates import (
    Amount,
    Mean,
    Passes,
    Rate,
    amount,
    cost_amount,
    mean_of,
    passes_of,
    rate_of,
    token_amount,
)
from uwf_eval.report.groups import CaseGroup, Clustering, States, groups_of, states_of
from uwf_eval.report.numbers import plural
from uwf_eval.report.recorded import RecordedShare, recorded_of
from uwf_eval.report.shares import (
    FailureShare,
    JudgeShare,
    RoleShare,
    RouteShare,
    failures_of,
    judges_of,
    roles_of,
    routes_of,
)


@dataclass(frozen=True, kw_only=True)
class Line:
    """The results of a group of trials.

    Attributes:
        trials: the number of planned trials; `states`: by state.
        success, score, passes: of the trials that count (`states.counted`).
        success_at_least: as `success`, with infrastructure errors as failures.
        cost, tokens, duration: in dollars, tokens and ms, of the trials that count.
        spent: dollars of all trials and their judges, also of those that do not count.
    """

    trials: int
    states: States
    success: Rate
    success_at_least: Rate
    score: Mean
    passes: Sequence[Passes]
    cost: Amount
    tokens: Amount
    duration: Amount
    spent: Amount
    judges: Sequence[JudgeShare]


@dataclass(frozen=True, kw_only=True)
class ConfigurationLine:
    """The results of one configuration, over all tasks or in one."""

    configuration: Configuration
    line: Line


@dataclass(frozen=True, kw_only=True)
class TaskLine:
    """The results of one task, and of each of its configurations if there are several."""

    task: RunTask
    line: Line
    configurations: Sequence[ConfigurationLine] = ()


@dataclass(frozen=True, kw_only=True)
class Report:
    """A run and its results.

    Attributes:
        format: of this document.
        overall: of all trials. configurations: over all tasks.
        tasks: in the run's order. roles, routes, failures: over all trials. recorded: of the trials
            of recorded steps, by configuration.
        trials: the listed ones, those that did not pass first. left_out: the number of others.
    """

    format: int = 1
    run: Run
    overall: Line
    configurations: Sequence[ConfigurationLine]
    tasks: Sequence[TaskLine]
    roles: Sequence[RoleShare] = ()
    routes: Sequence[RouteShare] = ()
    failures: Sequence[FailureShare] = ()
    recorded: Sequence[RecordedShare] = ()
    trials: Sequence[Trial] = field(default_factory=tuple)
    left_out: int = 0

    def label_of(self, cell: Cell) -> str:
        """The label of a cell's configuration."""
        return next(
            each.configuration.label
            for each in self.configurations
            if each.configuration.fits(cell)
        )


def trials_in(mean: Mean, report: Report) -> str:
    """The number of trials of a mean over the whole run, and their clusters."""
    if mean.clusters == mean.trials:
        return f"{mean.trials:,}"
    noun = "task" if len(report.tasks) > 1 else "case"
    return f"{mean.trials:,} in {plural(mean.clusters, noun)}"


def summarise(run: Run, trials: Sequence[Trial], listed: int = 200) -> Report:
    """Compute the report of a run.

    Args:
        run: the run. trials: all of its trials, in every state.
        listed: the most trials to list one by one.
    """
    groups = groups_of(trials)
    known = Configurations(group.cell for group in groups)
    failed_first = sorted(trials, key=lambda each: (each.passed is True, each.number))
    shown = sorted(failed_first[:listed], key=lambda each: each.number)
    return Report(
        run=run,
        overall=line_of(groups),
        configurations=_by_configuration(groups, known),
        tasks=_by_task(run, groups, known),
        roles=roles_of(trials),
        routes=routes_of(trials),
        failures=failures_of(trials),
        recorded=recorded_of(trials),
        trials=shown,
        left_out=len(trials) - len(shown),
    )


def line_of(groups: Sequence[CaseGroup]) -> Line:
    """The results of these groups."""
    clustering = Clustering(groups)
    states = states_of(group.states for group in groups)
    used = [usage for each in groups for usage in each.used]
    return Line(
        trials=states.all,
        states=states,
        success=rate_of(clustering.clusters((each, each.passed) for each in groups)),
        success_at_least=rate_of(
            clustering.clusters((each, each.passed_at_least) for each in groups)
        ),
        score=mean_of(clustering.clusters((each, each.scores) for each in groups)),
        passes=passes_of([(len(each.passed), sum(each.passed)) for each in groups if each.passed]),
        cost=cost_amount(used),
        tokens=token_amount(used),
        duration=amount([(ms, True) for each in groups for ms in each.durations]),
        spent=cost_amount([usage for each in groups for usage in each.spent]),
        judges=judges_of(groups, clustering),
    )


def _by_configuration(
    groups: Sequence[CaseGroup], known: Configurations
) -> Sequence[ConfigurationLine]:  # fmt: skip
    found: dict[Hashable, list[CaseGroup]] = {key: [] for key in known.all()}
    for group in groups:
        found[known.key(group.cell)].append(group)
    return [
        ConfigurationLine(configuration=configuration, line=line_of(found[key]))
        for key, configuration in known.all().items()
        if found[key]
    ]


def _by_task(run: Run, groups: Sequence[CaseGroup], known: Configurations) -> Sequence[TaskLine]:
    found: dict[str, list[CaseGroup]] = {task.name: [] for task in run.tasks}
    for group in groups:
        found.setdefault(group.cell.task, []).append(group)
    tasks = {task.name: task for task in run.tasks}
    several = len(known.all()) > 1
    return [
        TaskLine(
            task=tasks.get(name) or RunTask(name=name, source="", place="", digest=""),
            line=line_of(own),
            configurations=_by_configuration(own, known) if several else (),
        )
        for name, own in found.items()
    ]
