"""`uwf thread resume` and `uwf thread poke`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import run_and_tell
from uwf_core.cli.session import Session
from uwf_core.cli.words import (
    agent_option,
    file_or_text,
    prompt_option,
    prompt_text,
    thread_argument,
)


@command(
    "resume",
    'uwf thread resume @last -p "Use the second option"',
    'uwf thread resume 01JD8 --answer \'{"$status": "approved"}\'',
    "uwf thread resume 01JD8 --answer $status=approved",
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
@agent_option()
def resume(
    session: Session, thread: str, prompt: str | None, answers: tuple[str, ...], agent: str | None
) -> int:
    """Go on with a thread that waits, or reopen a completed one.

    A pending question (`thread show` has its form) takes only --answer.
    """
    from uwf_core.threads.resume import ResumeOptions, resume_thread

    session.thread = thread
    options = ResumeOptions(
        text=None if prompt is None else prompt_text(session, prompt),
        answer="\n".join(file_or_text(each, "--answer") for each in answers) or None,
        agent=agent,
    )
    return run_and_tell(
        session,
        lambda live, cancel: resume_thread(session.engine, thread, options, live, cancel),
    )


@command("poke", 'uwf thread poke @last -p "Also cover the empty list"', logged=True)
@thread_argument()
@prompt_option("The further instruction.")
def poke(session: Session, thread: str, prompt: str) -> int:
    """Run the last step again with a further instruction; the new step replaces it."""
    from uwf_core.threads.resume import poke_thread

    session.thread = thread
    text = prompt_text(session, prompt)
    return run_and_tell(
        session, lambda live, cancel: poke_thread(session.engine, thread, text, live, cancel)
    )
