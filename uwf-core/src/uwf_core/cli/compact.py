"""`uwf thread compact`: a summary in place of older steps, for new sessions."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.outcome import running
from uwf_core.cli.params import agent_option, prompt_text, thread_argument
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session


@command(
    "compact",
    "uwf thread compact @last --agent builtin",
    "uwf thread compact 01JD8 --text @summary.md --up-to 3FQ8K",
    logged=True,
)
@thread_argument()
@click.option("--text", metavar="TEXT", help="The summary. `-` reads stdin, `@file` a file.")
@agent_option("Let this agent write the summary: an alias, a name or a command.")
@click.option("--up-to", metavar="STEP", help="The newest step to summarize (default: the newest).")
def compact(
    session: Session, thread: str, text: str | None, agent: str | None, up_to: str | None
) -> None:
    """Store a summary that new sessions get in place of older steps; nothing is deleted.

    A session that exists continues with what it knows. Give the summary with --text, or let
    --agent write it in one call, whose usage counts. `thread read` shows all steps and the summary.
    """
    from uwf_core.threads.compact import CompactOptions, compact_thread

    session.thread = thread
    given = None if text is None else prompt_text(session, text, "--text")
    options = CompactOptions(given, agent, up_to)
    with running(session) as (live, cancel):
        document = compact_thread(session.engine, thread, options, live, cancel)
    session.thread = document["thread"]
    session.emit(document, compacted_text)


def compacted_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`thread compact`: the summary, and up to which step."""
    origin = f"thread {document['thread']} is compacted up to step {document['number']}"
    if document["agent"] is not None:
        origin += f" · {document['agent']} · {amounts.usage(document['usage'])}"
    return f"{document['summary'].strip()}\n\n{screen.paint(origin, 'dim')}"
