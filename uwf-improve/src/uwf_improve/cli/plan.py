"""`uwf improve plan`."""

from typing import Any, Final

import click

from uwf_core.commands import Column, Screen, Session, command, table
from uwf_core.errors import UsageError

_EXAMPLES: Final = (
    "uwf improve plan --tasks 40 --repeat 3",
    "uwf improve plan --tasks 80 --cost-per-trial 0.12",
)


@command("plan", *_EXAMPLES)
@click.option("--tasks", type=int, required=True, metavar="N", help="Number of sealed tasks.")
@click.option(
    "--repeat", type=click.IntRange(1, 1000), default=3, show_default=True, metavar="N",
    help="Trials of each task on each side.",
)  # fmt: skip
@click.option(
    "--alpha", type=click.FloatRange(0, 0.2, min_open=True), default=0.05, show_default=True,
    help="Chance that a search without a better edit has one accepted.",
)  # fmt: skip
@click.option(
    "--cost-per-trial", type=click.FloatRange(min=0), metavar="DOLLARS",
    help="Mean cost of a trial, to show the expected cost.",
)  # fmt: skip
def plan(
    session: Session, tasks: int, repeat: int, alpha: float, cost_per_trial: float | None
) -> None:
    """Show what a sealed test costs, and which gain of the pass rate it accepts in 8 of 10 cases.

    The tasks are sealed: the search for an edit never sees them. Each further test of the same
    tasks halves alpha, so each finds less than the one before.
    """
    from uwf_core.api.fields import write_record
    from uwf_improve.gate.bar import Bar
    from uwf_improve.gate.decide import refusal
    from uwf_improve.gate.plan import plan as plan_test

    bar = Bar(alpha=alpha, repeats=repeat)
    why = refusal(bar, tasks, 1)
    if why is not None:
        raise UsageError(why, hint="a smaller number of tasks shows nothing reliable")
    session.emit(write_record(plan_test(bar, tasks, cost_per_trial)), _text)


def _text(document: dict[str, Any], screen: Screen) -> str:
    cost = document["costUsd"]
    price = "" if cost is None else f", about ${cost:,.2f}"
    runs = f"{document['tasks']} tasks x {document['repeats']} x 2 = {document['runs']} runs{price}"
    rows = [
        {
            "number": each["number"],
            "level": f"{each['level'] * 100:.3g} %",
            "finds": f"+{each['finds'] * 100:.0f} points",
        }
        for each in document["tests"]
    ]
    columns = (
        Column("number", "TEST", right=True),
        Column("level", "ALPHA", right=True),
        Column("finds", "FINDS IN 8 OF 10 CASES", least=8),
    )
    return f"{runs}\n\n{table(columns, rows, screen)}"
