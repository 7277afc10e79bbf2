"""Find and end processes that an attempt left behind despite its reaper, by an environment
variable that children inherit. A reaper, whose environment is hidden, has
the same words as an argument.

On Linux the environment is /proc/<pid>/environ: what the process was started with. On macOS
`ps -E` shows it, for our own processes that are not protected by the system.
"""

import os
import sys
import time

from uwf_core.process.identity import ProcessId, send_signal
from uwf_core.process.tree import ProcessEntry, ancestors, family, processes

ATTEMPT_VARIABLE = "UWF_ATTEMPT"
"""The environment variable that marks every process of an attempt; its value is the marker."""

_KILL_SECONDS = 10.0


def end_leftovers(marker: str, *, grace_seconds: float) -> int:
    """End every process whose environment (or a reaper's arguments) holds
    `UWF_ATTEMPT=<marker>`, with all its children: TERM, the grace, then KILL until none is left.
    Return how many there were.

    This process and those above it are never ended, whatever their environment says. A reaper
    that is found ends its own tree on TERM. What outlasts repeated KILL is left.
    """
    import signal

    left = leftovers(marker)
    seen = set(left)
    for process in left:
        send_signal(process, signal.SIGTERM)
        send_signal(process, signal.SIGCONT)
    deadline = time.monotonic() + grace_seconds
    while left and time.monotonic() < deadline:
        time.sleep(0.02)
        left = [process for process in left if process.is_alive()]
    deadline = time.monotonic() + _KILL_SECONDS
    while (still_there := _still_there(seen, marker)) and time.monotonic() < deadline:
        seen.update(still_there)
        for process in still_there:
            send_signal(process, signal.SIGKILL)
        time.sleep(0.02)
    return len(seen)


def _still_there(seen: set[ProcessId], marker: str) -> set[ProcessId]:
    """Those that were seen and live, and new ones. A child without the marker is not found again
    once its marked parent has ended.
    """
    if not seen:
        return set()
    return {process for process in seen if process.is_alive()} | set(leftovers(marker))


def leftovers(marker: str) -> list[ProcessId]:
    """The processes whose environment holds the marker, and what is below them: those that
    live. Never this process nor those above it.
    """
    table = processes()
    own = os.getpid()
    wanted = f"{ATTEMPT_VARIABLE}={marker}".encode()
    marked = _marked_by_proc(table, wanted) if sys.platform == "linux" else _marked_by_ps(wanted)
    found = family(table, marked, stop=own) - ancestors(table, own)
    return [table[pid].process for pid in found if table[pid].process.is_alive()]


def _marked_by_proc(table: dict[int, ProcessEntry], wanted: bytes) -> list[int]:
    user = os.getuid()
    return [
        pid
        for pid, entry in table.items()
        if entry.user == user
        and any(wanted in _words(f"/proc/{pid}/{name}") for name in ("environ", "cmdline"))
    ]


def _words(file: str) -> list[bytes]:
    try:
        with open(file, "rb") as opened:
            return opened.read().split(b"\0")
    except OSError:  # the process ended meanwhile, or does not show this to us
        return []


def _marked_by_ps(wanted: bytes) -> list[int]:
    import subprocess

    done = subprocess.run(
        ["/bin/ps", "-U", str(os.getuid()), "-E", "-ww", "-o", "pid=,command="],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return parse_ps_environments(done.stdout, wanted)


def parse_ps_environments(text: bytes, wanted: bytes) -> list[int]:
    """The numbers of the lines of `ps -E -o pid=,command=` that hold the word `wanted`."""
    lines = [line.split() for line in text.splitlines()]
    return [int(words[0]) for words in lines if wanted in words[2:]]
