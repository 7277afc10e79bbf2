"""`uwf workflow check`: every error in workflow files, and how long they can run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render.findings import check_text
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError
from uwf_core.fields.records import write_record

if TYPE_CHECKING:
    from uwf_core.workflow.bound import Bound
    from uwf_core.workflow.check import Checked
    from uwf_core.workflow.problem import Problem

_FOR_TOOLS = ("sarif", "github")


def check(session: Session, files: tuple[str, ...], bound: bool, fix: bool) -> int:
    """Report every error in workflow files."""
    from uwf_core.views.workflows import check_document

    checked, fixes, unread = _checked(session, files, fix=fix)
    document = check_document(checked)
    document["valid"] &= not unread
    if fix:
        document["fixed"] = [each.document() for each in fixes]
    bounds = _bounds(session, checked) if bound else ()
    if bound:
        document["bounds"] = [
            {"file": each.file, "name": each.name, "bound": write_record(found)}
            for each, found in bounds
        ]
    lines = [f"fixed {each.place}: {each.message}" for each in fixes]
    lines += [f"{each.name}: {found.words()}" for each, found in bounds]
    if session.format in _FOR_TOOLS:
        _for_tools(session, document["problems"], unread)
    elif checked:
        session.emit(document, lambda each, screen: check_text(each, screen, lines))
    if unread:
        raise _unreadable(unread)
    return ExitCode.DONE if document["valid"] else ExitCode.INVALID


def _checked(
    session: Session, files: tuple[str, ...], *, fix: bool
) -> "tuple[list[Checked], list[Problem], list[UsageError]]":
    """The checked files, the problems that were fixed, and the errors of files without a result."""
    from uwf_core.engine.workflows import check_workflow, fix_workflow

    checked: list[Checked] = []
    fixes: list[Problem] = []
    unread: list[UsageError] = []
    for file in files:
        try:
            if fix:
                gone, found = fix_workflow(session.engine, file, session.note)
                fixes += gone
            else:
                found = check_workflow(session.engine, file, session.note)
            checked.append(found)
        except UsageError as error:
            unread.append(error)
    return checked, fixes, unread


def _for_tools(session: Session, problems: Any, unread: Sequence[UsageError]) -> None:
    if session.format == "sarif":
        from uwf_core import __version__
        from uwf_core.cli.render.sarif import sarif_text

        session.write(sarif_text(problems, unread, __version__))
    elif problems:
        from uwf_core.cli.render.annotations import annotations

        session.write("\n".join(annotations(problems)))


def _bounds(session: Session, checked: Sequence["Checked"]) -> list[tuple["Checked", "Bound"]]:
    """The bound of each valid file."""
    from uwf_core.engine.workflows import bound_of_workflow

    return [
        (each, bound_of_workflow(session.engine, each.require())) for each in checked if each.valid
    ]


def _unreadable(errors: Sequence[UsageError]) -> UsageError:
    """One error for all files that could not be read."""
    first = errors[0]
    if len(errors) == 1:
        return first
    places = ", ".join(str(each.where) for each in errors)
    return UsageError(f"{len(errors)} files cannot be read", where=places, hint=first.hint)
