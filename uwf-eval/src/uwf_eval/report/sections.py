"""The facts and tables of a report, in the order of every format."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from uwf_core.commands import duration
from uwf_eval.records import WHY_NOT, Run, Trial, TrialState
from uwf_eval.report.groups import COUNTED, States
from uwf_eval.report.numbers import (
    NONE,
    at_least,
    clip,
    cost_of,
    dollars,
    elapsed,
    known,
    mean_range,
    percent,
    plural,
    rate_range,
    score,
    tokens,
    tokens_of,
)
from uwf_eval.report.recorded import recorded_tables
from uwf_eval.report.shares import FailureShare, JudgeShare, RoleShare, RouteShare, reason_of
from uwf_eval.report.summary import Line, Report, TaskLine, trials_in
from uwf_eval.report.tables import (
    Bar,
    Columns,
    Content,
    Fact,
    Heading,
    Row,
    Table,
    Value,
    mean_value,
    rate_value,
    table_of,
)

STATES: Final[Mapping[TrialState, tuple[str, str]]] = {
    "scored": ("scored", "judged"),
    "failed": ("failed", "the workflow did not finish; score 0"),
    "infra_error": ("infra error", "not counted; resume runs it again"),
    "tampered": ("tampered", "the agent changed protected files; score 0"),
    "not_run": ("not run", "not counted; resume runs it"),
}
"""The name and the meaning of each state."""

_REASON: Final = 200
_TASKS: Final = 200
_LINE: Final = (
    Heading("N", "number", page=False),
    Heading("Passed", "number", beside="95%", drawn="Share that passed"),
    Heading("Score", "number", beside="95%", drawn="Mean score"),
    Heading("Cost", "number", rank=3, page=False),
    Heading("Tokens", "number", rank=4, page=False),
    Heading("Time", "number", rank=2, page=False),
    Heading("Not counted", least=8, rank=5),
)


def counts(states: States) -> Iterator[tuple[TrialState, int]]:
    """The states with trials, those that count first."""
    for state in STATES:
        if number := getattr(states, state):
            yield state, number


def states_text(states: States) -> str:
    """The numbers of trials by state: `35 scored, 2 failed; not counted: 1 infra error`."""
    counted = _words(states, counted=True) or "0 scored"
    apart = _words(states, counted=False)
    return counted + (f"; not counted: {apart}" if apart else "")


def _words(states: States, *, counted: bool) -> str:
    found = [(state, number) for state, number in counts(states) if (state in COUNTED) is counted]
    return ", ".join(f"{number:,} {STATES[state][0]}" for state, number in found)


def _not_counted(line: Line) -> str:
    """`1 infra error (≥ 30%)`, with the pass rate if these trials were failures."""
    least = f" (≥ {percent(line.success_at_least.value)})" * bool(line.states.infra_error)
    return _words(line.states, counted=False) + least


def facts(report: Report) -> Iterator[Fact]:
    """The figures of the whole run."""
    line = report.overall
    rate, mean = line.success, line.score
    passed = f"{rate.passed:,} of {rate.trials:,}" if rate.trials else "no trial counts"
    yield Fact("Passed", percent(rate.value), rate_range(rate), passed)
    if line.states.infra_error:
        least = line.success_at_least
        yield Fact("Passed at least", percent(least.value), rate_range(least),
                   f"{least.passed:,} of {least.trials:,}, infra errors as failures")  # fmt: skip
    yield Fact("Mean score", score(mean.value), mean_range(mean), f"n = {trials_in(mean, report)}")
    for each in line.passes[-1:]:
        over = "over " + (f"{each.items:,} of " if each.items < each.of else "")
        over += plural(each.of, "case")
        if each.k > 1:
            yield Fact(f"pass@{each.k}", score(each.at), f"one of {each.k} passes", over)
            yield Fact(f"pass^{each.k}", score(each.all), f"all {each.k} pass", over)
    spent = f"{at_least(line.spent, dollars(line.spent.total))} in all, judges included"
    unknown = line.cost.mean is None and not line.spent.total
    yield Fact("Cost of a trial", dollars(line.cost.mean), known(line.cost),
               "not known" if unknown else spent)  # fmt: skip
    used = f"{at_least(line.tokens, tokens(line.tokens.total))} in all"
    yield Fact("Tokens of a trial", tokens(line.tokens.mean), known(line.tokens),
               "not known" if line.tokens.total is None else used)  # fmt: skip
    yield Fact("Time of a trial", elapsed(line.duration.median), "median",
               f"{elapsed(line.duration.total)} in all")  # fmt: skip


def tables(report: Report, most_tasks: int) -> list[Table]:
    """The tables of every format; of many tasks, those with the lowest scores."""
    return [
        configurations(report),
        tasks(report, most_tasks),
        *recorded_tables(report.recorded),
        _judges(report),
        _roles(report.roles),
        _routes(report.routes),
        _failures(report.failures),
    ]


def configurations(report: Report) -> Table:
    """Each configuration over all tasks, if there are several."""
    several = report.configurations if len(report.configurations) > 1 else ()
    rows = [_line(each.configuration.label, each.line, n) for n, each in enumerate(several)]
    note = (
        "The same tasks under each configuration. Overlapping intervals do not decide whether "
        "configurations differ; `uwf eval compare` pairs the tasks and tests the difference."
    )
    return Table("Configurations", (Heading("Configuration", least=18), *_LINE), rows, note)


def tasks(report: Report, most: int) -> Table:
    """Each task, and each of its configurations if there are several."""
    shown = report.tasks
    if len(shown) > most:
        shown = sorted(shown, key=_lowest_first)[:most]
    order = {each.configuration.label: n for n, each in enumerate(report.configurations)}
    rows = []
    for task in shown:
        inner = [(each.configuration.label, each.line) for each in task.configurations]
        several = len(inner) > 1
        number = None if several else order.get(inner[0][0], 0) if inner else 0
        rows.append(_line(task.task.name, task.line, number))
        if several:
            rows += [_line(label, line, order[label], inner=True) for label, line in inner]
    more = (
        f"These are the {most} tasks with the lowest scores, of {len(report.tasks):,}. "
        "The JSON report has all tasks."
    )
    note = "Points are means, lines their 95 % intervals. With few trials the intervals are long."
    left_out = more if len(shown) < len(report.tasks) else ""
    return Table("Tasks", (Heading("Task", least=18), *_LINE), rows, note, left_out=left_out)


def _lowest_first(task: TaskLine) -> tuple[bool, float]:
    return task.line.score.value is None, task.line.score.value or 0.0


def _line(label: str, line: Line, number: int | None, *, inner: bool = False) -> Row:
    cells: Sequence[Content] = (
        label,
        f"{line.states.counted:,}",
        rate_value(line.success, number),
        mean_value(line.score, number),
        dollars(line.cost.mean),
        tokens(line.tokens.mean),
        elapsed(line.duration.median),
        _not_counted(line),
    )
    return Row(cells, inner)


def _judges(report: Report) -> Table:
    columns: Columns = (
        (Heading("Judge", least=8), lambda each: Value(each.name, (each.judge, _weight(each)))),
        (Heading("Weight", "number", rank=2, page=False),
         lambda each: _weight(each).removeprefix("weight ")),
        (Heading("Score", "number", beside="95%", drawn="Mean score"),
         lambda each: mean_value(each.score, 0)),
        (Heading("N", "number", page=False), lambda each: f"{each.score.trials:,}"),
        (Heading("Failed", "number"), lambda each: Value(f"{each.failed:,}", (each.error or "",))),
        (Heading("Agreement", "number", rank=1),
         lambda each: Value(score(each.agreement), (_asked(each),))),
        (Heading("Cost", "number", rank=3),
         lambda each: at_least(each.cost, dollars(each.cost.total))),
    )  # fmt: skip
    note = (
        "A failed judge gives no score; it does not lower the mean. Agreement is 1 minus the mean "
        "difference between repetitions of one judgement. A judge with low agreement cannot "
        "distinguish workflows."
    )
    known = _calibrated(report.run)
    if known:
        heading = Heading("Calibrated", least=8, rank=2)
        columns = (*columns, (heading, lambda each: known.get((each.name, each.judge), NONE)))
        note += " A judge with a calibration set counts only if it has reached its bar."
    empty = "No judge has given a score yet."
    return table_of("Judges", columns, report.overall.judges, note=note, empty=empty)


def _weight(each: JudgeShare) -> str:
    return f"weight {each.weight:g}" if each.weight else "informational"


def _asked(each: JudgeShare) -> str:
    return f"in {plural(each.repeated, 'trial')}" if each.repeated else "asked once each"


def _calibrated(run: Run) -> Mapping[tuple[str, str], Value]:
    """Whether judges with a calibration set count, by their names and kinds."""
    judges = [one for task in run.tasks for one in task.judges if one.calibration != "no_set"]
    judges.sort(key=lambda one: one.calibration in WHY_NOT)  # one that does not count goes last
    return {
        (one.name, one.identity.judge): Value(
            WHY_NOT.get(one.calibration, "yes"), (one.identity.model,)
        )
        for one in judges
    }


def _roles(roles: Sequence[RoleShare]) -> Table:
    spent = sum(each.duration_ms for each in roles) or 1
    used = sum(each.tokens.total or 0 for each in roles) or 1

    def time(each: RoleShare) -> Value:
        share = each.duration_ms / spent
        said = f"{each.role}: {percent(share)} of the time"
        below = (percent(share),)
        return Value(duration(each.duration_ms), below, Bar([(share, "tone0")]), said)

    def taken(each: RoleShare) -> Value:
        share = (each.tokens.total or 0) / used
        said = f"{each.role}: {percent(share)} of the tokens"
        text = at_least(each.tokens, tokens(each.tokens.total))
        below = (known(each.tokens) or percent(share),)
        return Value(text, below, Bar([(share, "tone3")]), said)

    columns: Columns = (
        (Heading("Role", least=12), lambda each: each.role),
        (Heading("Steps", "number"), lambda each: f"{each.steps:,}"),
        (Heading("Time", "number", beside="Share", drawn="Share of time"), time),
        (Heading("Tokens", "number", drawn="Share of tokens"), taken),
        (Heading("Cost", "number", rank=1),
         lambda each: Value(at_least(each.cost, dollars(each.cost.total)), (known(each.cost),))),
        (Heading("Corrections", "number", rank=2), lambda each: f"{each.corrections:,}"),
        (Heading("Failed attempts", "number", rank=3), lambda each: f"{each.attempts:,}"),
    )  # fmt: skip
    note = (
        "All steps of agents and programs, by role; in a called thread the role is a path "
        "(work/writer). Tokens include cached tokens."
    )
    return table_of("Roles", columns, roles, note=note, empty="No trial has run a step.")


def _routes(routes: Sequence[RouteShare]) -> Table:
    most = max((each.trials for each in routes), default=1)

    def trials(each: RouteShare) -> Value:
        other = each.trials - each.passed
        bar = Bar([(each.passed / most, "passed"), (other / most, "other")])
        said = f"{each.passed:,} passed, {other:,} did not pass or are not counted"
        return Value(f"{each.trials:,}", (), bar, said)

    columns: Columns = (
        (Heading("Route", least=16), _route),
        (Heading("Trials", "number", drawn="Trials, passed first"), trials),
        (Heading("Passed", "number"), lambda each: f"{each.passed:,} of {each.counted:,}"),
        (Heading("Score", "number"), lambda each: score(each.score)),
    )
    note = "The roles of a trial from its first step to its last. The green part of a bar passed."
    return table_of("Routes", columns, routes, note=note, empty="No trial has run a step.")


def _route(each: RouteShare) -> str:
    """Format a route: `developer → reviewer ×2`."""
    if not each.stations:
        return f"{plural(each.routes, 'rarer route')} together"
    stops = [stop.role + f" ×{stop.times}" * (stop.times > 1) for stop in each.stations]
    return " → ".join(stops + [f"… {each.left_out:,} more"] * (each.left_out > 0))


def _failures(failures: Sequence[FailureShare]) -> Table:
    most = max((each.trials for each in failures), default=1)

    def trials(each: FailureShare) -> Value:
        bar = Bar([(each.trials / most, f"state-{each.state}")])
        said = f"{each.kind}: {plural(each.trials, 'trial')}"
        return Value(f"{each.trials:,}", (f"in {plural(each.tasks, 'task')}",), bar, said)

    def example(each: FailureShare) -> Value:
        first = ", ".join(str(number) for number in each.numbers)
        more = " …" if each.trials > len(each.numbers) else ""
        return Value(each.message or NONE, (f"trial{'s' * (each.trials > 1)} {first}{more}",))

    columns: Columns = (
        (Heading("Kind", least=8), lambda each: each.kind),
        (Heading("Trials", "number", drawn="Trials, to scale"), trials),
        (Heading("State"), lambda each: Value(STATES[each.state][0], (STATES[each.state][1],))),
        (Heading("Example", "words", least=12, rank=1), example),
    )
    note = "Why trials did not finish or were not judged. A low score is not a failure."
    return table_of("Failures", columns, failures, note=note, empty="None.")


def trials(report: Report) -> Table:
    """The listed trials."""
    several = len(report.configurations) > 1
    columns: Columns = (
        (Heading("Trial"), lambda each: f"{each.number}"),
        (Heading("Task"), lambda each: Value(_place(each), (f"repeat {each.cell.repeat}",))),
        (Heading("Configuration"), lambda each: report.label_of(each.cell) if several else ""),
        (Heading("State"), _state),
        (Heading("Score", "number"), lambda each: score(each.score)),
        (Heading("Cost", "number"), lambda each: cost_of(each.usage)),
        (Heading("Tokens", "number"), lambda each: tokens_of(each.usage)),
        (Heading("Time", "number"),
         lambda each: NONE if each.started_at_ms is None else duration(each.duration_ms)),
        (Heading("Reason", "words"), lambda each: clip(_reason(each), _REASON)),
    )  # fmt: skip
    more = f"{plural(report.left_out, 'trial')} more are not listed; those that passed go first."
    note = "`uwf eval show RUN/NUMBER` prints one trial in full."
    left_out = more if report.left_out else ""
    return table_of("Trials", columns, report.trials, note=note, left_out=left_out)


def _place(trial: Trial) -> str:
    cell = trial.cell
    return f"{cell.task} / {cell.case}" if cell.case else cell.task


def _state(trial: Trial) -> Value:
    if trial.passed:
        return Value("passed", mark="passed")
    return Value(STATES[trial.state][0], mark=f"state-{trial.state}")


def _reason(trial: Trial) -> str:
    if (reason := reason_of(trial)) or trial.passed is not False:
        return reason
    low = [each for each in trial.judges if each.weight and (each.score or 0.0) < 1]
    return ", ".join(f"{each.name} {score(each.score)}" for each in low)


def settings(run: Run) -> list[tuple[str, str]]:
    """The settings of the run."""
    return [
        ("Command", " ".join(("uwf eval", *run.command)) if run.command else NONE),
        ("Seed", str(run.seed)),
        ("Repeats", str(run.repeat)),
        ("Jobs", str(run.jobs)),
        ("Workflows", ", ".join(run.workflows) or "each task's own"),
        ("Agents", ", ".join(each or "as configured" for each in run.agents) or NONE),
        ("Models", ", ".join(each or "as configured" for each in run.models) or NONE),
        ("Versions", f"uwf-eval {run.eval_version}, uwf {run.engine_version}"),
    ]


def run_tasks(run: Run) -> Table:
    """The tasks of a run."""
    columns: Columns = (
        (Heading("Task"), lambda task: task.name),
        (Heading("Description", "words"), lambda task: task.description),
        (Heading("Tags"), lambda task: ", ".join(task.tags)),
        (Heading("Passing score", "number"), lambda task: f"{task.pass_:g}"),
        (Heading("Digest"), lambda task: task.digest[:12]),
    )
    more = len(run.tasks) - _TASKS
    note, left_out = "The digest covers all files of a task.", f"{more:,} tasks more."
    return table_of("Run", columns, run.tasks[:_TASKS], note=note,
                    left_out=left_out if more > 0 else "")  # fmt: skip
