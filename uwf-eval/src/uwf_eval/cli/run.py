"""`uwf eval run` and `uwf eval resume`."""

from collections.abc import Sequence
from typing import Any

from uwf_core.commands import Session, working_folder
from uwf_eval.run.worker_process import first_worker


def run(session: Session, tasks: Sequence[str], keep: bool, **options: Any) -> int:
    """Run tasks, or recorded steps."""
    # Start it before the other imports: its own imports take as long.
    with first_worker(working_folder(), session.env) as worker:
        from uwf_eval.cli.recorded import selection_of
        from uwf_eval.cli.run_command import conduct, request_of, with_steps
        from uwf_eval.run.start import start_run

        wanted = selection_of(tasks, options)
        request = request_of(tasks, options)
        return conduct(
            session,
            request.jobs,
            worker,
            lambda client, services: start_run(
                client, with_steps(session, client, request, wanted), services
            ),
            keep=keep,
        )


def resume(
    session: Session, run: str, jobs: int, budget: str | None, task: Sequence[str], keep: bool
) -> int:
    """Run the remaining trials of a run."""
    with first_worker(working_folder(), session.env) as worker:
        from uwf_eval.cli.run_command import budget_of, conduct
        from uwf_eval.run.start import resume_run

        most = budget_of(budget) if budget is not None else None
        return conduct(
            session,
            jobs,
            worker,
            lambda client, services: resume_run(client, run, most, services, task),
            keep=keep,
        )
