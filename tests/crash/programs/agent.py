"""A command agent for tests: `agent.py SCENARIO --thread … --role … --prompt … --mode … …`.

Each process writes its start time into a file named after its id in $UWF_TEST_PIDS.
"""
# Importing pathlib would take longer than all the rest.
# ruff: noqa: PTH104, PTH110, PTH118, PTH208

import json
import os
import signal
import sys
import time
from contextlib import suppress

SESSION = "s-1"
PIDS = os.environ["UWF_TEST_PIDS"]
WORDS = sys.argv[2:]
GIVEN = {WORDS[at][2:]: WORDS[at + 1] for at in range(0, len(WORDS), 2)}
STATUS = {"writer": "done", "checker": "again"}[GIVEN["role"]]


def start_of(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2].split()[19]
    except OSError:
        return b""


def sign_in() -> None:
    path = os.path.join(PIDS, str(os.getpid()))
    with open(path + ".part", "wb") as file:
        file.write(start_of(os.getpid()))
    os.rename(path + ".part", path)


def end_kids() -> None:
    """End everybody who has signed in, but us."""
    for name in os.listdir(PIDS):
        if name.isdigit() and int(name) != os.getpid():
            with open(os.path.join(PIDS, name), "rb") as file:
                if start_of(int(name)) == file.read():
                    with suppress(ProcessLookupError):  # it has ended by itself
                        os.kill(int(name), signal.SIGKILL)


def event(**fields) -> None:
    with open(os.environ["UWF_EVENTS"], "a", encoding="utf-8") as file:
        file.write(json.dumps(fields) + "\n")


def reply() -> None:
    output = {"$status": STATUS}
    print(json.dumps({"output": output, "sessionId": GIVEN.get("session", SESSION)}), flush=True)


def kid(*, daemon: bool, bare: bool) -> int:
    """A child that does not go by itself; as a daemon it is no child of ours any more."""
    pid = os.fork()
    if pid:
        if daemon:
            os.waitpid(pid, 0)
        return pid
    if daemon:
        os.setsid()
        if os.fork():
            os._exit(0)
    if bare:
        code = f"import os, time\nopen({PIDS!r} + '/' + str(os.getpid()), 'wb').write("
        code += "open('/proc/self/stat', 'rb').read().rpartition(b') ')[2].split()[19])\n"
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code + "time.sleep(600)"], {})
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sign_in()
    time.sleep(600)
    os._exit(0)


def kids(seconds: float = 0.25, *, bare: bool = True) -> None:
    """Work with a child and two daemons, one of them without an environment; all hold stdout."""
    event(session=SESSION)
    event(turn={"text": "I begin"})
    event(usage={"inputTokens": 7})
    kid(daemon=False, bare=False)
    kid(daemon=True, bare=False)
    kid(daemon=True, bare=bare)
    time.sleep(seconds)
    event(turn={"text": "I have worked"})
    end_kids()
    reply()


def litter() -> None:
    """Deliver, and leave a child and two daemons behind that hold stdout open."""
    kid(daemon=False, bare=False)
    kid(daemon=True, bare=False)
    kid(daemon=True, bare=True)
    reply()


def told() -> None:
    """Say how long a prompt arrived, and whether it has a NUL."""
    with open(os.environ["UWF_REQUEST"], encoding="utf-8") as file:
        task = json.load(file)["parts"]["task"]
    event(turn={"text": f"{task.count('x')} letters x, NUL: {chr(0) in task}"})
    reply()


def pack() -> None:
    """As `kids`, but all keep the environment."""
    kids(bare=False)


def long(*, bare: bool = True) -> None:
    """As `kids`, but for ever; once the file `enough` is there, say what was told and be done."""
    if os.path.exists(os.path.join(PIDS, "enough")):
        with open(os.environ["UWF_REQUEST"], encoding="utf-8") as file:
            event(turn={"text": json.load(file)["prompt"]})
        reply()
    else:
        kids(600, bare=bare)


def long_pack() -> None:
    """As `long`, but all keep the environment."""
    long(bare=False)


def deaf() -> None:
    """As `long`, and hear no SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    long()


def slow() -> None:
    """A turn every hundredth of a second, and then work until the file `go` is there."""
    event(session=SESSION)
    for number in range(20):
        event(turn={"text": f"turn {number}"})
        time.sleep(0.01)
    while not os.path.exists(os.path.join(PIDS, "go")):
        time.sleep(0.02)
    reply()


sign_in()
globals()[sys.argv[1].replace("-", "_")]()
