"""`uwf improve report`: hand an edit over to those who decide."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.commands import Screen, Session, clean, command, working_folder


@command(
    "report",
    "uwf improve report @last --format text > report.md",
    "uwf improve report @last --apply",
    logged=True,
)
@click.argument("edit", metavar="EDIT")
@click.option("--apply", "apply_", is_flag=True, help="Write the edit to the workflow file.")
@click.option("--untested", is_flag=True, help="With --apply: also an edit that is not accepted.")
def report(session: Session, edit: str, apply_: bool, untested: bool) -> None:
    """Report an edit: what was seen, what changes, how much better it is at least, its cost.

    The report is Markdown for people who know the work, not statistics. --apply writes an accepted
    edit to the file of the workflow, if that has not changed since.
    """
    from uwf_core.client import Client
    from uwf_improve.edit.catalog import Edits
    from uwf_improve.handover.apply import apply_edit
    from uwf_improve.handover.report import report_of

    with Client.open(env=session.env, cwd=working_folder()) as client:
        found, _ = Edits(client).find(edit)
        written = apply_edit(client, found, untested=untested) if apply_ else []
        document = {**report_of(client, found), "written": written}
    session.emit_line(document, _text)


def _text(document: Mapping[str, Any], _screen: Screen) -> str:
    written = [f"written: {each}" for each in document["written"]]
    return "\n".join([clean(document["report"]).rstrip(), *written])
