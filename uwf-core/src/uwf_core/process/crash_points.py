"""Named places at which tests let the process die, as a kill or a power cut would.

`UWF_TEST_CRASH=POINT:COUNT` in the environment: the process kills itself when it reaches POINT for
the COUNTth time. Only tests set it; without it a point is a call of an empty function.

A caller writes `crash_points.reach("name")`, with a name of `POINTS`.
"""

import os
from collections.abc import Callable

VARIABLE = "UWF_TEST_CRASH"

POINTS = (
    "store-draft",  # a new store is written, and not yet in its place
    "store-made",  # … and is
    "locked",  # a lock is taken, nobody has written who holds it
    "transaction",  # a transaction is begun
    "node",  # a node is about to be written
    "variable",  # a name is about to be moved
    "commit",  # everything is written, nothing is committed
    "committed",  # … and is
    "start",  # a thread is about to get its head
    "begin",  # an attempt, with what the agent is told, is about to become the thread's
    "spawn",  # a program is about to be started
    "spawned",  # … and runs
    "exchange",  # the files for a command are written
    "progress",  # turns are about to be kept
    "reply",  # the agent has answered, nothing of it is kept
    "keep",  # what it said is about to be kept
    "record",  # the step is about to be stored
    "advance",  # the head is about to move
    "fail",  # a failed attempt is about to be stored
    "question",  # a question to a person is about to be stored
    "recover",  # what an interrupted run left behind is about to be written down
    "run-file",  # what a run did is written beside its place
    "private-file",  # a file of the configuration is written beside its place
    "sweep",  # what nobody reaches is deleted, and nothing is committed
    "import",  # the nodes of a bundle are written, and none of its names
    "bundle-file",  # a bundle is written beside its place
    "log",  # a line of the log is about to be written
)


def _pass_by(name: str) -> None:
    """Nothing is asked for here."""


def killer(wanted: str) -> Callable[[str], None]:
    """What kills this process at the point, and the time, that `wanted` names."""
    import signal
    from itertools import count

    point, _, times = wanted.partition(":")
    reached = count(1)

    def reach(name: str) -> None:
        if name == point and next(reached) == int(times or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    return reach


reach = killer(os.environ[VARIABLE]) if VARIABLE in os.environ else _pass_by
"""Say that a point is reached."""
