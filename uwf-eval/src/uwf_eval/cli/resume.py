"""`uwf-eval resume`."""

import click

from uwf_core.commands import Session, command, working_folder


@command("resume", "uwf-eval resume @last", "uwf-eval resume 01JC --jobs 4", logged=True)
@click.argument("run", metavar="RUN")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, metavar="J",
              help="How many trials run at once.")  # fmt: skip
@click.option("--budget", metavar="B", help="A budget instead of the run's own.")
@click.option("--keep", is_flag=True, help="Keep the folders of the trials.")
def resume(session: Session, run: str, jobs: int, budget: str | None, keep: bool) -> int:
    """Run the trials of a run that are left, or that an infrastructure error ended."""
    from uwf_eval.run.early import first_worker

    with first_worker(working_folder(), session.env) as worker:
        from uwf_eval.cli.conducting import budget_of, conduct
        from uwf_eval.run.start import resume_run

        most = budget_of(budget) if budget is not None else None
        return conduct(
            session,
            jobs,
            worker,
            lambda client, hands: resume_run(client, run, most, hands),
            keep=keep,
        )
