"""`uwf workflow check`."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode, UsageError


@command("check", "uwf workflow check fix-bug.yaml", "uwf workflow check .workflow/*.yaml")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
def check(session: Session, files: tuple[str, ...]) -> int:
    """Report every error in workflow files, each with its place and a hint.

    Exit code 0 with only warnings, 4 with an error, 2 if a file cannot be read (the others are
    still checked). Writes nothing and needs no store.
    """
    from uwf_core.workflow.check import Checked, check_file

    checked: list[Checked] = []
    unread: list[UsageError] = []
    for file in files:
        try:
            checked.append(check_file(file))
        except UsageError as error:
            unread.append(error)
    document = {
        "valid": not unread and all(each.valid for each in checked),
        "problems": [problem.document() for each in checked for problem in each.problems],
    }
    if checked:
        session.emit(document, _text)
    if unread:
        raise _unreadable(unread)
    return ExitCode.DONE if document["valid"] else ExitCode.INVALID


def _unreadable(errors: Sequence[UsageError]) -> UsageError:
    """One error for all files that could not be read."""
    first = errors[0]
    if len(errors) == 1:
        return first
    places = ", ".join(str(each.where) for each in errors)
    return UsageError(f"{len(errors)} files cannot be read", where=places, hint=first.hint)


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.problem import problem_lines

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
    return "\n".join([*problem_lines(problems, screen), end])


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
