"""`uwf thread resume` and `uwf thread poke`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import print_outcome, running
from uwf_core.cli.session import Session
from uwf_core.cli.words import (
    agent_option,
    cwd_option,
    file_or_text,
    prompt_option,
    prompt_text,
    thread_argument,
)
from uwf_core.errors import UsageError


@command(
    "resume",
    'uwf thread resume @last -p "Use the second option"',
    'uwf thread resume 01JD8 --answer \'{"$status": "approved"}\'',
    "uwf thread resume 01JD8 --status approved --answer comments=Thanks",
    logged=True,
)
@thread_argument()
@prompt_option("A further instruction.", required=False)
@click.option(
    "--answer",
    "answers",
    multiple=True,
    metavar="ANSWER",
    help="Answer to a pending question: JSON, @file, or field=value (may be repeated).",
)
@click.option("--status", metavar="NAME", help="Short for --answer '$status=NAME'.")
@agent_option()
@cwd_option()
def resume(
    session: Session,
    thread: str,
    prompt: str | None,
    answers: tuple[str, ...],
    status: str | None,
    agent: str | None,
    cwd: str | None,
) -> int:
    """Continue a suspended thread, or reopen a completed one.

    A pending question expects --answer or --status; `thread show` prints its form.
    """
    from uwf_core.threads.resume import ResumeOptions, resume_thread

    session.thread = thread
    lines = [file_or_text(each, "--answer") for each in answers]
    if status is not None:
        if any(line.lstrip().startswith("{") for line in lines):
            raise UsageError(
                "--status and an answer in JSON exclude each other",
                hint="write $status into the JSON, or the other fields as --answer field=value",
            )
        lines.append(f"$status={status}")
    options = ResumeOptions(
        text=None if prompt is None else prompt_text(session, prompt),
        answer="\n".join(lines) or None,
        agent=agent,
        cwd=cwd,
    )
    with running(session) as (live, cancel):
        outcome = resume_thread(session.engine, thread, options, live, cancel)
    return print_outcome(session, outcome)


@command("poke", 'uwf thread poke @last -p "Also cover the empty list"', logged=True)
@thread_argument()
@prompt_option("The further instruction.")
@cwd_option()
def poke(session: Session, thread: str, prompt: str, cwd: str | None) -> int:
    """Rerun the last step with a further instruction; the new step replaces it."""
    from uwf_core.threads.resume import poke_thread

    session.thread = thread
    text = prompt_text(session, prompt)
    with running(session) as (live, cancel):
        outcome = poke_thread(session.engine, thread, text, live, cancel, cwd)
    return print_outcome(session, outcome)
