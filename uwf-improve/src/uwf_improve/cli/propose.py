"""`uwf improve propose`."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from uwf_core.client import Cancel, Client
from uwf_core.commands import Screen, Session, cancel_on_signals, file_or_text, working_folder
from uwf_core.errors import UsageError
from uwf_improve.cli.edits import edit_document, edit_text
from uwf_improve.edit.draft import Draft, draft_edit
from uwf_improve.edit.files import workflow_file
from uwf_improve.edit.sources import (
    citations,
    draft_of_agent,
    texts_of_file,
    texts_of_patch,
    texts_of_places,
)
from uwf_improve.history.read import read_histories
from uwf_improve.reflect.reflection import Reflection, reflect
from uwf_improve.sealed.catalog import secrets_of
from uwf_improve.search.request import SearchOptions, searched_draft


def propose(session: Session, workflow: str, model: str | None, **options: Any) -> None:
    """Draft an edit."""
    options["agent"] = options["agent"] or ("builtin" if model else None)
    _check(options)
    searched = None
    with Client.open(env=session.env, cwd=working_folder(), default_model=model) as client:
        if options["gepa"] is not None:
            draft, searched = _search(session, client, workflow, options)
        else:
            with cancel_on_signals(session) as cancel:
                draft = _draft(client, workflow, options, cancel)
        edit = draft_edit(client, draft)
        session.emit_line({**edit_document(edit, "drafted"), "search": searched}, _text)


def _check(options: Mapping[str, Any]) -> None:
    given = [key for key in ("edited", "patch", "text", "agent") if options[key]]
    if len(given) != 1:
        raise UsageError(
            "name one of --edited, --patch, --text and --agent", hint="see the examples of --help"
        )
    if options["gepa"] is None:
        alone = [key for key in ("trial_agent", "trial_model", "jobs") if options[key]]
        if alone:
            raise UsageError(f"--{alone[0].replace('_', '-')} needs --gepa",
                             hint="without a search no trial runs")  # fmt: skip
    elif given != ["agent"] or options["set_"] is None:
        raise UsageError("--gepa needs --set and --agent (or --model)",
                         hint="the agent drafts, and the open tasks of the set score")  # fmt: skip


def _search(
    session: Session, client: Client, workflow: str, options: Mapping[str, Any]
) -> tuple[Draft, dict[str, Any]]:
    file = workflow_file(workflow, Path(working_folder()))
    wanted = SearchOptions(
        most=options["gepa"], set=options["set_"], agent=options["agent"],
        trial_agent=options["trial_agent"], trial_model=options["trial_model"],
        jobs=options["jobs"] or 1,
    )  # fmt: skip
    found = _reflection(client, file, options)
    draft, searched = searched_draft(session, client, file, wanted)
    return _completed(draft, found, options), searched


def _draft(client: Client, workflow: str, options: Mapping[str, Any], cancel: Cancel) -> Draft:
    file, here = workflow_file(workflow, Path(working_folder())), Path(working_folder())
    secrets = secrets_of(client, options["set_"])  # an unknown set costs no answer of an agent
    found = _reflection(client, file, options)
    if found is not None and options["agent"]:
        draft = draft_of_agent(client, file, found, options["agent"], cancel)
    elif options["edited"]:
        draft = Draft(file=file, texts=texts_of_file(file, here / options["edited"]))
    elif options["patch"]:
        draft = Draft(file=file, texts=texts_of_patch(file, here / options["patch"]))
    else:
        draft = Draft(file=file, texts=texts_of_places(file, dict(map(_place, options["text"]))))
    return _completed(replace(draft, secrets=secrets), found, options)


def _reflection(client: Client, file: Path, options: Mapping[str, Any]) -> Reflection | None:
    """What is known of the workflow; None where nothing of it is asked for."""
    is_read = options["finding"] or (options["agent"] and options["gepa"] is None)
    if not is_read:
        return None
    return reflect(read_histories(client, str(file), options["since"], 500))


def _completed(draft: Draft, found: Reflection | None, options: Mapping[str, Any]) -> Draft:
    """The draft with what a person adds: the findings that it cites, and the reason."""
    if found is not None and options["finding"]:
        draft = replace(draft, findings=citations(found, options["finding"]))
    return replace(draft, why=options["why"] or draft.why)


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    found = document["search"]
    if found is None:
        return edit_text(document, screen)
    claim = (
        f"search: {found['trials']} trials, score {found['before']:.2f} -> {found['after']:.2f} on "
        f"{found['tasks']} open tasks; this confirms nothing\n"
        f"next: uwf improve decide {document['edit']} --set {found['set']}"
    )
    return f"{edit_text(document, screen)}\n\n{claim}"


def _place(text: str) -> tuple[str, str]:
    place, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"{text!r} is not PLACE=TEXT", hint="such as roles.writer.goal='Be brief.'"
        )
    return place, file_or_text(value, place)
