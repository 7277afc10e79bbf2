"""The command of a role's program: its arguments, rendered, and their text as the step's prompt."""

import shlex
from collections.abc import Sequence
from typing import Any

from uwf_core.errors import RoutingFailed
from uwf_core.workflow.definition import RoleProgram
from uwf_core.workflow.template import TemplateError, render


def rendered_argv(role: str, program: RoleProgram, *contexts: Any) -> tuple[str, ...]:
    """The program as written, and its arguments rendered within contexts, the innermost last. Each
    stays one argument, whatever is in it.

    Raises:
        RoutingFailed: a template cannot be rendered, or an argument begins with `-` only after
            rendering: an output must not choose an option of the program.
    """
    first, *rest = program.argv
    return first, *(
        _argument(text, contexts, f"roles.{role}.program.argv[{index}]")
        for index, text in enumerate(rest, 1)
    )


def command_text(argv: Sequence[str]) -> str:
    """The command as one text: quoted as a shell reads it, so that each argument is clear."""
    return shlex.join(argv)


def _argument(template: str, contexts: Sequence[Any], place: str) -> str:
    try:
        text = render(template, *contexts)
    except TemplateError as error:
        raise RoutingFailed(
            f"{place}: cannot render the template: {error.message} "
            f"(line {error.line}, column {error.column})",
            hint=error.hint or "next: uwf workflow check FILE",
        ) from error
    if text.startswith("-") and not template.startswith("-"):
        raise RoutingFailed(
            f"{place} renders to {text[:60]!r}, which begins with `-`: the program would read it "
            "as an option",
            hint="write the option into the workflow (`--name={{field}}`), or put `--` before this "
            "argument and a path like ./{{field}}",
        )
    return text
