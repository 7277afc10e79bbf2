"""What a planted bug is, and how it is planted: in a copy of the packages, never in the sources."""

import os
import re
import shutil
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple, Protocol

ROOT = Path(__file__).resolve().parents[2]
CORE = "uwf-core/src/uwf_core"
ROW = "row: "


class Mutant(NamedTuple):
    """A small edit that breaks a promise, and the check that must notice.

    Attributes:
        area: what the promise is about.
        what: the bug, in a few words.
        file: below the core's package, or `uwf-…` below the checkout.
        old: a text that occurs in it exactly once.
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

    @property
    def path(self) -> str:
        """The file below the checkout."""
        return self.file if self.file.startswith("uwf-") else f"{CORE}/{self.file}"

    def edited(self, sources: Path = ROOT) -> str:
        """The file's text with the bug in it.

        Raises:
            ValueError: the text to be replaced is not there exactly once; the list is out of date.
        """
        file = sources / self.path
        text = file.read_text("utf-8") if file.is_file() else ""
        if text.count(self.old) != 1:
            raise ValueError(f"{text.count(self.old)} places in {self.file} read {self.old!r}")
        return text.replace(self.old, self.new)

    def fault(self) -> str | None:
        """Why this bug cannot be planted or no check can detect it; None if all is in order."""
        try:
            compile(self.edited(), self.file, "exec")
        except (ValueError, SyntaxError) as error:
            return f"stale: {self.what}: {error}; adapt the edit in tests/mutants to the source"
        if self._sees_something():
            return None
        return f"stale: {self.what}: there is no {self.sees}; name the check that detects it now"

    def _sees_something(self) -> bool:
        """Whether the check is there: a row, a test file, or a test in it (or of a kit's class)."""
        if self.sees.startswith(ROW):
            rows = (ROOT / "tests/faults/experiments.py").read_text("utf-8")
            word = re.escape(self.sees.removeprefix(ROW).split()[0])
            return re.search(rf'Experiment\("[^"]*{word}', rows) is not None
        file, _, test = self.sees.partition("::")
        name = test.rpartition("::")[2].partition("[")[0]
        if not name or not (ROOT / file).is_file():
            return (ROOT / file).is_file()
        kits = (ROOT / "uwf-testing/src").rglob("*.py") if "::" in test else ()
        found = re.compile(rf"def {re.escape(name)}\b")
        return any(found.search(each.read_text("utf-8")) for each in (ROOT / file, *kits))


class Edit(Protocol):
    """What can be planted: an edit of one file below the checkout."""

    @property
    def path(self) -> str: ...
    def edited(self, sources: Path = ROOT) -> str: ...


class Copy:
    """A copy of all packages, in which one bug at a time can be planted, and an environment in
    which they are installed: every program that a check starts runs them, whatever variables it
    starts with.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seconds = count(1)
        sources = sorted(ROOT.glob("uwf-*/src"))
        for source in sources:
            target = folder / source.relative_to(ROOT)
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        self._environment = folder / "environment"
        venv.create(self._environment, symlinks=True)
        self.python = self._environment / "bin" / "python"
        # Files of paths count in the first folder alone: ours lead here, those to ROOT nowhere.
        installed = sysconfig.get_path("purelib")
        paths = [*(str(folder / source.relative_to(ROOT)) for source in sources), installed]
        where = {"base": str(self._environment), "platbase": str(self._environment)}
        site = Path(sysconfig.get_path("purelib", vars=where))
        (site / "copy.pth").write_text("\n".join(paths))
        for script in Path(sysconfig.get_path("scripts")).glob("uwf*"):
            text = script.read_text("utf-8").replace(sys.executable, str(self.python))
            (self.python.parent / script.name).write_text(text, "utf-8")
            (self.python.parent / script.name).chmod(0o755)

    @contextmanager
    def planted(self, mutant: Edit) -> Iterator[None]:
        """The bug is there within this context."""
        file = self.folder / mutant.path
        right = file.read_text("utf-8")
        self._write(file, mutant.edited(self.folder))
        try:
            yield
        finally:
            self._write(file, right)

    def _write(self, file: Path, text: str) -> None:
        """Byte code knows its source by its second and size: no two texts have the same second."""
        file.write_text(text, "utf-8")
        second = next(self._seconds)
        os.utime(file, (second, second))

    def variables(self) -> dict[str, str]:
        """The environment variables of a check."""
        env = {
            **os.environ,
            "VIRTUAL_ENV": str(self._environment),
            "PATH": os.pathsep.join([str(self.python.parent), os.environ.get("PATH", os.defpath)]),
            "CI": "true",  # the same examples each time
        }
        env.pop("UWF_FAULTS_SHIM", None)
        return env
