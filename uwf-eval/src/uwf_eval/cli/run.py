"""`uwf-eval run` and `uwf-eval resume`."""

import os
from typing import Any

import click

from uwf_core.commands import Session, command, working_folder
from uwf_eval.cli.recorded import recorded_options

_MOST_JOBS = 64


def _seed(_context: Any, _parameter: Any, value: int | None) -> int:
    """The given seed, else a random one."""
    return int.from_bytes(os.urandom(4)) >> 1 if value is None else value


@command(
    "run",
    "uwf-eval run examples/eval/fix-off-by-one --repeat 5",
    "uwf-eval run tasks/* --agent claude-code --agent hermes --jobs 4 --budget '$5,1h'",
    "uwf-eval run my-task --workflow old.yaml --workflow new.yaml --repeat 3",
    "uwf-eval run --from-workflow triage --role sorter --newest 50 --agent claude-code",
    logged=True,
)
@click.argument("tasks", nargs=-1, metavar="[TASK...]")
@recorded_options
@click.option("--agent", "agents", multiple=True, metavar="A", help="Agent to test; repeatable.")
@click.option("--model", "models", multiple=True, metavar="M",
              help="Configured model to test; repeatable.")  # fmt: skip
@click.option("--workflow", "workflows", multiple=True, metavar="W",
              help="Workflow to test instead of the tasks' own; repeatable.")  # fmt: skip
@click.option("--repeat", type=click.IntRange(1, 100_000), default=1, metavar="N",
              help="Number of trials of each combination.")  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, _MOST_JOBS), default=1, metavar="J",
              help="Number of trials that run at the same time.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**53), callback=_seed, metavar="S",
              help="Seed of the order of trials.")  # fmt: skip
@click.option("--budget", metavar="B",
              help="Limit of the run, such as '$2.50,1h,500ktok,20trials'.")  # fmt: skip
@click.option("--name", default="", metavar="NAME", help="Name of the run.")
@click.option("--keep", is_flag=True, help="Keep the folders of the trials.")
def run(session: Session, tasks: tuple[str, ...], keep: bool, **options: Any) -> int:
    """Run tasks and judge every trial.

    With --from-step, --from-thread or --from-workflow, the trials are recorded steps, each made
    again alone, in place of the cases of TASK. TASK is optional then: without judges, a trial
    passes if it delivers the recorded $status.
    """
    from uwf_eval.run.worker_process import first_worker

    # Start it before the other imports: its own imports take as long.
    with first_worker(working_folder(), session.env) as worker:
        from uwf_eval.cli.recorded import selection_of, with_steps
        from uwf_eval.cli.run_command import conduct, request_of
        from uwf_eval.run.start import start_run

        wanted = selection_of(tasks, options)
        request = request_of(tasks, **options)
        return conduct(
            session,
            request.jobs,
            worker,
            lambda client, services: start_run(
                client, with_steps(session, client, request, wanted), services
            ),
            keep=keep,
        )


@command(
    "resume",
    "uwf-eval resume @last",
    "uwf-eval resume 01JC --jobs 4",
    "uwf-eval resume @last --task my-task",
    logged=True,
)
@click.argument("run", metavar="RUN")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, metavar="J",
              help="Number of trials that run at the same time.")  # fmt: skip
@click.option("--budget", metavar="B", help="Limit that replaces the run's own.")
@click.option("--task", "tasks", multiple=True, metavar="TASK",
              help="Corrected task, in place of the run's copy; repeatable.")  # fmt: skip
@click.option("--keep", is_flag=True, help="Keep the folders of the trials.")
def resume(
    session: Session, run: str, jobs: int, budget: str | None, tasks: tuple[str, ...], keep: bool
) -> int:
    """Run the remaining trials of a run, and those with an infrastructure error.

    A trial that only its judges could not judge is judged again: no agent runs. A run uses its own
    copy of each task; --task replaces the copy by the corrected task.
    """
    from uwf_eval.run.worker_process import first_worker

    with first_worker(working_folder(), session.env) as worker:
        from uwf_eval.cli.run_command import budget_of, conduct
        from uwf_eval.run.start import resume_run

        most = budget_of(budget) if budget is not None else None
        return conduct(
            session,
            jobs,
            worker,
            lambda client, services: resume_run(client, run, most, services, tasks),
            keep=keep,
        )
