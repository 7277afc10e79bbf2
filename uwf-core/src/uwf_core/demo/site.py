"""The folders of one demo: a project with its tests, and a home with the settings of its player."""

import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from uwf_core.config.trust import trust
from uwf_core.errors import UsageError
from uwf_core.examples.shelf import example_files
from uwf_core.process.cancel import Cancel
from uwf_core.process.program import End, ProcessLimits, Program, run_program

WORKFLOW = "solve-issue"
_KEPT = "UWF_BLOCK_PLUGINS"
_HEAD = "# Written by `uwf demo`: the roles are played by {player}. Read it, change it."


class Site(NamedTuple):
    """The folders of one demo; all absolute."""

    folder: Path
    project: Path
    home: Path

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """`env` with this home, and without the variables of the user's own settings. `python3`,
        which runs the tests as the workflow's tester, is the Python of this process.
        """
        kept = {
            name: value
            for name, value in env.items()
            if not name.startswith("UWF_") or name == _KEPT
        }
        path = [str(Path(sys.executable).parent), *filter(None, [kept.get("PATH")])]
        return {**kept, "PATH": os.pathsep.join(path), "UWF_HOME": str(self.home)}

    def add_file(self, name: str, content: bytes) -> Path:
        """Write a file next to the project; return its path."""
        file = self.folder / name
        file.write_bytes(content)
        return file

    def configure(self, player: str, settings: Mapping[str, Any]) -> None:
        """Write the config.yaml of the demo's home, and trust the project there."""
        lines = [_HEAD.format(player=player)]
        lines += [f"{key}: {json.dumps(value)}" for key, value in settings.items()]
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        file = os.open(self.home / "config.yaml", flags, 0o600)
        with os.fdopen(file, "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        # Its workflow runs the tests as a program. uwf wrote both a moment ago.
        trust(str(self.home), str(self.project))


def lay_out(folder: str | None) -> Site:
    """Create the project and an empty home in `folder`, or in a new temporary one.

    Raises:
        UsageError: the folder is not empty, or cannot be written.
    """
    with written(folder or tempfile.gettempdir()):
        root = _new_folder(folder)
        site = Site(root, root / "project", root / "home")
        _copy(files("uwf_core.demo") / "templates" / "shop", site.project)
        (site.project / ".workflow").mkdir()
        for name, text in example_files(WORKFLOW, WORKFLOW, f".workflow/{WORKFLOW}.yaml").items():
            (site.project / ".workflow" / f"{name}.yaml").write_text(text, encoding="utf-8")
        site.home.mkdir(mode=0o700)
    return site


@contextmanager
def written(place: Path | str) -> Iterator[None]:
    """Report an error of the disk while the demo is created in `place` as an error of that folder.

    Raises:
        UsageError: there was one.
    """
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot create the demo: {error.strerror}",
            where=str(error.filename or place),
            hint="choose a writable folder with --dir DIR",
        ) from error


def _new_folder(folder: str | None) -> Path:
    if folder is None:
        return Path(tempfile.mkdtemp(prefix="uwf-demo-")).resolve()
    path = Path(folder).absolute()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if next(path.iterdir(), None) is not None:
        raise UsageError(
            "the folder is not empty", where=str(path), hint="choose a new one with --dir DIR"
        )
    return path.resolve()


def _copy(source: Traversable, target: Path) -> None:
    """Copy a folder of the package, without compiled files."""
    target.mkdir()
    for each in source.iterdir():
        if each.is_file():
            (target / each.name).write_bytes(each.read_bytes())


_SECONDS = 60.0


class Tests(TypedDict):
    """The result of the tests; `failed` counts failures and errors."""

    green: bool
    ran: int
    failed: int


def run_tests(project: Path, env: Mapping[str, str], cancel: Cancel) -> Tests:
    """Run the unittest suite in `project`. Green: some ran, and none failed.

    Raises:
        AgentFailure: it cannot be started, or was interrupted.
    """
    program = Program(
        argv=(sys.executable, "-B", "-m", "unittest"),  # -B: no stale byte code
        cwd=str(project),
        env=env,
    )
    result = run_program(program, ProcessLimits(total_seconds=_SECONDS), cancel=cancel)
    output = result.stderr.decode("utf-8", "replace")
    ran = re.search(r"^Ran (\d+) test", output, re.MULTILINE)
    failed = re.findall(r"(?:failures|errors)=(\d+)", output)
    count = int(ran[1]) if ran else 0
    ended_well = result.end is End.EXITED and result.exit_code == 0
    return {"green": ended_well and count > 0, "ran": count, "failed": sum(map(int, failed))}
