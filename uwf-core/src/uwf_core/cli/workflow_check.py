"""`uwf workflow check`: every error in workflow files, and how long they can run."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from uwf_core.cli.command import command
from uwf_core.cli.render.colours import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from uwf_core.workflow.bound import Bound
    from uwf_core.workflow.check import Checked


@command(
    "check",
    "uwf workflow check fix-bug.yaml",
    "uwf workflow check .workflow/*.yaml",
    "uwf workflow check --bound fix-bug.yaml",
)
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option(
    "--bound", is_flag=True, help="Print how many agent calls each valid workflow makes at most."
)
def check(session: Session, files: tuple[str, ...], bound: bool) -> int:
    """Report every error in workflow files, each with its place and a hint.

    Exit code 0 with only warnings, 4 with an error, 2 if a file cannot be read (the others are
    still checked). Writes nothing and needs no store; if there is one, its registry can name the
    workflows that roles call.
    """
    from uwf_core.engine.workflows import check_workflow
    from uwf_core.views.workflows import check_document
    from uwf_core.workflow.check import Checked

    checked: list[Checked] = []
    unread: list[UsageError] = []
    for file in files:
        try:
            checked.append(check_workflow(session.engine, file, session.note))
        except UsageError as error:
            unread.append(error)
    document: dict[str, Any] = {**check_document(checked)}
    document["valid"] &= not unread
    bounds = _bounds(session, checked) if bound else ()
    if bound:
        document["bounds"] = [
            {"file": each.file, "name": each.name, "bound": found.document()}
            for each, found in bounds
        ]
    lines = [f"{each.name}: {found.words()}" for each, found in bounds]
    if checked:
        session.emit(document, lambda each, screen: _check_text(each, screen, lines))
    if unread:
        raise _unreadable(unread)
    return ExitCode.DONE if document["valid"] else ExitCode.INVALID


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


def _check_text(document: Mapping[str, Any], screen: Screen, bounds: Sequence[str]) -> str:
    from uwf_core.cli.render.findings import problem_lines

    problems = document["problems"]
    errors = sum(each["severity"] == "error" for each in problems)
    warnings = len(problems) - errors
    if errors:
        end = screen.paint(f"invalid: {_count(errors, 'error')}", "error")
    elif not document["valid"]:
        end = "the others are valid"
    else:
        end = screen.paint("valid", "ok")
    if warnings:
        end += f", {_count(warnings, 'warning')}"
    return "\n".join([*problem_lines(problems, screen), *bounds, end])


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
