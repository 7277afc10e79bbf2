"""The reaper: the small program between uwf and an external program, run as
`python -I -S reaper.py <control> <status>`; other modules import only its constants.

It starts one program (the leader) in a separate session and outlives it until no process that
came of it is left. On Linux it is a child subreaper (prctl(2)): whatever the leader leaves behind,
daemonised grandchildren included, becomes the reaper's child and can be found. On macOS there is
no subreaper: there the tree is the leader's process group, and a process that leaves it is found
only by the environment marker (leftovers.py).

`control` (read end) brings the order (`Order.encode`), then `STOP` to end the tree. Its end of
file means that uwf is dead: the lifeline. `status` (write end) takes one line per event:
    started <pid> <start in ticks>      the leader runs
    failed <chdir|exec> <errno>         it could not be started; the reaper ends
    exit <wait status>                  the leader has ended, as reported by waitpid(2)
    outlived                            a process of its tree had not ended before it
    left                                something is still there after repeated SIGKILL
and is closed when the reaper ends. Signals to the reaper itself mean `STOP`.

Stopping is: the first signal, if any, to the leader's group, then half the grace; TERM to every
process of the tree, then the grace; KILL until none is left. Start-up time is paid by every
program that runs, which is why there are only cheap imports here (`_signal` is what `signal` wraps
in enums).
"""

# ruff: noqa: PTH208

import _signal  # type: ignore[import-not-found]
import os
import select
import sys
import time

STOP = b"S"
LINGER_SECONDS = 0.5
"""How long the rest of the tree may run after the leader has ended by itself."""
ORPHAN_SECONDS = 1.0
"""The longest wait of each stage of stopping once uwf is dead."""
KILL_SECONDS = 10.0
"""How long KILL is repeated: only what may not be signalled or hangs in the kernel outlasts it."""
_HEADER = 8
_PR_SET_DUMPABLE = 4  # of linux/prctl.h, as is the next one
_PR_SET_CHILD_SUBREAPER = 36


class Order:
    """The order of the reaper: sent as 8 bytes of length and fields separated by NUL."""

    def __init__(self, engine: int, grace: float, first_signal: int) -> None:
        self.engine = engine
        self.grace = grace
        self.first_signal = first_signal
        self.path = b""
        self.cwd = b""
        self.argv: list[bytes] = []
        self.env: dict[bytes, bytes] = {}

    def encode(self) -> bytes:
        """The bytes for the control pipe. No field may hold a NUL."""
        numbers = b"%d\0%d\0%d\0%d" % (
            self.engine,
            int(self.grace * 1000),
            self.first_signal,
            len(self.argv),
        )
        pairs = [name + b"=" + value for name, value in self.env.items()]
        body = b"\0".join([numbers, self.path, self.cwd, *self.argv, *pairs])
        return len(body).to_bytes(_HEADER, "big") + body

    @classmethod
    def read(cls, control: int) -> "Order | None":
        """The order from the control pipe; None if uwf died before it was whole."""
        data = bytearray()
        while len(data) < _HEADER or len(data) - _HEADER < int.from_bytes(data[:_HEADER], "big"):
            chunk = os.read(control, 65536)
            if not chunk:
                return None
            data += chunk
        fields = bytes(data[_HEADER:]).split(b"\0")
        engine, grace_ms, first_signal, count = (int(field) for field in fields[:4])
        order = cls(engine, grace_ms / 1000, first_signal)
        order.path, order.cwd = fields[4:6]
        order.argv = fields[6 : 6 + count]
        for pair in fields[6 + count :]:
            name, _, value = pair.partition(b"=")
            order.env[name] = value
        return order


