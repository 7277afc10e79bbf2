"""`uwf step ask`."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import running
from uwf_core.cli.session import Session
from uwf_core.cli.words import agent_option, prompt_option, prompt_text, step_argument


@command("ask", 'uwf step ask 3FQ8K -p "Why did you leave the cache alone?"', logged=True)
@step_argument()
@prompt_option("The question.")
@agent_option()
@click.option("--no-fork", is_flag=True, help="Ask a new session that gets the record of the step.")
def ask(session: Session, step: str, prompt: str, agent: str | None, no_fork: bool) -> None:
    """Ask the session of a past step a question; the thread stays unchanged.

    The answer shows whether it came from that session (original) or from a new one that
    got the record of the step (reconstructed).
    """
    from uwf_core.cli.render.step import answer_text
    from uwf_core.threads.ask import AskOptions, ask_step

    options = AskOptions(text=prompt_text(session, prompt), agent=agent, fork=not no_fork)
    with running(session) as (live, cancel):
        answer = ask_step(session.engine, step, options, live, cancel)
    session.thread = answer["thread"]
    session.emit(answer, answer_text)
