"""A home of uwf to be damaged: what is in it, what is done with it, and whether it is sound."""

import io
import json
import os
import re
import shutil
import stat
import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.faults.calls import ALL, miscalled
from tests.faults.forked import Ended, run
from tests.faults.workflows import BRANCHES, CALLER, PART, RECORDED, WORKFLOW, WORKTREE

from uwf_core.client import Client, StepDocument, ThreadDocument
from uwf_core.errors import UwfError

_WORKFLOWS = {
    "loop": WORKFLOW,
    "part": PART,
    "caller": CALLER,
    "branches": BRANCHES,
    "recorded": RECORDED,
    "worktree": WORKTREE,
}
_DONE = "---\n$status: done\nnote: all of it\nreport: report.txt\n---\nThis is what I wrote.\n"
EDIT = "edit"
"""Not a command of uwf: the user writes a file."""
SCRIPT: dict[str, Any] = {
    "repeat": True,
    "steps": [
        {"role": "writer", "outputs": ["I forgot the frontmatter", _DONE], "turns": ["a", "b"]},
        {"role": "checker", "output": {"$status": "again"}, "turns": ["c"]},
    ],
}
"""The first step of every pair needs a correction, so that every kind of write is there."""
PROGRAM = """
read -r _ < "$UWF_REQUEST"
case "$*" in *"--role writer"*) o='---\\n$status: done\\nnote: x\\n---\\nWritten.';;
*) o='---\\n$status: again\\n---\\nChecked.';; esac
echo '{"session": "s-1"}' >> "$UWF_EVENTS"
sleep 0.15 # long enough for uwf to store what it was told
printf '%s\\n' "{\\"output\\": \\"$o\\", \\"sessionId\\": \\"s-1\\"}"
"""


class Ack(NamedTuple):
    """A command that has ended: its words, its exit code, its document."""

    words: tuple[str, ...]
    code: int
    document: Any