class Reaper:
    """One program, from its start until nothing is left of it."""

    def __init__(self, order: Order, control: int, status: int) -> None:
        self.order = order
        self.control: int | None = control
        self.status = status
        self.leader = 0
        self.leader_ended = False
        self.orphaned = False
        self.stopping = False
        self.signals = _catch_signals()
        self.subreaper = _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _prctl(_PR_SET_DUMPABLE, 0)  # what runs below us may not write our `status`
        self.poll = select.poll()
        self.poll.register(control, select.POLLIN)
        self.poll.register(self.signals, select.POLLIN)

    def run(self) -> None:
        """Start the leader, watch it, clean up behind it."""
        if not self.start():
            return
        while not (self.leader_ended or self.stopping):
            self.listen(1.0)
            self.reap()
        self.end_tree()

    def start(self) -> bool:
        """Start the leader with only 0, 1 and 2 open, and close these here; whether it runs.

        posix_spawn reports whether the exec succeeded.
        """
        stage = b"chdir"
        try:
            os.chdir(self.order.cwd)
            stage = b"exec"
            self.leader = os.posix_spawn(
                self.order.path,
                self.order.argv,
                self.order.env,
                setsid=True,
                setsigmask=(),
                setsigdef=_signal.valid_signals() - {_signal.SIGKILL, _signal.SIGSTOP},
            )
        except OSError as error:
            self.report(b"failed %s %d" % (stage, error.errno or 0))
            return False
        _let_go_of_stdio()
        self.report(b"started %d %s" % (self.leader, _start_ticks(self.leader)))
        return True

    def listen(self, seconds: float) -> None:
        """Wait for a command of uwf, a signal or a child's end, at most so long."""
        ready = [fd for fd, _ in self.poll.poll(seconds * 1000)]
        if self.signals in ready and set(os.read(self.signals, 512)) - {_signal.SIGCHLD}:
            self.stopping = True
        if self.control is not None and self.control in ready:
            self.hear(os.read(self.control, 64))
        if os.getppid() != self.order.engine:
            self.hear(b"")

    def hear(self, word: bytes) -> None:
        """Read a command of uwf; end of file means that it is dead."""
        self.stopping = True
        if not word:
            self.orphaned = True
            if self.control is not None:
                self.poll.unregister(self.control)
                self.control = None

    def reap(self) -> bool:
        """Collect the children that have ended; whether any process of the tree is left.

        What outlives the leader is a child of this process by the time the leader can be
        collected, so it is either collected with it or still there.
        """
        status, others = None, False
        try:
            while True:
                pid, ended = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    left = True
                    break
                if pid == self.leader:
                    status = ended
                else:
                    others = True
        except ChildProcessError:
            left = not self.subreaper and self.signal_group(0)
        if status is not None:
            self.leader_ended = True
            self.report(b"exit %d" % status)
            if left or others:
                self.report(b"outlived")
        return left

    def end_tree(self) -> None:
        """End everything that came of the leader."""
        if not self.leader_ended and self.order.first_signal:
            self.signal_group(self.order.first_signal)
            self.wait(self.order.grace / 2, for_leader=True)
        if self.leader_ended and self.wait(LINGER_SECONDS):
            return
        self.signal_tree(_signal.SIGTERM)
        self.signal_tree(_signal.SIGCONT)  # TERM reaches a stopped process only then
        if self.wait(self.order.grace):
            return
        deadline = time.monotonic() + KILL_SECONDS
        while not self.wait(0.02):
            if time.monotonic() > deadline:
                self.report(b"left")
                return
            self.signal_tree(_signal.SIGKILL)

    def wait(self, seconds: float, *, for_leader: bool = False) -> bool:
        """Wait until the tree (or the leader) has ended, at most so long; whether it has."""
        start = time.monotonic()
        while self.reap() and not (for_leader and self.leader_ended):
            limit = min(seconds, ORPHAN_SECONDS) if self.orphaned else seconds
            left = start + limit - time.monotonic()
            if left <= 0:
                return False
            self.listen(min(left, 0.1))
        return True

    def signal_tree(self, number: int) -> None:
        """Signal every process of the tree. KILL goes to their groups as well, since that reaches
        all members at once, also those born while we look.
        """
        if not self.subreaper:
            self.signal_group(number)
            return
        tree = _descendants(os.getpid())
        for pid in tree:
            _kill(pid, number)
        if number == _signal.SIGKILL:
            for group in set(tree.values()) - {os.getpgrp()}:
                if group > 1:  # 0 and -1 would mean everybody
                    _kill(-group, number)

    def signal_group(self, number: int) -> bool:
        """Signal the leader's process group; whether there is any."""
        return _kill(-self.leader, number)

    def report(self, line: bytes) -> None:
        """Report to uwf, if it still listens."""
        try:
            os.write(self.status, line + b"\n")
        except BrokenPipeError:
            self.orphaned = True


def _descendants(root: int) -> dict[int, int]:
    """Every process below `root`, with its process group, from the parents in /proc/<pid>/stat."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            fields = _stat(int(name))
            if fields:
                children.setdefault(int(fields[1]), []).append((int(name), int(fields[2])))
    found: dict[int, int] = {}
    ahead = [root]
    while ahead:
        for pid, group in children.get(ahead.pop(), ()):
            found[pid] = group
            ahead.append(pid)
    return found


def _stat(pid: int) -> list[bytes]:
    """The fields of /proc/<pid>/stat from the third (the state) on; none if it is gone."""
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return []
    try:
        return os.read(file, 4096).rpartition(b") ")[2].split()
    except ProcessLookupError:
        return []
    finally:
        os.close(file)


def _start_ticks(pid: int) -> bytes:
    fields = _stat(pid)
    return fields[19] if fields else b"-"


def _kill(pid: int, number: int) -> bool:
    """Send a signal; whether the process exists."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _catch_signals() -> int:
    """Turn signals into bytes, one per signal, on the pipe whose read end is given back."""
    read, write = os.pipe()
    os.set_blocking(read, False)
    os.set_blocking(write, False)
    _signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    for name in ("SIGCHLD", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"):
        _signal.signal(getattr(_signal, name), lambda _number, _frame: None)
    return read


def _prctl(option: int, value: int) -> bool:
    """Set a property of this process; whether the system did."""
    if sys.platform != "linux":
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def _let_go_of_stdio() -> None:
    """So that uwf sees the end of file, and the leader the broken pipe, that are meant for them."""
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.close(null)
    os.chdir("/")


def main(control: int, status: int) -> None:
    """Run as a program: the two pipes are inherited and go no further."""
    os.set_inheritable(control, False)
    os.set_inheritable(status, False)
    order = Order.read(control)
    if order is not None:
        Reaper(order, control, status).run()
    os._exit(0)  # nothing to clean up, and uwf waits


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
