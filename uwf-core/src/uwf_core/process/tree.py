"""List processes and their parents, outside a reaper.

Linux reads /proc/<pid>/stat (proc(5)); macOS asks `ps`, which shows no more than parents and
groups, so a daemonised process is found only by the environment marker there.
"""

# ruff: noqa: PTH116, PTH208

import os
import sys
import time
from collections.abc import Iterable
from typing import NamedTuple

from uwf_core.process.identity import ProcessId, boot_id, send_signal, start_of_ticks, stat_fields

_KILL_SECONDS = 5.0


class ProcessEntry(NamedTuple):
    """One process: itself, its parent's number, its session's number (macOS: its group's), and
    the number of its user.
    """

    process: ProcessId
    parent: int
    session: int
    user: int


def processes() -> dict[int, ProcessEntry]:
    """Every process that can be seen now, by its number."""
    entries = _by_proc() if sys.platform == "linux" else parse_ps(_ps_table())
    return {entry.process.pid: entry for entry in entries}


def family(table: dict[int, ProcessEntry], roots: Iterable[int], stop: int) -> set[int]:
    """`roots` and everything below them, never `stop` nor what is below it."""
    children: dict[int, list[int]] = {}
    for pid, entry in table.items():
        children.setdefault(entry.parent, []).append(pid)
    found: set[int] = set()
    ahead = [pid for pid in roots if pid in table]
    while ahead:
        pid = ahead.pop()
        if pid != stop and pid not in found:
            found.add(pid)
            ahead.extend(children.get(pid, ()))
    return found


def ancestors(table: dict[int, ProcessEntry], pid: int) -> set[int]:
    """`pid` and all processes above it."""
    found: set[int] = set()
    while pid in table and pid not in found:
        found.add(pid)
        pid = table[pid].parent
    return found


def kill_family(reaper: ProcessId, leader: ProcessId) -> None:
    """KILL a tree whose reaper is dead or does not respond: the last resort.

    That is every process below reaper or leader, or still in the leader's session. One that left
    the session is found by its environment marker once the reaper is dead (leftovers.py).
    """
    import signal

    deadline = time.monotonic() + _KILL_SECONDS
    left = _family_of(reaper, leader)
    while left and time.monotonic() < deadline:
        for process in left:
            send_signal(process, signal.SIGKILL)
        time.sleep(0.02)
        left = _family_of(reaper, leader)


def _family_of(reaper: ProcessId, leader: ProcessId) -> list[ProcessId]:
    table = processes()
    roots = [each.pid for each in (reaper, leader) if each.is_alive()]
    found = family(table, roots, stop=os.getpid())
    # A number is not given to a new process while it is still the number of a session, so a session
    # of that number is the leader's unless another process has the number itself.
    if leader.pid not in table or table[leader.pid].process == leader:
        found |= {pid for pid, entry in table.items() if entry.session == leader.pid}
    return [table[pid].process for pid in found if table[pid].process.is_alive()]


def _by_proc() -> list[ProcessEntry]:
    found = []
    boot = boot_id()
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                fields = stat_fields(file.read())
            user = os.stat(f"/proc/{name}").st_uid
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it ended meanwhile, or is hidden from us
        process = ProcessId(int(name), start_of_ticks(fields[19], boot))
        found.append(ProcessEntry(process, int(fields[1]), int(fields[3]), user))
    return found


def _ps_table() -> str:
    import subprocess

    done = subprocess.run(
        ["/bin/ps", "-A", "-o", "pid=,ppid=,pgid=,uid=,lstart="],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={"LC_ALL": "C", "TZ": "UTC"},
    )
    return done.stdout.decode("ascii", "replace")


def parse_ps(text: str) -> list[ProcessEntry]:
    """Entries out of `ps -o pid=,ppid=,pgid=,uid=,lstart=`."""
    found = []
    for line in text.splitlines():
        pid, parent, group, user, *start = line.split()
        process = ProcessId(int(pid), " ".join(start))
        found.append(ProcessEntry(process, int(parent), int(group), int(user)))
    return found
