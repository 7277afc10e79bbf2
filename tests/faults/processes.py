"""The real command, as a process of its own: killed, interrupted, short of files, with nobody who
reads what it prints.

The other experiments run uwf in children that share this process's memory, which is quick; here is
what only a start from nothing shows: the entry point, real signals, real limits of the system.
"""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.faults.forked import spread
from tests.faults.table import Case, Effort
from tests.faults.world import Ack, World, left_over, unsound

from uwf_core.testing.crashes import POINTS as EVERY

UWF = str(Path(sys.executable).with_name("uwf"))
_ELSEWHERE = (
    "progress", "fail", "question", "recover", "import", "call", "return", "calls", "join",
    "compact", "worktree", "worktree-made", "snapshot",
)  # fmt: skip
POINTS = tuple(point for point in EVERY if point not in _ELSEWHERE)
"""Where the process kills itself: the commands below come to each of them every time."""
_BUSY, _INTERRUPTED = 75, 130
_SECONDS = 60.0

SLEEPER = """
sleep 600 &
echo $! > {mark}.new && mv {mark}.new {mark}
wait
"""
"""An agent that leaves a process of its own, and tells us which."""

Deed = Callable[[World], str | None]


def processes(world: World, effort: Effort) -> Iterator[Case]:
    """Every deed, each in a home of its own."""
    deeds = dict(_deeds())
    names = effort.sample(list(deeds), 16)

    def do(name: str) -> str | None:
        mine = world.twin(world.root / f"home-{os.getpid()}")
        mine.put(None)
        return deeds[name](mine)

    for name, fault in spread(names, do, effort.workers):
        yield Case(name, fault)


def _deeds() -> Iterator[tuple[str, Deed]]:
    for point in POINTS:
        yield f"killed at {point}", partial(_killed_at, point)
    for point in ("calls", "join"):
        yield f"killed at {point}", partial(_killed_at, point, commands=_with_branches)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        yield f"{number.name} while an agent works", partial(_signalled, number)
    for size in (0, 1 << 12, 1 << 14, 1 << 16, 1 << 17):
        limit = partial(resource.setrlimit, resource.RLIMIT_FSIZE, (size, size))
        yield f"no file longer than {size:,}", partial(_limited, limit)
    for count in (12, 14, 16, 20):
        limit = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (count, count))
        yield f"no more than {count} files", partial(_limited, limit)
    yield "nobody reads the output", _unread
    yield "output to a full disk", partial(_printed_to, "/dev/full")
    for count in range(4):
        yield f"two at once, {count + 1}", _two


def _env(world: World, **more: str) -> dict[str, str]:
    """The world's, and where the sources are that this process runs."""
    ours = {key: os.environ[key] for key in ("PYTHONPATH",) if key in os.environ}
    return {**world.env, **ours, **more}


def _uwf(world: World, words: Sequence[str], env: Mapping[str, str] = {}, **how: Any) -> Ack:
    """Run the command to its end; `document` is None where it printed none."""
    line = [UWF, *(word.replace("{home}", str(world.home)) for word in words)]
    done = subprocess.run(
        line, cwd=world.project, env=_env(world, **env), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=_SECONDS, check=False, **how,
    )  # fmt: skip
    if "Traceback" in done.stderr or "internal error in uwf" in done.stderr:
        raise AssertionError(f"{' '.join(words)}: {done.stderr[-700:]}")
    try:
        return Ack(tuple(words), done.returncode, json.loads(done.stdout))
    except ValueError:
        return Ack(tuple(words), done.returncode, None)


def _commands(world: World) -> list[tuple[str, ...]]:
    return [
        ("thread", "start", "loop", "-p", "The task."),
        ("thread", "exec", "@last"),
        ("thread", "exec", "@last", "--agent", world.agent),
        ("config", "set", "limits.graceSeconds", "1"),
        ("thread", "export", "@last", "-o", "{home}/out.tar"),
        ("cas", "gc", "--grace", "0s"),
    ]


