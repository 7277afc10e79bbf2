"""`uwf thread exec`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import print_outcome, running
from uwf_core.cli.session import Session
from uwf_core.cli.words import agent_option, cwd_option, thread_argument
from uwf_core.errors import UsageError


@command(
    "exec",
    "uwf thread exec @last",
    "uwf thread exec 01JD8 --until-done",
    "uwf thread exec 01JD8 -c 3 --agent hermes",
    logged=True,
)
@thread_argument()
@click.option(
    "-c", "--count", type=click.IntRange(min=1), metavar="N", help="Run N steps; 1 by default."
)
@agent_option()
@cwd_option()
@click.option("--background", is_flag=True, help="Run in the background; see `wait` and `stop`.")
@click.option("--until-done", is_flag=True, help="Run until the end, at most 100 steps.")
@click.option(
    "--announce", type=int, hidden=True, help="Descriptor that reports the acquired lock."
)
def exec_(
    session: Session,
    thread: str,
    count: int | None,
    agent: str | None,
    cwd: str | None,
    background: bool,
    until_done: bool,
    announce: int | None,
) -> int:
    """Run the next step of a thread: the work of one role.

    Stops at the end, at a suspension or a failure; call it again to continue. A reported step is
    durable. THREAD is an id, a unique prefix of one, or @last.
    """
    from uwf_core.engine.run import RunOptions, exec_thread

    session.thread = thread
    if until_done and count is not None:
        raise UsageError(
            "-c and --until-done cannot be combined",
            hint="use -c N for N steps, --until-done for all steps",
        )
    options = RunOptions(steps=count or 1, until_done=until_done, agent=agent, cwd=cwd)
    if background:
        from uwf_core.threads.background import exec_in_background

        return print_outcome(session, exec_in_background(session.engine, thread, options))
    with running(session) as (live, cancel):
        outcome = exec_thread(session.engine, thread, options, live, cancel, announce=announce)
    return print_outcome(session, outcome)
