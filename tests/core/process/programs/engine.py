"""Stands for uwf: runs the program argv[3:] under a reaper, to be killed in the middle.

argv[1]: the marker; argv[2]: words: `terminal` (make stdin the controlling terminal), `detach`
(start it detached instead, and stay), `two` (run it twice at once). Prints what happens:
`started PID REAPER`, `said LINE`, `ended WHY CODE`.
"""

import os
import signal
import sys
import threading
import time

from uwf_core.client import Cancel
from uwf_core.process.detach import start_detached
from uwf_core.process.identity import ProcessId
from uwf_core.process.program import ProcessLimits, Program, run_program

MARKER, WORDS, *ARGV = sys.argv[1:]
ENV = {**os.environ, "UWF_ATTEMPT": MARKER}


def tell(identity: ProcessId) -> None:
    with open(f"/proc/{identity.pid}/stat", "rb") as file:
        reaper = file.read().rpartition(b") ")[2].split()[1].decode()
    print(f"started {identity.pid} {reaper}\n", end="", flush=True)


def work(cancel: Cancel) -> None:
    result = run_program(
        Program(argv=tuple(ARGV), cwd="/", env=ENV),
        ProcessLimits(grace_seconds=2),
        cancel=cancel,
        on_start=tell,
        on_line=lambda line: print(f"said {line.decode()}", flush=True),
    )
    print(f"ended {result.end.value} {result.exit_code}", flush=True)


def main() -> None:
    if "terminal" in WORDS:
        import fcntl
        import termios

        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if "detach" in WORDS:
        tell(start_detached(ARGV, cwd="/", env=ENV))
        time.sleep(60)
    cancel = Cancel()
    signal.signal(signal.SIGINT, lambda _number, _frame: cancel.set("Ctrl-C"))
    if "two" in WORDS:
        threading.Thread(target=work, args=(cancel,), daemon=True).start()
    work(cancel)


main()
