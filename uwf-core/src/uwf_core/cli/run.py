"""`uwf run`: start and exec until done, in one."""

import click

from uwf_core.cli.frame import command
from uwf_core.cli.outcome import print_outcome, running
from uwf_core.cli.session import Session
from uwf_core.cli.thread.start import start_options
from uwf_core.cli.words import agent_option, prompt_option


@command(
    "run",
    'uwf run fix-bug -p "The total is off by one"',
    "uwf run ./review.yaml -p @task.md --agent human",
    logged=True,
)
@click.argument("workflow", metavar="WORKFLOW")
@prompt_option("The task.")
@click.option(
    "--cwd", metavar="DIR", help="Working folder of the agents (default: the current one)."
)
@agent_option("Agent for the roles of this thread.")
def run(session: Session, workflow: str, prompt: str, cwd: str | None, agent: str | None) -> int:
    """Start a workflow and run it until it ends or suspends.

    WORKFLOW is a name, a file or a reference. Stops after 100 steps.
    """
    from uwf_core.engine.run import RunOptions, exec_started
    from uwf_core.threads.start import start_thread

    options = start_options(session, workflow, prompt, cwd, agent)
    with running(session) as (live, cancel):
        session.thread = start_thread(session.engine, options, live)["thread"]
        outcome = exec_started(
            session.engine, session.thread, RunOptions(until_done=True), live, cancel
        )
    return print_outcome(session, outcome)
