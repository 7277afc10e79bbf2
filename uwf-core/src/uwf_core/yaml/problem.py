"""An error in a file with its place, as checks report it and `DefinitionError` carries it."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from uwf_core.errors import DefinitionError

Severity = Literal["error", "warning"]


class Place(NamedTuple):
    """A place in a file; line and column count from 1, columns in characters."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Problem(NamedTuple):
    """An error or warning: `code` is a stable kebab-case word, `hint` may be empty. `replacement`
    is what belongs in place of the word at the place, if that is certain.
    """

    severity: Severity
    code: str
    file: str
    line: int
    column: int
    message: str
    hint: str = ""
    replacement: str = ""

    @property
    def place(self) -> Place:
        """The place of the problem."""
        return Place(self.file, self.line, self.column)

    def document(self) -> dict[str, Any]:
        """The problem as JSON, keyed by field name."""
        found = self._asdict()
        del found["replacement"]  # only for `fix`
        return found

    def __str__(self) -> str:
        text = f"{self.place} {self.code} {self.message}"
        return f"{text} ({self.hint})" if self.hint else text


def error_at(place: Place, code: str, message: str, hint: str = "") -> Problem:
    """A problem of severity error."""
    return Problem("error", code, *place, message, hint)


def warning_at(place: Place, code: str, message: str, hint: str = "") -> Problem:
    """A problem of severity warning."""
    return Problem("warning", code, *place, message, hint)


def as_definition_error(problems: Sequence[Problem]) -> DefinitionError:
    """One error for all `problems` (at least one), with the message of the first."""
    first = next((each for each in problems if each.severity == "error"), problems[0])
    others = len(problems) - 1
    more = f" (and {others} more problem{'s' if others > 1 else ''})" if others else ""
    return DefinitionError(
        first.message + more,
        where=str(first.place),
        hint=first.hint or None,
        problems=[problem.document() for problem in problems],
    )
