"""What a trial begins with: the fixture's folder, or nothing."""

from pathlib import Path
from typing import Final

from uwf_eval.task.model import Case, Task
from uwf_eval.task.tree import EMPTY_DIGEST, digest_of_tree

FIXTURE: Final = "fixture"


def fixture_of(task: Task, case: Case) -> Path | None:
    """The folder that a trial of this case is a copy of, None if it begins empty."""
    if case.fixture is not None:
        return task.folder / case.fixture
    usual = task.folder / FIXTURE
    return usual if usual.is_dir() else None


def fixture_digest(task: Task, case: Case) -> str:
    """SHA-256 over the fixture, in hexadecimal."""
    folder = fixture_of(task, case)
    return EMPTY_DIGEST if folder is None else digest_of_tree(folder)
