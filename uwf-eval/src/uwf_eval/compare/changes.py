"""What changed between two runs: settings, tasks, trials."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from uwf_eval.records import Cell, Run, Trial, TrialState
from uwf_eval.report.configurations import Configurations
from uwf_eval.report.groups import by_task, groups_of
from uwf_eval.report.numbers import NONE, percent, plural, score
from uwf_eval.report.summary import line_of
from uwf_eval.report.tables import Columns, Heading, Table, table_of

_SAME: Final = 1e-9
_Position = tuple[str, str, int, Hashable]
"""Task, case, repeat, configuration."""


@dataclass(frozen=True, kw_only=True)
class SettingChange:
    """A setting that differs: its name `what` and its value in each run."""

    what: str
    a: str
    b: str


@dataclass(frozen=True, kw_only=True)
class TrialEnd:
    """How a trial ended in one of the runs."""

    number: int
    state: TrialState
    score: float | None
    passed: bool | None


@dataclass(frozen=True, kw_only=True)
class TrialChange:
    """A position in the matrix with different results; None: the run has no such trial."""

    task: str
    case: str
    configuration: str
    repeat: int
    a: TrialEnd | None
    b: TrialEnd | None


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """The results of a task in one of the runs."""

    trials: int
    score: float | None
    passed: float | None


@dataclass(frozen=True, kw_only=True)
class TaskChange:
    """A task with different results; None: the run does not have it."""

    task: str
    a: TaskResult | None
    b: TaskResult | None


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What is different in run B.

    Attributes:
        settings, tasks: that differ. trials: with different results, up to the requested number.
        changed: the number of trials with different results. same: with equal ones.
    """

    settings: Sequence[SettingChange]
    tasks: Sequence[TaskChange]
    trials: Sequence[TrialChange]
    changed: int
    same: int


def changes_between(
    a: Run, of_a: Sequence[Trial], b: Run, of_b: Sequence[Trial], listed: int
) -> Changes:
    """Compare run a and its trials with run b."""
    places_a, places_b = _places(of_a, of_b)
    pairs = {place: (places_a.get(place), places_b.get(place)) for place in (*places_a, *places_b)}
    changed = [_change(place, *pair) for place, pair in pairs.items() if not _alike(*pair)]
    return Changes(
        settings=_settings(a, of_a, b, of_b),
        tasks=_tasks(of_a, of_b),
        trials=changed[:listed],
        changed=len(changed),
        same=len(pairs) - len(changed),
    )


def _places(*sides: Sequence[Trial]) -> Sequence[Mapping[_Position, Trial]]:
    """The trials of each run by position. Equal configurations are paired; if the runs have
    different ones, configurations are paired by their order, which shows the effect of changing
    one.
    """
    if len({frozenset(map(_what, trials)) for trials in sides}) == 1:
        return [{_position(each.cell, _what(each)): each for each in trials} for trials in sides]
    found = []
    for trials in sides:
        known = Configurations(each.cell for each in trials)
        order = list(known.all())
        found.append({
            _position(each.cell, order.index(known.key(each.cell))): each for each in trials
        })  # fmt: skip
    return found


def _what(trial: Trial) -> Hashable:
    return trial.cell.workflow, trial.cell.agent, trial.cell.model


def _position(cell: Cell, configuration: Hashable) -> _Position:
    return cell.task, cell.case, cell.repeat, configuration


def _alike(a: Trial | None, b: Trial | None) -> bool:
    if a is None or b is None or a.state != b.state or a.passed != b.passed:
        return False
    if a.score is None or b.score is None:
        return a.score == b.score
    return abs(a.score - b.score) < _SAME


def _change(place: _Position, a: Trial | None, b: Trial | None) -> TrialChange:
    task, case, repeat, _ = place
    cells = [trial.cell for trial in (a, b) if trial is not None]
    names = dict.fromkeys(f"{cell.workflow_name}@{cell.workflow[:4]}" for cell in cells)
    return TrialChange(
        task=task, case=case, configuration=" → ".join(names), repeat=repeat,
        a=_end_of(a), b=_end_of(b),
    )  # fmt: skip


def _end_of(trial: Trial | None) -> TrialEnd | None:
    if trial is None:
        return None
    return TrialEnd(number=trial.number, state=trial.state, score=trial.score, passed=trial.passed)


