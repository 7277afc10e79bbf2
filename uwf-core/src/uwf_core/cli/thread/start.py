"""`uwf thread start`."""

from typing import TYPE_CHECKING

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import watch
from uwf_core.cli.session import Session, working_folder
from uwf_core.cli.words import agent_option, prompt_option, prompt_text

if TYPE_CHECKING:
    from uwf_core.threads.start import StartOptions


@command(
    "start",
    'uwf thread start fix-bug -p "The total is off by one"',
    "uwf thread start ./review.yaml -p @task.md --cwd ../project",
    logged=True,
)
@click.argument("workflow", metavar="WORKFLOW")
@prompt_option("The task.")
@click.option(
    "--cwd", metavar="DIR", help="Working folder of the agents (default: the current one)."
)
@agent_option("Agent for the roles of this thread.")
def start(session: Session, workflow: str, prompt: str, cwd: str | None, agent: str | None) -> None:
    """Create a thread of a workflow. `thread exec` runs it.

    WORKFLOW is a name, a file or a reference.
    """
    from uwf_core.cli.render.thread import started_text
    from uwf_core.threads.start import start_thread

    options = start_options(session, workflow, prompt, cwd, agent)
    with watch(session) as live:
        started = start_thread(session.engine, options, live)
    session.thread = started["thread"]
    session.emit(started, started_text)


def start_options(
    session: Session, workflow: str, prompt: str, cwd: str | None, agent: str | None
) -> "StartOptions":
    """The options of a new thread."""
    from uwf_core.threads.start import StartOptions

    return StartOptions(
        workflow=workflow,
        prompt=prompt_text(session, prompt),
        cwd=cwd if cwd is not None else working_folder(),
        agent=agent,
    )
