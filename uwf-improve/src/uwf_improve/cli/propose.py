"""`uwf improve propose`, `list` and `show`: drafted edits."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from uwf_core.commands import (
    Column,
    Moment,
    Screen,
    Session,
    cancel_on_signals,
    clean,
    command,
    table,
    working_folder,
)
from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_core.client import Cancel, Client
    from uwf_improve.edit.draft import Draft


@command(
    "propose",
    "uwf improve propose fix-bug --edited fix-bug-2.yaml --finding 1 --why 'asks for a source'",
    "uwf improve propose fix-bug --text roles.writer.goal='Cite a source for each number.'",
    "uwf improve propose fix-bug --agent claude-code",
)
@click.argument("workflow", metavar="WORKFLOW")
@click.option("--edited", metavar="PATH", help="The edited file, or a folder with it and skills/.")
@click.option("--patch", metavar="FILE", help="A patch of the workflow file, as of git diff.")
@click.option(
    "--text", "texts", multiple=True, metavar="PLACE=TEXT",
    help="New text of a place such as roles.writer.goal; repeatable; @FILE reads it.",
)  # fmt: skip
@click.option("--agent", metavar="A", help="Let this agent draft it, from findings.")
@click.option("--model", metavar="M", help="The same with a configured model (builtin agent).")
@click.option("--finding", "findings", multiple=True, type=int, metavar="N",
              help="Number of a finding that it answers; repeatable.")  # fmt: skip
@click.option("--since", type=Moment(), metavar="WHEN", help="Findings since a date, or 30d.")
@click.option("--why", metavar="TEXT", help="The reason, for those who decide.")
@click.option("--set", "set_", metavar="SET", help="Refuse texts copied from tasks of this set.")
def propose(session: Session, workflow: str, model: str | None, **options: Any) -> None:
    """Draft an edit of a workflow: goals, procedures, outputs, edge prompts or skills.

    The edit is checked, guarded, and replayed on recorded threads; no trial runs. WORKFLOW is a
    file or a name in `.workflow`. The file itself does not change before `uwf improve apply`.
    """
    from uwf_core.client import Client
    from uwf_improve.edit.draft import draft_edit

    with (
        Client.open(env=session.env, cwd=working_folder(), default_model=model) as client,
        cancel_on_signals(session) as cancel,
    ):
        options["agent"] = options["agent"] or ("builtin" if model else None)
        edit = draft_edit(client, _draft(client, workflow, options, cancel))
        session.emit_line(_document(edit, "drafted"), edit_text)


def _draft(
    client: "Client", workflow: str, options: Mapping[str, Any], cancel: "Cancel"
) -> "Draft":
    from dataclasses import replace

    from uwf_improve.edit.draft import Draft
    from uwf_improve.edit.files import workflow_file
    from uwf_improve.edit.sources import (
        citations,
        draft_of_agent,
        texts_of_file,
        texts_of_patch,
        texts_of_places,
    )
    from uwf_improve.history.read import read_histories
    from uwf_improve.reflect.reflection import reflect
    from uwf_improve.sealed.catalog import secrets_of

    given = [key for key in ("edited", "patch", "texts", "agent") if options[key]]
    if len(given) != 1:
        raise UsageError(
            "name one of --edited, --patch, --text and --agent", hint="see the examples of --help"
        )
    file = workflow_file(workflow, Path(working_folder()))
    secrets = secrets_of(client, options["set_"])
    found = None
    if options["agent"] or options["findings"]:
        found = reflect(read_histories(client, str(file), options["since"], 500))
    if options["agent"]:
        assert found is not None
        draft = draft_of_agent(client, file, found, options["agent"], cancel)
    elif options["edited"]:
        draft = Draft(
            file=file, texts=texts_of_file(file, Path(working_folder(), options["edited"]))
        )
    elif options["patch"]:
        patch = Path(working_folder(), options["patch"])
        draft = Draft(file=file, texts=texts_of_patch(file, patch))
    else:
        draft = Draft(file=file, texts=texts_of_places(file, dict(map(_place, options["texts"]))))
    if options["findings"] and found is not None:
        draft = replace(draft, findings=citations(found, options["findings"]))
    return replace(draft, why=options["why"] or draft.why, secrets=secrets)


def _place(text: str) -> tuple[str, str]:
    place, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"{text!r} is not PLACE=TEXT", hint="such as roles.writer.goal='Be brief.'"
        )
    if value.startswith("@"):
        try:
            return place, Path(working_folder(), value[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"cannot read the file: {error}", where=value[1:]) from error
    return place, value


@command("list", "uwf improve list")
def list_(session: Session) -> None:
    """List the drafted edits with their states, and the sets of tasks."""
    from uwf_core.client import Client
    from uwf_improve.edit.catalog import Edits
    from uwf_improve.sealed.catalog import Sets, set_row

    with Client.open(env=session.env, cwd=working_folder()) as client:
        edits = [
            {"edit": edit.edit, "workflow": edit.workflow, "state": state, "author": edit.author,
             "places": [each.place for each in edit.changes], "draftedAtMs": edit.drafted_at_ms}
            for edit, state in Edits(client).all()
        ]  # fmt: skip
        sets = [set_row(each) for each in Sets(client).all()]
    session.emit({"edits": edits, "sets": sets}, _list_text)


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


def _list_text(document: Mapping[str, Any], screen: Screen) -> str:
    rows = [{**each, "what": ", ".join(each["places"])} for each in document["edits"]]
    parts = [table(_EDITS, rows, screen) if rows else "no edits"]
    parts.append(table(_SETS, document["sets"], screen) if document["sets"] else "no sets")
    return "\n\n".join(parts)


@command("show", "uwf improve show @last", "uwf improve show 4be1 > edit.patch --format text")
@click.argument("edit", metavar="EDIT")
def show(session: Session, edit: str) -> None:
    """Show a drafted edit: its state, the findings that it cites, the patch.

    EDIT is an id, a unique prefix of one, @last or @accepted.
    """
    from uwf_core.client import Client
    from uwf_improve.edit.catalog import Edits

    with Client.open(env=session.env, cwd=working_folder()) as client:
        found, state = Edits(client).find(edit)
    session.emit(_document(found, state), edit_text)


def _document(edit: Any, state: str) -> dict[str, Any]:
    from uwf_core.api.fields import write_record

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