def _tasks(*sides: Sequence[Trial]) -> Sequence[TaskChange]:
    a, b = ({task: _result(trials) for task, trials in by_task(side).items()} for side in sides)
    both = ((task, a.get(task), b.get(task)) for task in dict.fromkeys((*a, *b)))
    return [TaskChange(task=task, a=one, b=other) for task, one, other in both if one != other]


def _result(trials: Sequence[Trial]) -> TaskResult:
    line = line_of(groups_of(trials))
    mean = line.score
    return TaskResult(trials=mean.trials, score=mean.value, passed=line.success.value)


def _settings(
    a: Run, of_a: Sequence[Trial], b: Run, of_b: Sequence[Trial]
) -> Sequence[SettingChange]:  # fmt: skip
    one, other = _values(a), _values(b)
    fixtures_a, fixtures_b = _fixtures(of_a), _fixtures(of_b)
    one |= {name: value for name, value in fixtures_a.items() if name in fixtures_b}
    other |= {name: value for name, value in fixtures_b.items() if name in fixtures_a}
    return [
        SettingChange(what=what, a=one.get(what, NONE), b=other.get(what, NONE))
        for what in dict.fromkeys((*one, *other))
        if one.get(what) != other.get(what)
    ]


def _values(run: Run) -> dict[str, str]:
    return {
        "workflows": _words(run.workflows),
        "agents": _words(run.agents),
        "models": _words(run.models),
        "repeats": str(run.repeat),
        "seed": str(run.seed),
        "uwf-eval": run.eval_version,
        "uwf": run.engine_version,
        **{f"task {task.name}": task.digest[:12] for task in run.tasks},
    }


def _words(values: Sequence[str | None]) -> str:
    return ", ".join(value or "as configured" for value in values) or NONE


def _fixtures(trials: Iterable[Trial]) -> Mapping[str, str]:
    """The fixture of each case."""
    return {
        "fixture of " + " / ".join(filter(None, (each.cell.task, each.cell.case))):
            each.fixture[:12]
        for each in trials
        if each.fixture
    }  # fmt: skip


def tables_of(found: Changes) -> Sequence[Table]:
    """The changed settings, tasks and trials."""
    more = found.changed - len(found.trials)
    left_out = f"{plural(more, 'trial')} more changed" if more else ""
    return (
        table_of("Settings", _SETTINGS, found.settings),
        table_of("Tasks", _TASKS, found.tasks),
        table_of("Trials", _TRIALS, found.trials, left_out=left_out),
    )


def tally(found: Changes) -> str:
    """How many trials changed."""
    return f"{plural(found.changed, 'trial')} changed, {found.same:,} unchanged"


def _score_change(each: TaskChange) -> str:
    known = [side.score for side in (each.a, each.b) if side and side.score is not None]
    return f"{known[1] - known[0]:+.2f}" if len(known) == 2 else NONE


def _passed(side: TaskResult | None) -> str:
    return NONE if side is None else percent(side.passed)


def _mean(side: TaskResult | None) -> str:
    return NONE if side is None else f"{score(side.score)} (n {side.trials:,})"


def _ended(end: TrialEnd | None) -> str:
    if end is None:
        return "not there"
    if end.state == "scored":
        return f"{score(end.score)}{' passed' if end.passed else ''}"
    return end.state.replace("_", " ")


_SETTINGS: Final[Columns] = (
    (Heading("Setting", least=8), lambda each: each.what),
    (Heading("A", least=8), lambda each: each.a),
    (Heading("B", least=8), lambda each: each.b),
)
_TASKS: Final[Columns] = (
    (Heading("Task", least=12), lambda each: each.task),
    (Heading("A", "number"), lambda each: _mean(each.a)),
    (Heading("B", "number"), lambda each: _mean(each.b)),
    (Heading("Score", "number"), _score_change),
    (Heading("Passed A", "number", rank=1), lambda each: _passed(each.a)),
    (Heading("Passed B", "number", rank=1), lambda each: _passed(each.b)),
)
_TRIALS: Final[Columns] = (
    (
        Heading("Trial", least=12),
        lambda each: " ".join(filter(None, (each.task, each.case, f"#{each.repeat}"))),
    ),
    (Heading("A", least=8), lambda each: _ended(each.a)),
    (Heading("B", least=8), lambda each: _ended(each.b)),
    (Heading("Configuration", least=10, rank=1), lambda each: each.configuration),
)
