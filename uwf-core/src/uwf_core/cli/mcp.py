"""`uwf mcp`: serve uwf as tools to another agent."""

import signal

import click

from uwf_core.cli.command import command
from uwf_core.cli.session import Session, working_folder

ALLOW = ("run", "answer")


@command("mcp", "uwf mcp", "uwf mcp --allow run", "claude mcp add uwf -- uwf mcp --allow run")
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    type=click.Choice(ALLOW),
    help="More than reading: run threads, answer for people. Repeat it for both.",
)
def mcp(session: Session, allowed: tuple[str, ...]) -> None:
    """Serve uwf as tools to an agent or editor, over stdin and stdout.

    The client starts this command in the folder of a project. Its tools read threads and workflows;
    files that the client names must be in that folder.
    """
    try:
        from uwf_core.mcp.serve import Serving, serve
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("uwf_core"):
            raise
        from uwf_core.plugins.repair import not_installed

        raise not_installed("`uwf mcp`", "uwf-core[mcp]") from error
    from uwf_core.cli.error_report import explain, redacted
    from uwf_core.cli.prompt import document_text
    from uwf_core.escape import clean_document
    from uwf_core.mcp.driver import ServedFolder
    from uwf_core.mcp.skill import TOOLS_HEADING, introduction

    for number in (signal.SIGINT, signal.SIGTERM):
        # The SDK's reader would wait for a further line; the reaper ends an agent that answers.
        signal.signal(number, signal.SIG_DFL)
    skill = document_text("usage")
    assert session.engine.home  # opened now: what is wrong with the settings is reported at once
    serve(
        Serving(
            ServedFolder(session.env, working_folder()),
            allowed,
            skill,
            f"{introduction(document_text('bootstrap'))}\n\n{introduction(skill, TOOLS_HEADING)}",
            clean_document,
            lambda problem: redacted(session, explain(problem).document()),
        )
    )
