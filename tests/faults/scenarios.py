"""What uwf is doing when something goes wrong. A new scenario is a line in SCENARIOS."""

import os
import shutil
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.core.files.recorded import repository
from tests.faults.world import EDIT, Ack, World

from uwf_core.testing.crashes import at_points, killer

Words = tuple[str, ...]
Plan = tuple[list[Ack], Sequence[Words]]


class Scene(NamedTuple):
    """A scenario made ready: the home before it, what is acknowledged, what to do."""

    name: str
    world: World
    home: Path
    acks: list[Ack]
    commands: Sequence[Words]

    @property
    def doomed(self) -> frozenset[str]:
        """The threads that a command removes: nobody is promised that they are there."""
        return frozenset(words[2] for words in self.commands if words[:2] == ("thread", "rm"))

    def own(self) -> "Scene":
        """The same for this process alone, with threads of its own, if it starts programs: a
        command that cleans up after a killed run of a thread ends whatever bears the thread's
        mark, in a copy of its home too. A worktree is in one home alone as well.
        """
        if self.name not in _OWN:
            return self
        made = _own(self.world, self.name, os.getpid())
        return made._replace(commands=made.commands[: len(self.commands)])

    def stage(self) -> World:
        """A home of this process's own, as it was before the commands."""
        mine = self.world.twin(self.world.root / f"home-{os.getpid()}")
        mine.put(self.home)
        if self.name == "worktree":
            _fill_repository(self.world)
        return mine


_OWN = ("program", "failures", "below", "worktree")


def start(world: World, *words: str, workflow: str = "loop") -> tuple[Ack, str]:
    """Start a thread: the acknowledgement, and the thread."""
    ack = world.say("thread", "start", workflow, "-p", "The task.", *words)
    return ack, ack.document["thread"]


def _start(world: World) -> Plan:
    return [], [("thread", "start", "loop", "-p", "The task."), ("thread", "exec", "@last")]


def _exec(world: World) -> Plan:
    ack, thread = start(world)
    compact = ("thread", "compact", thread, "--text", "So far.")
    return [ack], [*[("thread", "exec", thread)] * 5, compact]


def _program(world: World) -> Plan:
    """An agent that is a program of its own."""
    ack, thread = start(world, "--agent", world.agent)
    return [ack], [("thread", "exec", thread)] * 3


def _failures(world: World) -> Plan:
    """A run that was killed, an agent that fails, a person who is asked."""
    ack, thread = start(world)
    killed, _ = world.play([("thread", "exec", thread)], dying("reply:1"))
    assert killed.gone, killed
    failing, other = start(world, "--agent", "false -x")
    asking, third = start(world, "--agent", "human")
    runs = [("thread", "exec", thread), ("thread", "exec", other), ("thread", "exec", third)]
    answer = ("thread", "resume", third, "--answer", '{"$status": "done", "note": "I did."}')
    return [ack, failing, asking], [*runs, answer, ("thread", "exec", other, "--agent", "mock")]


def _names(world: World) -> Plan:
    """What changes names and files beside the chain."""
    first, thread = start(world)
    second, other = start(world)
    acks = [first, second, world.say("thread", "exec", thread, "-c", "2")]
    step = acks[-1].document["steps"][0]["step"]
    return acks, [
        ("config", "set", "limits.graceSeconds", "1"),
        ("thread", "poke", thread, "-p", "Better."),
        ("thread", "fork", step),
        ("thread", "cancel", other),
        ("thread", "rm", other),
        ("workflow", "add", ".workflow/loop.yaml"),
    ]


def _collect(world: World) -> Plan:
    """A collection, an export and a verification, with threads that have gone."""
    kept, thread = start(world)
    acks = [kept, world.say("thread", "exec", thread, "-c", "2")]
    for _ in range(2):
        _, gone = start(world)
        world.say("thread", "exec", gone, "-c", "2")
        world.say("thread", "cancel", gone)
        world.say("thread", "rm", gone)
    return acks, [
        ("cas", "gc", "--grace", "0s"),
        ("thread", "exec", thread),
        ("thread", "export", thread, "-o", "{home}/out.tar"),
        ("cas", "gc", "--grace", "0s"),
        ("cas", "verify"),
    ]


def _import(world: World) -> Plan:
    """Somebody else's thread comes into a store that has one already."""
    bundle = str(world.root / "bundle.tar")
    _, foreign = start(world)
    world.say("thread", "exec", foreign, "-c", "3")
    world.say("thread", "export", foreign, "-o", bundle)
    world.put(None)
    ack, thread = start(world)
    return [ack], [
        ("cas", "import", bundle),
        ("thread", "exec", foreign),
        ("cas", "import", bundle, "--as-new"),
        ("thread", "exec", thread),
    ]


