"""The trials one by one, and what is needed to make the run again."""

from collections.abc import Sequence
from typing import Final

from uwf_core.commands import duration
from uwf_eval.records import Run, Trial
from uwf_eval.report.amounts import tokens_of
from uwf_eval.report.failures import reason_of
from uwf_eval.report.html.markup import Child, Markup, join, tag
from uwf_eval.report.html.table import Column, Row, section, table
from uwf_eval.report.numbers import NONE, dollars, plural, score, tokens
from uwf_eval.report.summary import Report

_TASKS: Final = 200
_REASON: Final = 200


def trials_section(report: Report) -> Markup:
    """The listed trials; those that did not pass are preferred where not all are."""
    several = len(report.configurations) > 1
    note = join("One by one: ", tag("code", "uwf-eval show RUN/NUMBER"), " shows one whole.")
    if report.left_out:
        more = f" {plural(report.left_out, 'trial')} more are not listed, first those that passed."
        note = join(note, more)
    columns = [
        Column("Trial"),
        Column("Task"),
        *([Column("Configuration")] if several else []),
        Column("State"),
        Column("Score", "number"),
        Column("Cost", "number"),
        Column("Tokens", "number"),
        Column("Time", "number"),
        Column("Why", "words"),
    ]
    rows = [_row(trial, report.label_of(trial.cell) if several else None) for trial in (
        report.trials)]  # fmt: skip
    return section("Trials", note, table("Trials", columns, rows, "trials"))


def _row(trial: Trial, configuration: str | None) -> Row:
    cell = trial.cell
    where = f"{cell.task} / {cell.case}" if cell.case else cell.task
    state = "passed" if trial.passed else trial.state.replace("_", " ")
    head: Sequence[Child] = (
        f"{trial.number}",
        join(where, tag("small", f"repeat {cell.repeat}")),
        *([configuration] if configuration is not None else []),
    )
    swatch = tag("span", class_=f"swatch {'passed' if trial.passed else f'state-{trial.state}'}")
    cells = (
        *head,
        join(swatch, state),
        score(trial.score),
        dollars(trial.usage.cost_usd),
        tokens(tokens_of(trial.usage)),
        NONE if trial.started_at_ms is None else duration(trial.duration_ms),
        _why(trial),
    )
    return Row(cells)


def _why(trial: Trial) -> str:
    """The reason, or the judges that took something off."""
    reason = reason_of(trial)
    if not reason and trial.passed is False:
        low = [each for each in trial.judges if each.weight and (each.score or 0.0) < 1]
        reason = ", ".join(f"{each.name} {score(each.score)}" for each in low)
    return reason if len(reason) <= _REASON else reason[: _REASON - 1] + "…"


def run_section(run: Run) -> Markup:
    """What was run, so that it can be run again."""
    pairs = [
        ("Command", " ".join(("uwf-eval", *run.command)) if run.command else NONE),
        ("Seed", str(run.seed)),
        ("Repeats", str(run.repeat)),
        ("Jobs", str(run.jobs)),
        ("Workflows", ", ".join(run.workflows) or "each task's own"),
        ("Agents", ", ".join(each or "as configured" for each in run.agents) or NONE),
        ("Models", ", ".join(each or "as configured" for each in run.models) or NONE),
        ("Versions", f"uwf-eval {run.eval_version}, uwf {run.engine_version}"),
    ]
    facts = [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs]
    columns = (
        Column("Task"),
        Column("Description", "words"),
        Column("Tags"),
        Column("Passes from", "number"),
        Column("Digest"),
    )
    rows = [
        Row(
            (
                task.name,
                task.description,
                ", ".join(task.tags),
                f"{task.pass_score:g}",
                tag("code", task.digest[:12]),
            )
        )
        for task in run.tasks[:_TASKS]
    ]
    note = "Tasks are known by the digest of all their files."
    if len(run.tasks) > _TASKS:
        note += f" {len(run.tasks) - _TASKS:,} more are not listed."
    facts_list = tag("dl", *facts, class_="facts")
    return section("What was run", note, facts_list, table("Tasks", columns, rows))
