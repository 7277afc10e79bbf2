"""`uwf-eval diff`."""

import click

from uwf_core.commands import Session, command
from uwf_eval.cli.opened import results_of


@command("diff", "uwf-eval diff nightly @last", "uwf-eval diff 01K9ABCD 01K9EFGH --format json")
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
@click.option(
    "--trials", type=click.IntRange(min=0), default=200, show_default=True, metavar="N",
    help="List at most N changed trials.",
)  # fmt: skip
def diff(session: Session, before: str, after: str, trials: int) -> None:
    """Compare two runs: changed settings, the score of each task, each trial that changed.

    RUN is an id, a unique prefix of one, a name or @last. `uwf-eval compare` tests whether a
    difference is more than chance.
    """
    from uwf_core.api.fields import write_record
    from uwf_eval.report.difference import difference, difference_text

    with results_of(session) as (_, results):
        a, b = results.run(before), results.run(after)
        found = difference(a, results.trials(a.run), b, results.trials(b.run), trials)
    session.emit(write_record(found), lambda _, screen: difference_text(found, screen))
