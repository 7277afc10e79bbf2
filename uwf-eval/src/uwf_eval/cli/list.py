"""`uwf-eval list`."""

import click

from uwf_core.commands import Session, command
from uwf_eval.cli.opened import results_of


@command("list", "uwf-eval list", "uwf-eval list --limit 5 --format json")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
def list_(session: Session, limit: int | None) -> None:
    """List the runs, newest first."""
    from uwf_eval.report.runs import run_row, runs_text

    with results_of(session) as (_, results):
        rows = [run_row(run, results.counts(run.run)) for run in results.runs()[:limit]]
    session.emit({"runs": rows}, runs_text)