class World:
    """A project whose home can be put back to what it was, as often as one likes.

    Args:
        root: an empty folder, best on a disk of memory.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        (self.project / ".workflow").mkdir(parents=True)
        for name, text in _WORKFLOWS.items():
            (self.project / ".workflow" / f"{name}.yaml").write_text(text)
        (root / "script.json").write_text(json.dumps(SCRIPT))
        (root / "agent.sh").write_text(PROGRAM)
        self.agent = f"sh {root / 'agent.sh'}"
        self.env = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(root / "user"),
            "UWF_HOME": str(self.home),
            "UWF_DEFAULT_AGENT": "mock",
            "UWF_MOCK_SCRIPT": str(root / "script.json"),
        }
        os.umask(0o022)

    def twin(self, root: Path) -> "World":
        """The same project with another home, for a process that works beside this one."""
        other = World.__new__(World)
        other.__dict__ |= self.__dict__ | {"home": root}
        other.env = {**self.env, "UWF_HOME": str(root)}
        return other

    def put(self, home: Path | None) -> None:
        """Let the home be a copy of this one; empty if None."""
        shutil.rmtree(self.home, ignore_errors=True)
        if home is not None:
            shutil.copytree(home, self.home, symlinks=True)

    def keep(self, name: str) -> Path:
        """A copy of the home as it is now."""
        kept = self.root / "kept" / self.home.name / name
        shutil.rmtree(kept, ignore_errors=True)
        if not self.home.exists():
            self.home.mkdir(mode=0o700)
        shutil.copytree(self.home, kept, symlinks=True)
        return kept

    def client(self) -> Client:
        """A client; to be closed."""
        return Client.open(env=self.env, cwd=self.project)

    def say(self, *words: str) -> Ack:
        """Run one command that must succeed."""
        ended, acks = self.play([words])
        assert ended.code == 0 and acks[0].code == 0, (words, ended.out, ended.err)
        return acks[0]

    def play(
        self,
        commands: Sequence[Sequence[str]],
        before: Callable[[], None] = lambda: None,
        after: Callable[[], None] = lambda: None,
    ) -> tuple[Ended, list[Ack]]:
        """Run commands one after the other in one child, between `before` and `after` in it; how
        it ended, and the commands that have. `{home}` in a word stands for the home.
        """

        def work(gift: int) -> int:
            os.environ.clear()
            os.environ.update(self.env)
            os.chdir(self.project)
            before()
            for words in commands:
                code, text = command([each.replace("{home}", str(self.home)) for each in words])
                os.write(gift, json.dumps([list(words), code, text]).encode() + b"\n")
            after()
            return 0

        ended = run(work)
        lines = (json.loads(line) for line in ended.gave.splitlines())
        return ended, [Ack(tuple(words), code, _document(text)) for words, code, text in lines]


def command(words: Sequence[str]) -> tuple[int, str]:
    """Run `uwf` in this process, as its entry point does: exit code, and what it printed."""
    from uwf_core.commands import main

    if words[0] == EDIT:
        Path(words[1]).write_text(words[2])
        return 0, "null"
    before = sys.stdout
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    try:
        code = main(list(words))
        sys.stdout.flush()
        return code, sys.stdout.buffer.getvalue().decode()
    finally:
        sys.stdout = before


def _document(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


# -- whether a home is sound ----------------------------------------------------------------------

_MOMENT_SECONDS = 60.0


def unsound(
    world: World,
    acks: Sequence[Ack],
    doomed: Collection[str] = (),
    *,
    cut: bool = False,
    gone: bool = False,
) -> str | None:
    """What is wrong with a home after a fault, None if nothing.

    Everything that was acknowledged is there (of `doomed` threads nothing need be), every thread
    can be read, exec goes on. Unless the power was `cut` (which leaves of files that are not synced
    what it likes, and modes as they are written down here), nobody else may read anything and the
    log has whole lines; unless a process is `gone` besides, no draft of a file is left.
    """
    try:
        with world.client() as uwf:
            _let_children_end(world, uwf)
            threads = [_Thread.read(uwf, row["thread"]) for row in uwf.list(ALL)]
            return (
                _lost({each.name: each for each in threads}, acks, doomed)
                or next(filter(None, (each.flaw() for each in threads)), None)
                or miscalled(uwf)
                or _invalid(uwf)
                or _stuck(uwf)
                or _lost_file(world.home, acks)
                or (None if cut else _open_to_others(world.home) or _cut_line(world.home))
                or (None if cut or gone else left_over(world.home))
            )
    except UwfError as error:
        return f"not sound: {error.document()['error']}"


def _let_children_end(world: World, uwf: Client) -> None:
    """Wait for what a killed process leaves for a moment, however busy the machine is: a child that
    is about to become another program has its files, locks among them, and the process of a branch
    ends a little after the one that started it, with its lock until then.
    """
    deadline = time.monotonic() + _MOMENT_SECONDS
    while time.monotonic() < deadline:
        if not _lives_in(world.home) and not any(row["running"] for row in uwf.list(ALL)):
            return
        time.sleep(0.02)


def _lives_in(home: Path) -> bool:
    """Whether another process was started with this home, as far as its environment can be read."""
    mark = f"UWF_HOME={home}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:  # it has ended, or is another user's
            continue
        if mark in environment and folder.name != str(os.getpid()):
            return True
    return False


class _Thread(NamedTuple):
    """A thread, read as a whole."""

    name: str
    shown: ThreadDocument
    numbers: list[int]
    steps: list[StepDocument]
    prompts: list[str]
    text: str

    @classmethod
    def read(cls, uwf: Client, name: str) -> "_Thread":
        rows = uwf.steps(name)
        steps = [uwf.step(row["step"]) for row in rows[1:]]
        prompts = [uwf.prompt(row["step"]) for row in rows[1:] if "/" not in row["role"]]
        return cls(
            name, uwf.show(name), [row["number"] for row in rows], steps, prompts, uwf.read(name)
        )

    def flaw(self) -> str | None:
        """What is not as it should be."""
        if self.shown["running"] is not None:
            return f"{self.name} is said to run"
        if self.shown["status"] not in ("idle", "suspended", "completed", "cancelled"):
            return f"{self.name} is {self.shown['status']}"
        if self.numbers != list(range(self.shown["steps"] + 1)):
            return f"{self.name} has the steps {self.numbers}, and says {self.shown['steps']}"
        if not all(self.prompts) or not all(step["output"] for step in self.steps):
            return f"a step of {self.name} is not whole"
        if any(step["agent"] == "mock" and not step["turns"] for step in self.steps):
            return f"a step of {self.name} has lost its turns"
        return None if self.text else f"{self.name} reads as nothing"


def _lost(
    threads: Mapping[str, _Thread], acks: Sequence[Ack], doomed: Collection[str]
) -> str | None:
    """What was acknowledged and is not there."""
    for ack in acks:
        document = ack.document if isinstance(ack.document, dict) else {}
        name = document.get("thread")
        if ack.code or name is None or name in doomed:
            continue
        if name not in threads:
            return f"the thread of {' '.join(ack.words)} is lost"
        steps = document.get("steps")
        results = steps if isinstance(steps, list) else []  # a number where a thread is shown
        told = [each for each in results if each["step"] and not each["failure"]]
        if not all(each["step"] in _there(threads.get(each["thread"])) for each in told):
            return f"a step of {' '.join(ack.words)} is lost"
        if ack.words[1] == "cancel" and threads[name].shown["status"] != "cancelled":
            return "a cancelled thread is open again"
    return None


def _there(thread: _Thread | None) -> set[str]:
    """The steps of a thread, and those that a poke has replaced."""
    steps = [] if thread is None else thread.steps
    return {each for step in steps for each in (step["step"], step["attempt"]["replaces"]) if each}


def _invalid(uwf: Client) -> str | None:
    """What the verification of the whole store says."""

    found = uwf.verify()
    return None if found["valid"] else f"verify: {found['problems']}"


def _stuck(uwf: Client) -> str | None:
    """Whether exec goes on where it should."""
    for row in uwf.list():
        waits = row["suspendReason"] in ("interrupted", "failure")
        if row["status"] != "idle" and not waits:
            continue
        before = {each["thread"]: each["steps"] for each in uwf.list(ALL)}
        outcome = uwf.exec(row["thread"], agent="mock")
        if outcome.exit_code != 0 or not outcome.document["steps"][-1]["step"]:
            return f"exec does not go on: {outcome.document}"
        at = outcome.document["steps"][-1]["thread"]  # this one, or one that it called
        new = uwf.steps(at)[1 + before.get(at, 0) :]
        if sum("/" not in each["role"] for each in new) != 1:  # branches may have been recorded too
            return "exec went on to another number of steps"
        return miscalled(uwf)
    return None


def _lost_file(home: Path, acks: Sequence[Ack]) -> str | None:
    """An exported bundle or a setting that was acknowledged and is not on the disk."""
    for ack in {ack.words: ack for ack in acks if not ack.code}.values():  # the last of each
        if ack.words[:2] == ("thread", "export"):
            file = home / Path(ack.document["file"]).name
            if not file.exists() or file.stat().st_size != ack.document["bytes"]:
                return "an exported bundle is lost"
            Client.verify_bundle(file)
        if ack.words[:2] == ("config", "set"):
            file = home / "config.yaml"
            line = f"{ack.words[2].rpartition('.')[2]}: {ack.words[3]}"
            if not file.exists() or line not in file.read_text():
                return "a setting is lost"
    return None


def _cut_line(home: Path) -> str | None:
    """A line of the log that is not whole: a JSON document and a newline."""
    for file in (home / "logs").glob("uwf.log*"):
        for line in file.read_bytes().splitlines(keepends=True):
            if not line.endswith(b"}\n") or not isinstance(_document(line.decode()), dict):
                return f"a line of {file.name} is cut: {line[-80:]!r}"
    return None


DRAFTS = (
    *("*.new", ".*.new", "*.new-*", "runs/.*", "**/calls/*"),
    *("files.git/incoming-*", "files.git/restore-*", "files.git/excludes-*"),
)
"""What is there only while something is written: beside its place, or for one call."""
_OWN = re.compile(r"\.[0-9a-f]+\.new$")


def left_over(home: Path, *, own: bool = True) -> str | None:
    """A draft that nobody took away. Not `own`: without those whose names one process made up
    for itself, so that nobody else ever takes them away.
    """
    found = [path for pattern in DRAFTS for path in home.glob(pattern)]
    found = [path for path in found if "mock" not in path.parts]  # its calls are its memory
    names = [str(each.relative_to(home)) for each in found if own or not _OWN.search(each.name)]
    return f"left over: {', '.join(names)}" if names else None


def _open_to_others(home: Path) -> str | None:
    """What somebody else could read: files are 0600, folders 0700. What is below a folder in which
    agents work has the modes of the user's files.
    """
    for path in (home, *home.rglob("*")):
        if "worktrees" in path.relative_to(home).parts[:-1]:
            continue
        mode = stat.S_IMODE(path.lstat().st_mode)
        if mode & 0o077:
            return f"{path.relative_to(home.parent)} has the mode {mode:o}"
    return None
