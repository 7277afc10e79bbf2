"""Start and run threads: `uwf run`, `uwf thread start`, `exec`, `resume`, `poke`, `fork`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.outcome import print_outcome, running, watch
from uwf_core.cli.params import (
    background_option,
    fields_text,
    prompt_option,
    prompt_text,
    run_options,
    start_options,
    step_argument,
    thread_argument,
    until_done_option,
)
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session, working_folder
from uwf_core.errors import UsageError, UwfError

if TYPE_CHECKING:
    from uwf_core.engine.results import Outcome
    from uwf_core.engine.run import RunOptions
    from uwf_core.threads.start import StartOptions


@command(
    "run",
    'uwf run fix-bug -p "The total is off by one"',
    "uwf run ./review.yaml -p @task.md --agent human",
    'uwf run fix-bug -p "Off by one" --agent builtin --agent reviewer=claude-code',
    'uwf run triage -p "Sort it" --input issue=12 --input labels="[bug, ui]"',
    logged=True,
)
@start_options
@until_done_option()
@background_option()
def run(session: Session, until_done: bool, background: bool, **what: Any) -> int:
    """Start a workflow and run it until it ends or suspends.

    WORKFLOW is a name, a file or a reference. Stops after 100 steps, with or without --until-done.
    """
    from uwf_core.engine.run import RunOptions, exec_thread, outcome_after
    from uwf_core.threads.start import start_thread

    start = _new_thread(session, **what)
    options, engine = RunOptions(until_done=True), session.engine
    with running(session) as (live, cancel):
        session.thread = thread = start_thread(engine, start, live)["thread"]
        try:
            if background:
                outcome = _in_background(session, "exec", thread, options)
            else:
                outcome = exec_thread(engine, thread, options, live, cancel)
        except UwfError as error:  # the thread exists: report it with the error
            outcome = outcome_after(engine, thread, error)
    return print_outcome(session, outcome, until_done=True)


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

    options = _new_thread(session, **what)
    with watch(session) as live:
        started = start_thread(session.engine, options, live)
    session.thread = started["thread"]
    session.emit(started, started_text)


def _new_thread(
    session: Session,
    workflow: str,
    prompt: str,
    cwd: str | None,
    agents: tuple[str, ...],
    inputs: tuple[str, ...],
) -> "StartOptions":
    from uwf_core.agents.bindings import parse_bindings
    from uwf_core.threads.start import StartOptions

    bindings = parse_bindings(agents)
    return StartOptions(
        workflow=workflow,
        prompt=prompt_text(session, prompt),
        cwd=cwd if cwd is not None else working_folder(),
        agent=bindings.agent,
        input=fields_text(inputs, "--input"),
        bindings=bindings.roles,
    )


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
@run_options
def exec_(session: Session, thread: str, count: int | None, background: bool, **how: Any) -> int:
    """Run the next step of a thread: the work of one role.

    Stops at the end, at a suspension or a failure; call it again to continue. A reported step is
    durable. THREAD is an id, a unique prefix of one, or @last.
    """
    from uwf_core.engine.run import RunOptions, exec_thread

    session.thread = thread
    if how["until_done"] and count is not None:
        raise UsageError(
            "-c and --until-done cannot be combined",
            hint="use -c N for N steps, --until-done for all steps",
        )
    options = RunOptions(count or 1, **how)
    if background:
        outcome = _in_background(session, "exec", thread, options)
        return print_outcome(session, outcome)
    with running(session) as (live, cancel):
        outcome = exec_thread(session.engine, thread, options, live, cancel)
    return print_outcome(session, outcome, until_done=options.until_done)


def _in_background(
    session: Session, command: str, thread: str, options: "RunOptions", **texts: str | None
) -> "Outcome":
    from uwf_core.threads.background import run_in_background

    given = {f"--{name}": text for name, text in texts.items()}
    return run_in_background(session.engine, command, thread, options, given)


@command(
    "resume",
    'uwf thread resume @last -p "Use the second option"',
    "uwf thread resume @last --status approved",
    "uwf thread resume 01JD8 --status rejected --answer comments='Too long'",
    "uwf thread resume 01JD8 --answer @answer.json",
    logged=True,
)
@thread_argument()
@prompt_option("A further instruction.", required=False)
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="ANSWER",
    help="Answer to a pending question: field=value (may be repeated), JSON, or @file.",
)
@click.option("--status", metavar="NAME", help="Short for --answer '$status=NAME'.")
@run_options
def resume(
    session: Session,
    thread: str,
    prompt: str | None,
    answers: tuple[str, ...],
    status: str | None,
    background: bool,
    **how: Any,
) -> int:
    """Continue a suspended thread, or reopen a completed one.

    A pending question expects --answer or --status; `thread show` prints its form.
    """
    from uwf_core.engine.run import RunOptions
    from uwf_core.threads.resume import Input, resume_thread

    session.thread = thread
    first = [] if status is None else [f"$status={status}"]
    answer = fields_text(answers, "--answer", first, "--status or ")
    options = RunOptions(**how)
    text = None if prompt is None else prompt_text(session, prompt)
    if background:
        outcome = _in_background(session, "resume", thread, options, prompt=text, answer=answer)
        return print_outcome(session, outcome)
    with running(session) as (live, cancel):
        outcome = resume_thread(session.engine, thread, Input(text, answer), options, live, cancel)
    return print_outcome(session, outcome, until_done=options.until_done)


@command(
    "poke",
    'uwf thread poke @last -p "Also cover the empty list"',
    'uwf thread poke 01JD8 -p "Be brief" --agent hermes --until-done',
    logged=True,
)
@thread_argument()
@prompt_option("The further instruction.")
@run_options
def poke(session: Session, thread: str, prompt: str, background: bool, **how: Any) -> int:
    """Rerun the last step with a further instruction; the new step replaces it."""
    from uwf_core.engine.run import RunOptions
    from uwf_core.threads.resume import poke_thread

    session.thread = thread
    options, text = RunOptions(**how), prompt_text(session, prompt)
    if background:
        outcome = _in_background(session, "poke", thread, options, prompt=text)
        return print_outcome(session, outcome)
    with running(session) as (live, cancel):
        outcome = poke_thread(session.engine, thread, text, options, live, cancel)
    return print_outcome(session, outcome, until_done=options.until_done)


@command(
    "fork",
    "uwf thread fork 3FQ8K",
    "uwf thread fork 3FQ8K --workflow ./fix-bug.yaml",
    logged=True,
)
@step_argument()
@click.option(
    "--workflow", metavar="WORKFLOW", help="Continue with this workflow: a name, file or reference."
)
def fork(session: Session, step: str, workflow: str | None) -> None:
    """Start a new thread that shares the chain up to STEP; copies nothing.

    STEP may be a start node. The parent thread is not affected. With --workflow the new thread
    continues with another version; it must have the role of STEP and an edge for its status.
    """
    from uwf_core.threads.fork import fork_step

    with watch(session) as live:
        started = fork_step(session.engine, step, workflow, live)
    session.thread = started["thread"]
    session.emit(started, started_text)


def started_text(document: Mapping[str, Any], screen: Screen) -> str:
    """A new thread and the command that runs it."""
    thread = document["thread"]
    return f"{thread}\n" + screen.paint(f"next: uwf thread exec {thread}", "dim")
