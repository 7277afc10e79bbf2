"""Screen an edit: both versions make recorded steps again, each alone, which costs one step instead
of a whole thread. It confirms nothing, and `decide` never reads it.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from uwf_core.client import Client
from uwf_core.commands import Session
from uwf_core.errors import UsageError
from uwf_eval.cli.recorded import selected
from uwf_eval.task.recorded import Selection
from uwf_improve.edit.draft import refuse_unfit
from uwf_improve.edit.parts import targets
from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.sealed.catalog import secrets_of
from uwf_improve.sealed.origins import SCREEN, Origins
from uwf_improve.sealed.trials import Match, match_once, tried

if TYPE_CHECKING:
    from uwf_core.client import StepInput
    from uwf_improve.documents import TriedDocument


def screen_edit(
    session: Session, client: Client, edit: WorkflowEdit, wanted: Selection, match: Match
) -> "tuple[TriedDocument, int]":
    """Make the selected steps again in both versions; the document and the exit code of the run.

    Args:
        match: how; `tasks` has the task of the judges, or nothing: a trial then scores 1 if it
            delivers the recorded status.

    Raises:
        UsageError: a step is of another workflow, or of a thread of which a sealed task was made.
        EditRefused: the edit contains texts of tasks. WrongStateError: a step cannot be made again.
    """
    refuse_unfit(client, edit, secrets_of(client, None))
    steps = _open_steps(session, client, wanted)
    _check_workflow(client, edit, steps)
    _note_unchanged(session, client, edit, steps)
    match = replace(match, name=f"{SCREEN}{edit.edit}", steps=steps)
    outcome = match_once(session, client, match)
    return tried(edit, outcome, None, screening=True), outcome.code


def _open_steps(session: Session, client: Client, wanted: Selection) -> "Sequence[StepInput]":
    """The steps without those of threads of which sealed tasks were made: an edit that was chosen
    by them would meet their tasks again in the sealed test.
    """
    steps = selected(session, client, wanted).steps
    origins = Origins(client)
    sealed = origins.sealed()
    left = [each for each in steps if not sealed & origins.marks(each.thread)]
    hidden = len(steps) - len(left)
    if hidden and (not left or not wanted.workflows):
        raise UsageError(
            f"{hidden} of the steps are of threads of which sealed tasks were made",
            hint="a search must not see them; name steps of other threads",
        )
    if hidden:
        session.note(f"note: left out: {hidden} steps of threads of which sealed tasks were made")
    return left


def _check_workflow(client: Client, edit: WorkflowEdit, steps: "Sequence[StepInput]") -> None:
    for each in steps:
        name = client.nodes.get(each.workflow)["name"]
        if name != edit.workflow:
            raise UsageError(
                f"step {each.step} is of the workflow {name!r}, and the edit changes "
                f"{edit.workflow!r}",
                hint=f"name steps of threads of {edit.workflow}",
            )


def _note_unchanged(
    session: Session, client: Client, edit: WorkflowEdit, steps: "Sequence[StepInput]"
) -> None:
    """Name the roles of which both versions make the same step: a difference is chance."""
    places = [each.place for each in edit.changes]
    if any(each.startswith("skills.") for each in places):
        return
    changed = {place.split(".")[1] for place in places if place.startswith("roles.")}
    changed |= {role for place, role in targets(client.workflow(edit.challenger)).items()
                if place in places}  # fmt: skip
    for role in dict.fromkeys(each.role for each in steps):
        if role not in changed:
            session.note(f"note: the edit changes no text of the role {role!r}")
