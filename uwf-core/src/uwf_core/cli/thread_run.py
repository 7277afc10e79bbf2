"""Run threads: `uwf thread exec`, `resume`, `poke`."""

from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.outcome import print_outcome, running
from uwf_core.cli.params import (
    fields_text,
    file_or_text,
    prompt_option,
    prompt_text,
    queue_option,
    run_options,
    thread_argument,
)
from uwf_core.cli.session import Session
from uwf_core.cli.shutdown import cancel_on_signals
from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.results import Outcome


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
@click.option("--report", is_flag=True, hidden=True, help="Report events as lines of JSON.")
@queue_option()
@run_options
def exec_(
    session: Session,
    thread: str,
    count: int | None,
    report: bool,
    queue: bool,
    background: bool,
    no_input: bool,
    **how: Any,
) -> int:
    """Run the next step of a thread: the work of one role.

    Stops at the end, at a suspension or a failure; call it again to continue. A reported step is
    durable. THREAD is an id, a unique prefix of one, or @last.
    """
    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.run import exec_thread

    session.thread = thread
    if how["until_done"] and count is not None:
        raise UsageError(
            "-c and --until-done cannot be combined",
            hint="use -c N for N steps, --until-done for all steps",
        )
    options = RunOptions(count, **how)
    if queue:
        from uwf_core.cli.thread_queue import hand_over
        from uwf_core.threads.queued import queue_thread

        head = options.head
        return hand_over(
            session,
            options,
            lambda live, _: queue_thread(session.engine, thread, live, head),
            background=background,
        )
    if background:
        outcome = in_background(session, "exec", thread, options)
        return print_outcome(session, outcome)
    if report:
        return _reported(session, thread, options)
    with running(session) as (live, cancel):
        outcome = exec_thread(session.engine, thread, options, live, cancel)
    return print_and_ask(session, outcome, options, no_input=no_input)


def print_and_ask(
    session: Session, outcome: "Outcome", options: "RunOptions", *, no_input: bool
) -> int:
    """Ask the person at the terminal what the run asks, then print the outcome."""
    was_asked = False
    if not no_input and outcome.error is None and outcome.document["suspendReason"] == "role":
        from uwf_core.cli.asking import answered_here

        outcome, was_asked = answered_here(session, outcome, options)
    until_done = options.until_done
    return print_outcome(session, outcome, until_done=until_done, was_asked=was_asked)


def _reported(session: Session, thread: str, options: "RunOptions") -> int:
    """Run a branch for the process that has started this one."""
    from uwf_core.engine.report import Reporter
    from uwf_core.engine.run import exec_thread

    reporter = Reporter(session.write)
    with cancel_on_signals(session) as cancel:
        outcome = exec_thread(session.engine, thread, options, reporter, cancel)
    reporter.outcome(session.engine, outcome)
    return outcome.exit_code


def in_background(
    session: Session,
    command: str,
    thread: str,
    options: "RunOptions",
    flags: "Sequence[str]" = (),
    **texts: str | None,
) -> "Outcome":
    """Run a thread in the background; `texts` and `flags` are further options."""
    from uwf_core.threads.background import run_in_background

    given = {f"--{name}": text for name, text in texts.items()}
    return run_in_background(session.engine, command, thread, options, given, flags)


@command(
    "resume",
    'uwf thread resume @last -p "Use the second option"',
    "uwf thread resume @last --status approved",
    "uwf thread resume 01JD8 --status rejected --answer comments='Too long'",
    "uwf thread resume 01JD8 --answer @answer.json",
    "uwf thread resume 01JD8 --grant cost=5",
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
@click.option(
    "--grant",
    "grants",
    multiple=True,
    metavar="LIMIT=AMOUNT",
    help="At a limit: add cost=5, tokens=N, steps=N or minutes=M; by default the same allowance.",
)
@click.option("--status", metavar="NAME", help="Short for --answer '$status=NAME'.")
@click.option(
    "--without-answer",
    is_flag=True,
    help="Let a role that asks without a form continue; you answer nothing.",
)
@queue_option()
@run_options
def resume(
    session: Session,
    thread: str,
    prompt: str | None,
    answers: tuple[str, ...],
    grants: tuple[str, ...],
    status: str | None,
    without_answer: bool,
    queue: bool,
    background: bool,
    no_input: bool,
    **how: Any,
) -> int:
    """Continue a suspended thread, or reopen a completed one.

    A question with a form expects --answer or --status; `thread show` prints the form. Any other
    question expects -p, or --without-answer.
    """
    from uwf_core.engine.context import RunOptions
    from uwf_core.threads.resume import Input, resume_thread

    session.thread = thread
    first = [] if status is None else [f"$status={status}"]
    answer = fields_text(answers, "--answer", first, "--status or ")
    options = RunOptions(**how)
    text = None if prompt is None else prompt_text(session, prompt)
    granted = [file_or_text(each, "--grant") for each in grants]
    said = Input(text, answer, granted, without_answer)
    if queue:
        from uwf_core.cli.thread_queue import hand_over
        from uwf_core.threads.queued import queue_said

        head = options.head
        return hand_over(
            session,
            options,
            lambda live, cancel: queue_said(session.engine, thread, said, live, cancel, head),
            background=background,
        )
    if background:
        texts = {"prompt": text, "answer": answer, "grant": ",".join(grants)}
        flags = ["--without-answer"] if without_answer else []
        outcome = in_background(session, "resume", thread, options, flags, **texts)
        return print_outcome(session, outcome)
    with running(session) as (live, cancel):
        outcome = resume_thread(session.engine, thread, said, options, live, cancel)
    return print_and_ask(session, outcome, options, no_input=no_input)


@command(
    "poke",
    'uwf thread poke @last -p "Also cover the empty list"',
    'uwf thread poke 01JD8 -p "Be brief" --agent hermes --until-done',
    logged=True,
)
@thread_argument()
@prompt_option("The further instruction.")
@run_options
def poke(
    session: Session, thread: str, prompt: str, background: bool, no_input: bool, **how: Any
) -> int:
    """Rerun the last step with a further instruction; the new step replaces it."""
    from uwf_core.engine.context import RunOptions
    from uwf_core.threads.resume import poke_thread

    session.thread = thread
    options, text = RunOptions(**how), prompt_text(session, prompt)
    if background:
        outcome = in_background(session, "poke", thread, options, prompt=text)
        return print_outcome(session, outcome)
    with running(session) as (live, cancel):
        outcome = poke_thread(session.engine, thread, text, options, live, cancel)
    return print_and_ask(session, outcome, options, no_input=no_input)
