"""`uwf mcp`: serve uwf as tools to another agent."""

import signal

import click

from uwf_core.commands import Session, command, working_folder


@command("mcp", "uwf mcp", "uwf mcp --allow run", "claude mcp add uwf -- uwf mcp --allow run")
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    type=click.Choice(("run", "answer")),
    help="More than reading: run threads, answer for people. Repeat it for both.",
)
def mcp(session: Session, allowed: tuple[str, ...]) -> None:
    """Serve uwf as tools to an agent or editor, over stdin and stdout.

    The client starts this command in the folder of a project. Its tools read threads and workflows;
    files that the client names must be in that folder.
    """
    from uwf_mcp.serve import serve

    for number in (signal.SIGINT, signal.SIGTERM):
        # The SDK's reader would wait for a further line; the reaper ends an agent that answers.
        signal.signal(number, signal.SIG_DFL)
    assert session.engine.home  # opened now: what is wrong with the settings is reported at once
    serve(session, str(working_folder()), allowed)
