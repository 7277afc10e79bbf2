"""`uwf improve list` and `show`: drafted edits."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.client import Client
from uwf_core.commands import Column, Screen, clean, table
from uwf_core.errors import StoreError
from uwf_core.fields.records import write_record
from uwf_improve.edit.catalog import Edits
from uwf_improve.edit.records import WorkflowEdit
from uwf_improve.sealed.catalog import Sets, set_row

if TYPE_CHECKING:
    from uwf_improve.documents import EditDocument, EditRow, EditsDocument, ListedSet


def list_edits(client: Client) -> "EditsDocument":
    """The edits with their states, and the sets."""
    edits: list[EditRow] = [
        {"edit": edit.edit, "workflow": edit.workflow, "state": state, "author": edit.author,
         "places": [each.place for each in edit.changes], "draftedAtMs": edit.drafted_at_ms}
        for edit, state in Edits(client).all()
    ]  # fmt: skip
    known = Sets(client)
    sets: list[ListedSet] = [
        {**set_row(each), "problem": _problem(known, each.set)} for each in known.known()
    ]
    return {"edits": edits, "sets": sets}


def _problem(sets: Sets, name: str) -> str | None:
    """Why the tests of a set cannot be trusted."""
    try:
        sets.read(name)
    except StoreError as error:
        return error.message
    return None


_EDITS = (
    Column("edit", "EDIT"),
    Column("workflow", "WORKFLOW", least=8),
    Column("state", "STATE"),
    Column("what", "CHANGES", least=10, below=True),
)
_SETS = (
    Column("set", "SET", least=6),
    Column("sealed", "SEALED", right=True),
    Column("open", "OPEN", right=True),
    Column("tests", "TESTS", right=True),
    Column("nextLevel", "NEXT ALPHA", right=True),
)


def list_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The output of `list`."""
    rows = [{**each, "what": ", ".join(each["places"])} for each in document["edits"]]
    parts = [table(_EDITS, rows, screen) if rows else "no edits"]
    parts.append(table(_SETS, document["sets"], screen) if document["sets"] else "no sets")
    parts += [f"{each['set']}: {each['problem']}" for each in document["sets"] if each["problem"]]
    return "\n\n".join(parts)


def show_edit(client: Client, edit: str) -> "EditDocument":
    """An edit of the catalog."""
    return edit_document(*Edits(client).find(edit))


def edit_document(edit: WorkflowEdit, state: str) -> "EditDocument":
    """An edit with its state and its patch."""
    return {**write_record(edit), "state": state, "patch": edit.patch()}


def edit_text(document: Mapping[str, Any], screen: Screen) -> str:
    """An edit for people: why, the findings, and the patch."""
    lines = [f"edit {document['edit']} of {document['workflow']}: {document['state']}"]
    if document["why"]:
        lines.append(f"why: {clean(document['why'])}")
    for each in document["findings"]:
        lines.append(f"finding {each['number']}: {clean(each['text'])}")
    replayed = ", ".join(f"{count} {kind}" for kind, count in document["replayed"].items())
    lines.append(f"replayed threads: {replayed or 'none'}")
    lines += ["", clean(document["patch"]).rstrip()]
    return "\n".join(lines)