def _with_branches(_: World) -> list[tuple[str, ...]]:
    run = ("thread", "exec", "@last", "-c", "5")
    return [("thread", "start", "branches", "-p", "The task."), run, run]


def _killed_at(
    point: str, world: World, commands: Callable[[World], list[tuple[str, ...]]] = _commands
) -> str | None:
    acks = list[Ack]()
    for words in commands(world):
        acks.append(_uwf(world, words, {"UWF_TEST_CRASH": point}))
        if acks[-1].code == -signal.SIGKILL:
            break
        if acks[-1].code:
            return f"{' '.join(words)} ended with {acks[-1].code}"
    else:
        return "no command comes to this point"
    made = any(ack.document and not ack.code for ack in acks)  # the thread
    for words in commands(world)[1 if made else 0 :]:
        acks.append(_uwf(world, words))
        if acks[-1].code:
            return f"afterwards {' '.join(words)} ended with {acks[-1].code}"
    return unsound(world, acks, gone=True) or left_over(world.home, own=False)


def _started(world: World) -> Ack:
    ack = _uwf(world, ("thread", "start", "loop", "-p", "The task."))
    assert ack.code == 0, ack
    return ack


def _open(world: World, words: Sequence[str], **how: Any) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [UWF, *words], cwd=world.project, env=_env(world), stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, **({"stdout": subprocess.PIPE} | how),
    )  # fmt: skip


def _signalled(number: signal.Signals, world: World) -> str | None:
    """The agent's whole tree goes with the command, and the thread goes on."""
    ack, mark = _started(world), Path(f"{world.home}.mark")
    mark.unlink(missing_ok=True)
    agent = Path(f"{world.home}.sh")
    agent.write_text(SLEEPER.format(mark=mark))
    running = _open(world, ("thread", "exec", "@last", "--agent", f"sh {agent}"))
    if not _soon(mark.exists):
        running.kill()
        return f"the agent did not begin: {running.communicate()}"
    running.send_signal(number)
    _, err = running.communicate(timeout=_SECONDS)
    wanted = -number if number == signal.SIGKILL else _INTERRUPTED
    if running.returncode != wanted or "Traceback" in err:
        return f"ended with {running.returncode} instead of {wanted}: {err[-300:]}"
    if not _soon(lambda: not _lives(int(mark.read_text()))):
        return "what the agent had started lives on"
    return unsound(world, [ack], gone=number == signal.SIGKILL)


def _limited(limit: Callable[[], None], world: World) -> str | None:
    """Each command does its work or says in words of ours why not; nothing that it said is lost."""
    acks = [_started(world)]
    acks += [_uwf(world, words, preexec_fn=limit) for words in _commands(world)[1:]]
    return unsound(world, acks)


def _unread(world: World) -> str | None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return _printed(world, writer)
    finally:
        os.close(writer)


def _printed_to(path: str, world: World) -> str | None:
    with open(path, "wb") as file:
        return _printed(world, file.fileno())


def _printed(world: World, out: int) -> str | None:
    """A step that nobody could be told of is stored all the same."""
    ack = _started(world)
    running = _open(world, ("thread", "exec", "@last"), stdout=out)
    _, err = running.communicate(timeout=_SECONDS)
    if "Traceback" in err or "internal error in uwf" in err:
        return err[-500:]
    shown = _uwf(world, ("thread", "show", "@last"))
    if shown.document["steps"] != 1:
        return f"it has {shown.document['steps']} steps"
    return unsound(world, [ack])


def _two(world: World) -> str | None:
    ack = _started(world)
    both = [_open(world, ("thread", "exec", "@last")) for _ in range(2)]
    ends = [each.communicate(timeout=_SECONDS) for each in both]
    codes = sorted(each.returncode for each in both)
    if codes not in ([0, 0], [0, _BUSY]):
        return f"they ended with {codes}: {ends}"
    steps = _uwf(world, ("thread", "show", "@last")).document["steps"]
    if steps != codes.count(0):
        return f"{codes.count(0)} of them took a step, and there are {steps}"
    return unsound(world, [ack])


def _soon(is_so: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + _SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"
