"""The points at which a process may die, for tests of what survives it.

`UWF_TEST_CRASH=POINT:COUNT` in the environment of a process lets it kill itself when it reaches a
point for the COUNTth time; `at_points` acts at those of this process.
"""

from collections.abc import Callable

from uwf_core.process import crash_points
from uwf_core.process.crash_points import POINTS, killer

__all__ = ["POINTS", "at_points", "killer"]


def at_points(act: Callable[[str], None] | None) -> None:
    """Call `act` with the name of each point that this process reaches from now on; None ends it.
    `killer("commit:2")` is one that kills the process.
    """
    crash_points.reach = act or (lambda name: None)
