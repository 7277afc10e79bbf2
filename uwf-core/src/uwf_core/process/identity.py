"""Identify a process by its id and its start time.

A process id alone is reused by the system. Here a process is its id *and* its start time, so that
a recorded process is never confused with a later one of the same number.

Linux: the start time is field 22 of `/proc/<pid>/stat` (clock ticks since boot, see proc(5)),
followed by the head of the boot id, since ticks start at zero with every boot. macOS has no /proc:
there the start time is what `ps -o lstart=` prints, which is exact to the second only.
"""

import os
import sys
from functools import lru_cache
from typing import NamedTuple, Self


class ProcessId(NamedTuple):
    """A process.

    Attributes:
        pid: its id.
        start: its start time, as an opaque text; only compare it.
    """

    pid: int
    start: str

    @classmethod
    def of(cls, pid: int) -> Self | None:
        """The process that has the number `pid` now (a zombie too), or None if there is none."""
        start = start_of(pid)
        return None if start is None else cls(pid, start)

    @classmethod
    def own(cls) -> Self:
        """This process."""
        return cls(os.getpid(), _own_start(os.getpid()))

    def is_alive(self) -> bool:
        """Whether it still runs: the same number with the same start time, and no zombie."""
        state = _state(self.pid)
        return state is not None and state[1] == self.start and state[0] not in "ZX"


@lru_cache(maxsize=1)
def _own_start(pid: int) -> str:
    """By the number, which is another one after a fork."""
    return start_of(pid) or "unknown"


def start_of(pid: int) -> str | None:
    """The start time of the process that has the number `pid` now, None if there is none."""
    state = _state(pid)
    return None if state is None else state[1]


def start_of_ticks(ticks: str, boot: str) -> str:
    """The start time that belongs to field 22 of `/proc/<pid>/stat` in the boot `boot`."""
    return f"{ticks}-{boot}" if boot else ticks


def boot_id() -> str:
    """The head of this boot's id; empty where a sandbox does not show it."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(8)
    except OSError:
        return ""


def hostname() -> str:
    """This machine's name, as holders of locks are shown with it."""
    return os.uname().nodename


def send_signal(identity: ProcessId, signal_number: int) -> bool:
    """Send a signal to exactly this process; whether it was sent.

    Nothing is sent when the process is gone, when its number now belongs to another process, or
    when it belongs to another user. Where the system has pidfds, the check and the signal concern
    one and the same process even if the number is reused in between.
    """
    if identity.pid <= 0:
        return False
    try:
        return _send(identity, signal_number)
    except (ProcessLookupError, PermissionError):
        return False


def _send(identity: ProcessId, signal_number: int) -> bool:
    handle = _pidfd(identity.pid)
    try:
        if not identity.is_alive():
            return False
        if handle is None:
            os.kill(identity.pid, signal_number)
        else:
            import signal

            signal.pidfd_send_signal(handle, signal_number)
        return True
    finally:
        if handle is not None:
            os.close(handle)


def _pidfd(pid: int) -> int | None:
    """A handle on the process that cannot come to mean another one, where the system has them."""
    if sys.platform != "linux":
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:  # a kernel before 5.3, or a sandbox that forbids the call
        return None


def _state(pid: int) -> tuple[str, str] | None:
    """State letter and start time of a process."""
    if pid <= 0:
        return None
    if sys.platform != "linux":
        return _state_by_ps(pid)
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = stat_fields(file.read())
    except (FileNotFoundError, ProcessLookupError):
        return None
    return fields[0], start_of_ticks(fields[19], boot_id())


def stat_fields(stat: bytes) -> list[str]:
    """The fields of a `/proc/<pid>/stat` from the third (the state) on.

    The second field is the program's name in brackets, and may hold blanks and brackets itself.
    """
    return stat[stat.rindex(b")") + 2 :].decode("ascii").split()


def _state_by_ps(pid: int) -> tuple[str, str] | None:
    import subprocess

    done = subprocess.run(
        ["/bin/ps", "-o", "state=,lstart=", "-p", str(pid)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        env={"LC_ALL": "C", "TZ": "UTC"},
    )
    return parse_ps_state(done.stdout.decode("ascii", "replace"))


def parse_ps_state(line: str) -> tuple[str, str] | None:
    """State letter and start time out of a line of `ps -o state=,lstart=`; None if it is blank."""
    state, _, start = line.strip().partition(" ")
    return (state[:1], " ".join(start.split())) if state and start else None
