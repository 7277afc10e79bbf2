"""Workflows as `uwf workflow check`, `show` and `add` see them: through a client."""

import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.client import Client, ProblemsDocument


class Problem(NamedTuple):
    """A row of `workflow check --format json`."""

    severity: str
    code: str
    file: str
    line: int
    column: int
    message: str
    hint: str


class Checked(NamedTuple):
    """The document of a check; `read` gives the definition of a valid file."""

    valid: bool
    problems: list[Problem]
    read: Callable[[], Mapping[str, Any] | None]

    @property
    def workflow(self) -> dict[str, Any] | None:
        """The definition with every default; None if there is an error."""
        found = self.read() if self.valid else None
        return None if found is None else dict(found)


@cache
def desk() -> Client:
    """A client in an empty folder, with an empty home and a store in memory."""
    folder = Path(tempfile.mkdtemp(prefix="uwf-desk-"))
    (folder / "home").mkdir(mode=0o700)
    return Client.open(home=folder / "home", cwd=folder, env={"HOME": str(folder)}, store="memory:")


def check_text(text: str, file: str | Path = "a.yaml") -> Checked:
    """Check a text as if it were in a file."""
    found = desk().check_text(text, file)
    return _checked(found, lambda: desk().workflow_of_text(text, file))


def check_file(file: str | Path) -> Checked:
    """Check a file."""
    return _checked(desk().check_workflow(file), lambda: desk().workflow(str(file)))


def fix_file(file: str | Path) -> list[Problem]:
    """Fix a file; the problems that are gone."""
    return [Problem(**row) for row in desk().fix_workflow(file)["fixed"]]


def _checked(found: ProblemsDocument, read: Callable[[], Mapping[str, Any] | None]) -> Checked:
    return Checked(found["valid"], [Problem(**row) for row in found["problems"]], read)
