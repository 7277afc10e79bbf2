"""What a planted bug is, and how it is planted: in a copy of the packages, never in the sources."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
CORE = "uwf-core/src/uwf_core"


class Mutant(NamedTuple):
    """A small edit that breaks a promise, and the check that must notice.

    Attributes:
        area: what the promise is about.
        what: the bug, in a few words.
        file: below the core's package.
        old: a text that stands in it exactly once.
        new: what it becomes.
        sees: a test (`tests/…::name`), or a row of the fault table (`row: WORD`, the words of
            `--only` and other options of `python -m tests.faults`).
    """

    area: str
    what: str
    file: str
    old: str
    new: str
    sees: str

    def edited(self, sources: Path = ROOT) -> str:
        """The file's text with the bug in it.

        Raises:
            ValueError: the text to be replaced is not there exactly once; the list is out of date.
        """
        text = (sources / CORE / self.file).read_text("utf-8")
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.what}: {text.count(self.old)} places in {self.file} read {self.old!r}; "
                "adapt the edit in tests/mutants to what the source says now"
            )
        return text.replace(self.old, self.new)


class Copy:
    """A copy of all packages, in which one bug at a time can be planted."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for source in sorted(ROOT.glob("uwf-*/src")):
            target = folder / source.relative_to(ROOT)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))

    @contextmanager
    def planted(self, mutant: Mutant) -> Iterator[None]:
        """The bug is there within this context."""
        file = self.folder / CORE / mutant.file
        right = file.read_text("utf-8")
        file.write_text(mutant.edited(self.folder), "utf-8")
        try:
            yield
        finally:
            file.write_text(right, "utf-8")

    def environment(self) -> dict[str, str]:
        """What lets a program import this copy and not the installed packages."""
        sources = [str(path) for path in sorted(self.folder.glob("uwf-*/src"))]
        env = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sources),
            # Bugs are planted within a second of each other: no byte code may outlive one.
            "PYTHONDONTWRITEBYTECODE": "1",
            "CI": "true",  # the same examples each time
        }
        env.pop("UWF_FAULTS_SHIM", None)
        return env
