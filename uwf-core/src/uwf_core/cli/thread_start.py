"""Create threads: `uwf run`, `uwf thread start`, `fork`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.outcome import running, watch
from uwf_core.cli.params import (
    background_option,
    new_thread,
    no_input_option,
    queue_option,
    start_options,
    step_argument,
    until_done_option,
    wait_limits_option,
)
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import UwfError


@command(
    "run",
    'uwf run fix-bug -p "The total is off by one"',
    "uwf run ./review.yaml -p @task.md --agent human",
    'uwf run fix-bug -p "Off by one" --agent builtin --agent reviewer=claude-code',
    'uwf run fix-bug -p "Off by one" --max-cost 2 --wait-limits 30m',
    'uwf run triage -p "Sort it" --input issue=12 --input labels="[bug, ui]"',
    logged=True,
)
@start_options
@wait_limits_option()
@until_done_option()
@queue_option()
@background_option()
@no_input_option()
def run(
    session: Session,
    until_done: bool,
    queue: bool,
    background: bool,
    no_input: bool,
    wait_limits: float | None,
    **what: Any,
) -> int:
    """Start a workflow and run it until it ends or suspends.

    WORKFLOW is a name, a file or a reference. Stops after 100 steps, with or without --until-done.
    """
    from uwf_core.cli.thread_run import in_background, print_and_ask
    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.run import exec_thread, outcome_after
    from uwf_core.threads.start import start_thread

    start = new_thread(session, **what)
    options, engine = RunOptions(until_done=True, wait_limits=wait_limits), session.engine
    if queue:
        from uwf_core.cli.thread_queue import hand_over
        from uwf_core.threads.queued import start_queued

        return hand_over(
            session,
            options,
            lambda live, _: start_queued(engine, start, live),
            background=background,
        )
    with running(session) as (live, cancel):
        session.thread = thread = start_thread(engine, start, live)["thread"]
        try:
            if background:
                outcome = in_background(session, "exec", thread, options)
            else:
                outcome = exec_thread(engine, thread, options, live, cancel)
        except UwfError as error:  # the thread exists: report it with the error
            outcome = outcome_after(engine, thread, error)
    return print_and_ask(session, outcome, options, no_input=no_input or background)


@command(
    "start",
    'uwf thread start fix-bug -p "The total is off by one"',
    "uwf thread start ./review.yaml -p @task.md --cwd ../project",
    logged=True,
)
@start_options
def start(session: Session, **what: Any) -> None:
    """Create a thread of a workflow. `thread exec` runs it.

    WORKFLOW is a name, a file or a reference.
    """
    from uwf_core.threads.start import start_thread

    options = new_thread(session, **what)
    with watch(session) as live:
        started = start_thread(session.engine, options, live)
    session.thread = started["thread"]
    session.emit(started, started_text)


@command(
    "fork",
    "uwf thread fork 3FQ8K",
    "uwf thread fork 3FQ8K --workflow ./fix-bug.yaml",
    "uwf thread fork 3FQ8K --with-files ../second-try",
    logged=True,
)
@step_argument()
@click.option(
    "--workflow", metavar="WORKFLOW", help="Continue with this workflow: a name, file or reference."
)
@click.option(
    "--with-files",
    "folder",
    metavar="[DIR]",
    is_flag=False,
    flag_value="",
    help="Restore the recorded files after STEP in a new folder DIR, and work there.",
)
def fork(session: Session, step: str, workflow: str | None, folder: str | None) -> None:
    """Start a new thread that shares the chain up to STEP; copies nothing.

    STEP may be a start node. The parent thread is not affected. With --workflow the new thread
    continues with another version; it must have the role of STEP and an edge for its status.

    With --with-files the new thread works in a copy of the folder as it was after STEP: in git a
    new worktree, with the branch uwf/THREAD, else a plain folder. Without DIR it is a folder of
    uwf's home.
    """
    from uwf_core.threads.fork import fork_step

    with watch(session) as live:
        started = fork_step(session.engine, step, workflow, live, folder=folder)
    session.thread = started["thread"]
    session.emit(started, started_text)


def started_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A new thread and the command that runs it."""
    thread = document["thread"]
    return f"{thread}\n" + screen.paint(f"next: uwf thread exec {thread}", "dim")
