"""Trials of an edit on the open tasks of a set: for the search, shown like any run."""

from dataclasses import replace
from typing import TYPE_CHECKING

from uwf_core.client import Client
from uwf_core.commands import Session
from uwf_core.errors import UsageError
from uwf_improve.edit.draft import refuse_unfit
from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.sealed.catalog import Sets, secrets_of
from uwf_improve.sealed.trials import Match, match_once, tried

if TYPE_CHECKING:
    from uwf_improve.documents import TriedDocument


def try_edit(
    session: Session, client: Client, edit: WorkflowEdit, name: str, match: Match
) -> "tuple[TriedDocument, int]":
    """Run both versions on the open tasks; the document and the exit code of the run. A run that
    was interrupted is resumed; one that has ended is shown again.

    Raises:
        UsageError: the set has no open tasks. EditRefused: the edit contains texts of tasks.
    """
    state = Sets(client).read(name)
    tasks = [each.name for each in state.tasks if each.side == "open"]
    if not tasks:
        raise UsageError(
            f"the set {name!r} has no open tasks",
            hint=f"`uwf improve seal {name} TASK... --add` adds tasks; the first "
            f"{state.bar.sealed} are sealed",
        )
    refuse_unfit(client, edit, secrets_of(client, name))
    folder = Sets(client).folder(name) / "tasks"
    tasks = [str(folder / each) for each in tasks]
    match = replace(match, name=f"{name}.open.{edit.edit}", tasks=tasks)
    outcome = match_once(session, client, match)
    return tried(edit, outcome, name, screening=False), outcome.code
