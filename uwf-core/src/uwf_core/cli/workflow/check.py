"""`uwf workflow check`."""

from collections.abc import Mapping
from typing import Any

import click

from uwf_core.cli.frame import command
from uwf_core.cli.render.style import Screen
from uwf_core.cli.session import Session
from uwf_core.errors import ExitCode


@command("check", "uwf workflow check fix-bug.yaml", "uwf workflow check .workflow/*.yaml")
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
def check(session: Session, files: tuple[str, ...]) -> int:
    """Report every fault of workflow files, each with its place and a hint.

    Exit code 0 with warnings alone, 4 with an error. Writes nothing and needs no store.
    """
    from uwf_core.workflow.check import check_file

    checked = [check_file(file) for file in files]
    document = {
        "valid": all(each.valid for each in checked),
        "problems": [problem.document() for each in checked for problem in each.problems],
    }
    session.emit(document, _text)
    return ExitCode.DONE if document["valid"] else ExitCode.INVALID


def _text(document: Mapping[str, Any], screen: Screen) -> str:
    from uwf_core.cli.render.problem import problem_lines

    problems = document["problems"]
    errors = sum(each["severity"] == "error" for each in problems)
    warnings = len(problems) - errors
    if errors:
        end = screen.paint(f"invalid: {_count(errors, 'error')}", "error")
    else:
        end = screen.paint("valid", "ok")
    if warnings:
        end += f", {_count(warnings, 'warning')}"
    return "\n".join([*problem_lines(problems, screen), end])


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
