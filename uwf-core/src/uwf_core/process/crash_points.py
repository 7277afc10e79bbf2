"""Named places at which tests let the process die, as a kill or a power cut would.

`UWF_TEST_CRASH=POINT:COUNT` in the environment: the process kills itself when it reaches POINT for
the COUNTth time. Only tests set it; without it a point is a call of an empty function.

A caller writes `crash_points.reach("name")`, with a name of `POINTS`.
"""

import os
from collections.abc import Callable

VARIABLE = "UWF_TEST_CRASH"

POINTS = (
    "notice-sent",  # a notice is sent, and not marked
    "store-draft",  # a new store is written, and not yet in its place
    "store-made",  # … and is
    "locked",  # a lock is acquired, its holder is not recorded yet
    "transaction",  # a transaction is begun
    "node",  # a node is about to be written
    "variable",  # a name is about to be moved
    "commit",  # everything is written, nothing is committed
    "committed",  # … and is
    "start",  # a thread is about to get its head
    "worktree",  # a worktree is about to be made, what an earlier run left is removed
    "worktree-made",  # … and is, and the thread does not know it
    "snapshot",  # the tree of a folder is stored, and nothing keeps it yet
    "call",  # a call is about to be stored, with the thread that it creates
    "return",  # a completed call is about to become a step
    "calls",  # the calls of all branches are stored, and not committed
    "join",  # the joint result of branches is about to become a step
    "begin",  # an attempt, with its prompt, is about to become the thread's
    "spawn",  # a program is about to be started
    "spawned",  # … and runs
    "exchange",  # the files for a command are written
    "progress",  # turns are about to be kept
    "reply",  # the agent has answered, nothing of it is stored
    "keep",  # its answer is about to be stored
    "record",  # the step is about to be stored
    "advance",  # the head is about to move
    "fail",  # a failed attempt is about to be stored
    "question",  # a question to a person is about to be stored
    "compact",  # a summary is about to be stored
    "recover",  # the remains of an interrupted run are about to be recorded
    "run-file",  # the result of a run is written next to its place
    "private-file",  # a file of the configuration is written next to its place
    "sweep",  # unreachable nodes are deleted, and nothing is committed
    "import",  # the nodes of a bundle are written, and none of its names
    "bundle-file",  # a bundle or another export is written next to its place
    "log",  # a line of the log is about to be written
)


def _pass_by(name: str) -> None:
    """Do nothing."""


def killer(wanted: str) -> Callable[[str], None]:
    """A function that kills this process at the point and the count of `wanted`."""
    import signal
    from itertools import count

    point, _, times = wanted.partition(":")
    reached = count(1)

    def reach(name: str) -> None:
        if name == point and next(reached) == int(times or 1):
            os.kill(os.getpid(), signal.SIGKILL)

    return reach


reach = killer(os.environ[VARIABLE]) if VARIABLE in os.environ else _pass_by
"""Mark that a point is reached."""
