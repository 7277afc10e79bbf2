"""The folder of a walkthrough: the command under test with its own home, and two programs.

uwf      the command under test: logs each call, and corrupts it where a defect is planted
phase    `./phase NAME` runs the checks of a phase and prints what they saw as JSON
agent    plays the roles without a model; speaks the command protocol
inner/   the home of the command under test, and a user's empty home
outer/   the home of the thread that runs the walkthrough
work/    a folder for each check
calls    the log: exit code and first words of each call, a line each
thread.json  the thread that runs the walkthrough, and its home
report.md
"""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LETTER = Path(__file__).with_name("folder")

_UWF = """\
#!/bin/sh
real() {{
  env -i {variables} {program} "$@"
}}
case "$*" in
{defects}
  *) real "$@" ;;
esac
code=$?
echo "$code $1 $2 $3" >> {calls}
exit $code
"""
_PROGRAM = """\
#!/bin/sh
cd {folder} && PYTHONPATH={root} exec {python} -m tests.walkthrough.{module} "$@"
"""
_KEPT = ("LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV")


class Site:
    """The folder of a walkthrough, laid out by `lay_out`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uwf = folder / "uwf"
        self.agent = folder / "agent"
        self.home = folder / "inner" / "home"
        self.outer = folder / "outer"
        self.calls = folder / "calls"
        self.thread = folder / "thread.json"
        self.report = folder / "report.md"

    def work(self, phase: str, check: str) -> Path:
        """A new folder for a check, with the workflows `letter` and `survey`, and their scripts."""
        folder = self.folder / "work" / phase / check
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(LETTER, folder)
        return folder

    def called(self) -> list[tuple[int, str]]:
        """Each logged call: its exit code, and its first words."""
        lines = self.calls.read_text("utf-8").splitlines() if self.calls.exists() else []
        split = (line.partition(" ") for line in lines)
        return [(int(code), words) for code, _, words in split if code.isdigit()]


def installed_uwf() -> Path:
    """The command `uwf` of this environment."""
    program = Path(sys.executable).with_name("uwf")
    if not program.exists():
        raise SystemExit(f"walkthrough: no command {program}; next: python3 dev.py walkthrough")
    return program


def lay_out(folder: Path, defects: Mapping[str, str] | None = None) -> Site:
    """Make the folder; `defects` maps commands to what the shell runs instead of them."""
    site = Site(folder)
    user = folder / "inner" / "user"
    for each in (user, site.outer):
        each.mkdir(parents=True, exist_ok=True)
    site.home.mkdir(mode=0o700, exist_ok=True)
    cases = (
        f'  "{command}" | "{command} "*) {instead} ;;'
        for command, instead in (defects or {}).items()
    )
    write_program(site.uwf, _UWF.format(
        variables=_assignments(_environment(site.home, user)),
        program=shlex.quote(str(installed_uwf())),
        defects="\n".join(cases),
        calls=shlex.quote(str(site.calls)),
    ))  # fmt: skip
    words = {name: shlex.quote(str(path)) for name, path in _places(folder).items()}
    write_program(site.agent, _PROGRAM.format(module="agent", **words))
    write_program(folder / "phase", _PROGRAM.format(module="play", **words))
    return site


def write_program(file: Path, text: str) -> None:
    """Write a file that can be run."""
    file.write_text(text, "utf-8")
    file.chmod(0o755)


def _places(folder: Path) -> dict[str, Path]:
    return {"folder": folder, "root": ROOT, "python": Path(sys.executable)}


def _environment(home: Path, user: Path) -> dict[str, str]:
    """A user with nothing configured; the roles of its threads are played by scripts."""
    return {
        **{name: os.environ[name] for name in _KEPT if name in os.environ},
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "HOME": str(user),
        "UWF_HOME": str(home),
        "UWF_DEFAULT_AGENT": "mock",
        "UWF_MOCK_SCRIPT": "play.yaml",
    }


def _assignments(variables: Mapping[str, str]) -> str:
    words: Sequence[str] = [f"{name}={value}" for name, value in variables.items()]
    return shlex.join(words)
