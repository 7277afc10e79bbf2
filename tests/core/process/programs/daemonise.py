"""Leaves a daemon (double fork, setsid) that ignores SIGTERM; argv: file for its id, words.

Words: `stay` (do not exit), `quiet` (the daemon lets go of stdout), `bare` (it clears its
environment, marker included).
"""

# ruff: noqa: PTH104, PTH110

import os
import signal
import sys
import time

PIDFILE, *WORDS = sys.argv[1:]


def daemon() -> None:
    os.setsid()
    if os.fork():
        os._exit(0)
    if "bare" in WORDS and "again" not in WORDS:
        os.execve(sys.executable, [sys.executable, __file__, PIDFILE, "again", *WORDS], {})
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "quiet" in WORDS:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
    with open(PIDFILE + ".part", "w") as file:
        file.write(str(os.getpid()))
    os.rename(PIDFILE + ".part", PIDFILE)
    time.sleep(60)
    os._exit(0)


if "again" in WORDS:
    if os.fork():
        os._exit(0)
    daemon()
if os.fork() == 0:
    daemon()
while not os.path.exists(PIDFILE):
    time.sleep(0.005)
print("daemon is up", flush=True)
if "stay" in WORDS:
    time.sleep(60)
