"""`uwf improve report`: hand an edit over to those who decide."""

from collections.abc import Mapping
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Screen, Session, clean, working_folder
from uwf_improve.edit.catalog import Edits
from uwf_improve.handover.apply import apply_edit
from uwf_improve.handover.report import report_of


def report(session: Session, edit: str, apply: bool, untested: bool) -> None:
    """Report an edit, and apply it."""
    with Client.open(env=session.env, cwd=working_folder()) as client:
        found, _ = Edits(client).find(edit)
        written = apply_edit(client, found, untested=untested) if apply else []
        document = {**report_of(client, found), "written": written}
    session.emit_line(document, _text)


def _text(document: Mapping[str, Any], _screen: Screen) -> str:
    written = [f"written: {each}" for each in document["written"]]
    return "\n".join([clean(document["report"]).rstrip(), *written])
