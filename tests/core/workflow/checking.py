"""Workflows as `uwf workflow check`, `show` and `add` see them: through a client."""

import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.client import Client


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
    """The document of a check, and the definition with every default if the file is valid."""

    valid: bool
    problems: list[Problem]
    workflow: dict[str, Any] | None


@cache
def desk() -> Client:
    """A client in an empty folder, with an empty home and a store in memory."""
    folder = Path(tempfile.mkdtemp(prefix="uwf-desk-"))
    (folder / "home").mkdir(mode=0o700)
    return Client.open(home=folder / "home", cwd=folder, env={"HOME": str(folder)}, store="memory:")


def check_text(text: str, file: str | Path = "a.yaml") -> Checked:
    """Check a text as if it were in a file."""
    found = desk().check_text(text, file)
    workflow = desk().workflow_of_text(text, file) if found["valid"] else None
    return _checked(found, workflow)


def check_file(file: str | Path) -> Checked:
    """Check a file."""
    found = desk().check_workflow(file)
    return _checked(found, desk().workflow(str(file)) if found["valid"] else None)


def fix_file(file: str | Path) -> list[Problem]:
    """Fix a file; the problems that are gone."""
    return [Problem(**row) for row in desk().fix_workflow(file)["fixed"]]


def _checked(found: Any, workflow: Any) -> Checked:
    problems = [Problem(**row) for row in found["problems"]]
    return Checked(found["valid"], problems, None if workflow is None else dict(workflow))
