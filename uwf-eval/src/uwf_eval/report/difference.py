"""Shows what changed between two runs: settings, tasks, trials.

`compare` tests whether a change is more than chance.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final

from uwf_core.api.record import record
from uwf_core.commands import Screen, clean
from uwf_eval.records import Cell, Run, Trial, TrialState
from uwf_eval.report.configurations import Configurations
from uwf_eval.report.groups import by_task, groups_of
from uwf_eval.report.numbers import NONE, percent, plural, score, utc
from uwf_eval.report.summary import Line, line_of
from uwf_eval.report.tables import Heading, Row, Table, table_text

_SAME: Final = 1e-9
_Position = tuple[str, str, int, Hashable]
"""Task, case, repeat, configuration."""


@record
class SettingChange:
    """A setting that differs: its name `what` and its value in each run."""

    what: str
    a: str
    b: str


@record
class TrialEnd:
    """How a trial ended in one of the runs."""

    number: int
    state: TrialState
    score: float | None
    passed: bool | None


@record
class TrialChange:
    """A position in the matrix with different results; None: the run has no such trial."""

    task: str
    case: str
    configuration: str | None
    repeat: int
    a: TrialEnd | None
    b: TrialEnd | None


@record
class TaskChange:
    """A task in both runs; None if a run does not have it. `score`: b minus a."""

    task: str
    a: Line | None
    b: Line | None
    score: float | None


@record
class Difference:
    """The differences between two runs.

    Attributes:
        settings: that differ. tasks: of both runs.
        trials: with different results, up to the requested number.
        changed: the number of trials with different results. same: with equal ones.
    """

    a: Run
    b: Run
    settings: Sequence[SettingChange]
    tasks: Sequence[TaskChange]
    trials: Sequence[TrialChange]
    changed: int
    same: int


def difference(
    a: Run, of_a: Sequence[Trial], b: Run, of_b: Sequence[Trial], listed: int = 200
) -> Difference:
    """Compare run a and its trials with run b."""
    places_a, places_b = _places(of_a, of_b)
    changes = [
        _change(place, places_a.get(place), places_b.get(place))
        for place in dict.fromkeys((*places_a, *places_b))
        if not _alike(places_a.get(place), places_b.get(place))
    ]
    return Difference(
        a=a,
        b=b,
        settings=_settings(a, of_a, b, of_b),
        tasks=_tasks(of_a, of_b),
        trials=changes[:listed],
        changed=len(changes),
        same=len({*places_a, *places_b}) - len(changes),
    )


def _places(
    of_a: Sequence[Trial], of_b: Sequence[Trial]
) -> tuple[Mapping[_Position, Trial], Mapping[_Position, Trial]]:
    """The trials by position. Equal configurations are paired; if the runs have different ones,
    configurations are paired by their order, which shows the effect of changing one.
    """
    known_a = Configurations(trial.cell for trial in of_a)
    known_b = Configurations(trial.cell for trial in of_b)
    if set(map(_what, of_a)) == set(map(_what, of_b)):
        return (
            {_position(trial.cell, _what(trial)): trial for trial in of_a},
            {_position(trial.cell, _what(trial)): trial for trial in of_b},
        )
    order_a, order_b = list(known_a.all()), list(known_b.all())
    return (
        {_position(each.cell, order_a.index(known_a.key(each.cell))): each for each in of_a},
        {_position(each.cell, order_b.index(known_b.key(each.cell))): each for each in of_b},
    )


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
        task=task,
        case=case,
        configuration=" → ".join(names),
        repeat=repeat,
        a=_end_of(a),
        b=_end_of(b),
    )


def _end_of(trial: Trial | None) -> TrialEnd | None:
    if trial is None:
        return None
    return TrialEnd(number=trial.number, state=trial.state, score=trial.score, passed=trial.passed)


def _tasks(of_a: Sequence[Trial], of_b: Sequence[Trial]) -> Sequence[TaskChange]:
    groups_a, groups_b = by_task(of_a), by_task(of_b)
    changes = []
    for task in dict.fromkeys((*groups_a, *groups_b)):
        a = line_of(groups_of(groups_a[task])) if task in groups_a else None
        b = line_of(groups_of(groups_b[task])) if task in groups_b else None
        before = a.score.value if a else None
        after = b.score.value if b else None
        change = None if before is None or after is None else after - before
        changes.append(TaskChange(task=task, a=a, b=b, score=change))
    return changes


def _settings(
    a: Run, of_a: Sequence[Trial], b: Run, of_b: Sequence[Trial]
) -> Sequence[SettingChange]:  # fmt: skip
    pairs = [
        ("workflows", _words(a.workflows), _words(b.workflows)),
        ("agents", _words(a.agents), _words(b.agents)),
        ("models", _words(a.models), _words(b.models)),
        ("repeats", str(a.repeat), str(b.repeat)),
        ("seed", str(a.seed), str(b.seed)),
        ("uwf-eval", a.eval_version, b.eval_version),
        ("uwf", a.engine_version, b.engine_version),
    ]
    digests_a = {task.name: task.digest for task in a.tasks}
    digests_b = {task.name: task.digest for task in b.tasks}
    pairs += [
        (f"task {name}", _digest(digests_a.get(name)), _digest(digests_b.get(name)))
        for name in dict.fromkeys((*digests_a, *digests_b))
    ]
    fixtures_a, fixtures_b = _fixtures(of_a), _fixtures(of_b)
    pairs += [
        (f"fixture of {name}", _digest(fixture), _digest(fixtures_b[name]))
        for name, fixture in fixtures_a.items()
        if name in fixtures_b
    ]
    return [SettingChange(what=what, a=one, b=other) for what, one, other in pairs if one != other]


def _words(values: Sequence[str | None]) -> str:
    return ", ".join(value or "as configured" for value in values) or NONE


def _digest(value: str | None) -> str:
    return NONE if value is None else value[:12]


def _fixtures(trials: Iterable[Trial]) -> Mapping[str, str]:
    """The fixture of each case."""
    return {
        " / ".join(filter(None, (trial.cell.task, trial.cell.case))): trial.fixture
        for trial in trials
        if trial.fixture
    }


def difference_text(found: Difference, screen: Screen) -> str:
    """Render the differences as text."""
    heads = [
        f"{screen.paint(letter, 'bold')}  {run.run}  {utc(run.started_at_ms)}  {clean(run.name)}"
        for letter, run in (("A", found.a), ("B", found.b))
    ]
    parts = [
        "\n".join(heads),
        table_text(_settings_table(found), screen) or "all settings are equal",
        table_text(_tasks_table(found), screen),
        _same_tasks(found),
        table_text(_trials_table(found), screen),
        f"{plural(found.changed, 'trial')} changed, {found.same:,} unchanged",
        screen.paint(f"next: uwf-eval compare {found.a.run} {found.b.run}", "dim"),
    ]
    return "\n\n".join(part for part in parts if part)


def _settings_table(found: Difference) -> Table:
    headings = (Heading("Setting", least=8), Heading("A", least=8), Heading("B", least=8))
    return Table("Settings", headings, [Row((x.what, x.a, x.b)) for x in found.settings])


def _tasks_table(found: Difference) -> Table:
    headings = (
        Heading("Task", least=12),
        Heading("A", "number"),
        Heading("B", "number"),
        Heading("Score", "number"),
        Heading("Passed A", "number", rank=1),
        Heading("Passed B", "number", rank=1),
    )
    rows = []
    for each in filter(_differs, found.tasks):
        change = NONE if each.score is None else f"{each.score:+.2f}"
        shares = _passed(each.a), _passed(each.b)
        rows.append(Row((each.task, _mean(each.a), _mean(each.b), change, *shares)))
    return Table("Tasks", headings, rows)


def _differs(task: TaskChange) -> bool:
    return task.score != 0 or _passed(task.a) != _passed(task.b)


def _same_tasks(found: Difference) -> str:
    same = [task.task for task in found.tasks if not _differs(task)]
    return f"{plural(len(same), 'task')} with equal scores" if same else ""


def _mean(line: Line | None) -> str:
    return NONE if line is None else f"{score(line.score.value)} (n {line.score.trials:,})"


def _passed(line: Line | None) -> str:
    return NONE if line is None else percent(line.success.value)


def _trials_table(found: Difference) -> Table:
    headings = (
        Heading("Trial", least=12),
        Heading("A", least=8),
        Heading("B", least=8),
        Heading("Configuration", least=10, rank=1),
    )
    rows = []
    for each in found.trials:
        name = " ".join(filter(None, (each.task, each.case, f"#{each.repeat}")))
        rows.append(Row((name, _ended(each.a), _ended(each.b), each.configuration or "")))
    more = found.changed - len(found.trials)
    left_out = f"{plural(more, 'trial')} more changed" if more else ""
    return Table("Trials", headings, rows, left_out=left_out)


def _ended(end: TrialEnd | None) -> str:
    if end is None:
        return "not there"
    if end.state == "scored":
        return f"{score(end.score)}{' passed' if end.passed else ''}"
    return end.state.replace("_", " ")
