"""What a run came to: the one value that every form of the report is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from uwf_core.api.record import record
from uwf_eval.records import Cell, Run, RunTask, Trial
from uwf_eval.report.amounts import Amount, amount, tokens_of
from uwf_eval.report.configurations import Configuration, Configurations
from uwf_eval.report.estimates import Mean, Passes, Rate, mean_of, passes_of, rate_of
from uwf_eval.report.failures import FailureShare, failures_of
from uwf_eval.report.judges import JudgeShare, judges_of
from uwf_eval.report.numbers import plural
from uwf_eval.report.roles import RoleShare, roles_of
from uwf_eval.report.routes import RouteShare, routes_of
from uwf_eval.report.states import COUNTED, States, states_of

LISTED: Final = 200
"""Trials that a report lists one by one unless more are asked for."""


@record
class Line:
    """What some of the trials came to.

    Attributes:
        trials: how many were planned; `states` says what became of them.
        success, score, passes: of those that count (`states.counted`).
        cost, tokens, duration: in dollars, tokens and ms, of each trial that counts.
        spent: dollars of all trials and their judges, whether they count or not.
    """

    trials: int
    states: States
    success: Rate
    score: Mean
    passes: Sequence[Passes]
    cost: Amount
    tokens: Amount
    duration: Amount
    spent: Amount
    judges: Sequence[JudgeShare]


@record
class ConfigurationLine:
    """What came of one configuration, over all tasks or within one."""

    configuration: Configuration
    line: Line


@record
class TaskLine:
    """What came of one task. `configurations` has each on its own where there are several."""

    task: RunTask
    line: Line
    configurations: Sequence[ConfigurationLine] = ()


@record
class Report:
    """A run and what it came to.

    Attributes:
        format: of this document.
        overall: all trials. configurations: each on its own, over all tasks.
        tasks: in the run's order. roles, routes, failures: over all trials.
        trials: some of them, those that did not pass first. left_out: how many are not listed.
    """

    format: int = 1
    run: Run
    overall: Line
    configurations: Sequence[ConfigurationLine]
    tasks: Sequence[TaskLine]
    roles: Sequence[RoleShare] = ()
    routes: Sequence[RouteShare] = ()
    failures: Sequence[FailureShare] = ()
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
    """How many trials a mean over the whole run is of, and in what they are clustered."""
    if mean.clusters == mean.trials:
        return f"{mean.trials:,}"
    noun = "task" if len(report.tasks) > 1 else "case"
    return f"{mean.trials:,} in {plural(mean.clusters, noun)}"


def summarise(run: Run, trials: Sequence[Trial], listed: int = LISTED) -> Report:
    """What a run's trials came to.

    Args:
        run: the run. trials: all of its trials, those that were not run included.
        listed: how many of them are to be listed one by one.
    """
    known = Configurations(trial.cell for trial in trials)
    shown = sorted(sorted(trials, key=_reading_order)[:listed], key=lambda each: each.number)
    return Report(
        run=run,
        overall=line_of(trials),
        configurations=_by_configuration(trials, known),
        tasks=_by_task(run, trials, known),
        roles=roles_of(trials),
        routes=routes_of(trials),
        failures=failures_of(trials),
        trials=shown,
        left_out=len(trials) - len(shown),
    )


def line_of(trials: Sequence[Trial]) -> Line:
    """What these trials came to, as one line."""
    counted = [trial for trial in trials if trial.state in COUNTED]
    clusters = _clusters(trials)
    named = [(clusters[trial.number], trial) for trial in counted]
    began = [trial for trial in trials if trial.started_at_ms is not None]
    judged = [judge for trial in began for judge in trial.judges]
    return Line(
        trials=len(trials),
        states=states_of(trials),
        success=rate_of([(cluster, trial.passed is True) for cluster, trial in named]),
        score=mean_of([(cluster, trial.score or 0.0) for cluster, trial in named]),
        passes=passes_of([(_item(trial), trial.passed is True) for trial in counted]),
        cost=amount([trial.usage.cost_usd for trial in counted]),
        tokens=amount([tokens_of(trial.usage) for trial in counted]),
        duration=amount([trial.duration_ms for trial in counted]),
        spent=amount(
            [trial.usage.cost_usd for trial in began] + [each.usage.cost_usd for each in judged]
        ),
        judges=judges_of(counted, clusters),
    )


def _by_configuration(
    trials: Sequence[Trial], known: Configurations
) -> Sequence[ConfigurationLine]:
    """The configurations' lines where there are several."""
    groups: dict[object, list[Trial]] = {key: [] for key in known.all()}
    for trial in trials:
        groups[known.key(trial.cell)].append(trial)
    return [
        ConfigurationLine(configuration=configuration, line=line_of(groups[key]))
        for key, configuration in known.all().items()
        if groups[key]
    ]


def _by_task(run: Run, trials: Sequence[Trial], known: Configurations) -> Sequence[TaskLine]:
    groups: dict[str, list[Trial]] = {task.name: [] for task in run.tasks}
    for trial in trials:
        groups.setdefault(trial.cell.task, []).append(trial)
    tasks = {task.name: task for task in run.tasks}
    several = len(known.all()) > 1
    return [
        TaskLine(
            task=tasks.get(name) or RunTask(name=name, source="", place="", digest=""),
            line=line_of(group),
            configurations=_by_configuration(group, known) if several else (),
        )
        for name, group in groups.items()
    ]


def _clusters(trials: Sequence[Trial]) -> Mapping[int, str]:
    """What trials belong together by, by their numbers: their task; within one task their case;
    within one case each trial is on its own.
    """
    tasks = {trial.cell.task for trial in trials}
    if len(tasks) > 1:
        return {trial.number: trial.cell.task for trial in trials}
    if len({trial.cell.case for trial in trials}) > 1:
        return {trial.number: trial.cell.case for trial in trials}
    return {trial.number: str(trial.number) for trial in trials}


def _item(trial: Trial) -> tuple[object, ...]:
    """What repeats are repeats of."""
    cell = trial.cell
    return cell.task, cell.case, cell.workflow, cell.agent, cell.model


def _reading_order(trial: Trial) -> tuple[bool, int]:
    return trial.passed is True, trial.number