def _calls(world: World) -> Plan:
    """A thread calls another one, records what it delivered, and calls it again."""
    ack, root = start(world, workflow="caller")
    compact = ("thread", "compact", root, "--text", "So far.")
    return [ack], [*[("thread", "exec", root)] * 3, compact]


def _below(world: World) -> Plan:
    """Everything else that uwf does, while threads wait for those that they called."""
    cancelled, first = start(world, workflow="caller")
    called = world.say("thread", "exec", first).document["steps"][0]["thread"]
    world.say("thread", "cancel", called)
    ack, root = start(world, workflow="caller")
    killed, _ = world.play([("thread", "exec", root)], dying("reply:1"))
    assert killed.gone, killed
    failing, other = start(world, "--agent", "false -x", workflow="caller")
    asking, third = start(world, "--agent", "human", workflow="caller")
    program, fourth = start(world, "--agent", world.agent, workflow="caller")
    runs = [("thread", "exec", each) for each in (root, other, third, fourth, first)]
    bundle = "{home}/out.tar"
    return [ack, failing, asking, program, cancelled], [
        *runs,
        ("thread", "resume", third, "--answer", '{"$status": "done", "note": "I did."}'),
        ("config", "set", "limits.graceSeconds", "1"),
        ("thread", "start", "loop", "-p", "The task."),
        ("thread", "export", root, "-o", bundle),
        ("cas", "import", bundle, "--as-new"),
        ("cas", "gc", "--grace", "0s"),
        ("thread", "exec", root),
        ("thread", "exec", other, "--agent", "mock"),
    ]


def _branches(world: World) -> Plan:
    """A thread runs branches in processes of their own, records them, and runs them again."""
    ack, root = start(world, workflow="branches")
    first = world.say("thread", "exec", root)
    killed, _ = world.play([("thread", "exec", root)], dying("calls:1"))
    assert killed.gone, killed
    return [ack, first], [("thread", "exec", root)] * 5


def _recorded(world: World) -> Plan:
    """The files of a folder are recorded, delivered, put elsewhere and freed."""
    folder = world.root / "files"
    folder.mkdir(exist_ok=True)
    ack, thread, edit = begun_in(world, folder, "recorded")
    first = world.say("thread", "exec", thread)
    step = first.document["steps"][0]["step"]
    return [ack, first], [
        edit("b"),
        ("thread", "exec", thread),
        ("thread", "fork", step, "--with-files"),
        edit("c"),
        ("thread", "exec", thread),
        ("cas", "gc", "--grace", "0s"),
    ]


def _fill_repository(world: World) -> Path:
    """The user's repository as it was before any thread: what another try left in it belongs to no
    thread of this home.
    """
    folder = world.root / f"repository-{world.home.name}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "report.txt").write_text("all of it")
    repository(folder)
    return folder


def _worktree(world: World) -> Plan:
    """A thread works in a git worktree, which is made first."""
    folder = _fill_repository(world)
    ack, thread, edit = begun_in(world, folder, "worktree")
    diff = ("thread", "diff", thread)
    return [ack], [("thread", "exec", thread), edit("b"), ("thread", "exec", thread), diff]


def begun_in(world: World, folder: Path, workflow: str) -> tuple[Ack, str, Callable[[str], Words]]:
    """A thread that works in a folder with a report, and what the user writes there."""

    def edit(text: str) -> Words:
        return (EDIT, str(folder / "report.txt"), text)

    world.play([edit("a")])
    ack, thread = start(world, "--cwd", str(folder), workflow=workflow)
    return ack, thread, edit


def dying(where: str) -> Callable[[], None]:
    """Lets the process that calls it die at a crash point, `name:count`."""

    def arm() -> None:
        at_points(killer(where))

    return arm


SCENARIOS = {
    "start": _start,
    "exec": _exec,
    "program": _program,
    "failures": _failures,
    "names": _names,
    "collect": _collect,
    "import": _import,
    "calls": _calls,
    "below": _below,
    "branches": _branches,
    "recorded": _recorded,
    "worktree": _worktree,
}
"""Each makes a home, and gives what was acknowledged by then and the commands to be run."""

WITH_CALLS = ("calls", "below", "branches")
"""Those in which a thread waits for another one, from the first command on or soon after."""


def scene(world: World, name: str) -> Scene:
    """The scenario of that name made ready, with its home kept."""
    world.put(None)
    acks, commands = SCENARIOS[name](world)
    return Scene(name, world, world.keep(name), acks, commands)


@cache
def _own(world: World, name: str, process: int) -> Scene:
    return scene(world.twin(world.root / f"own-{process}"), name)
