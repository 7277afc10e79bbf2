"""The first worker of a run, begun before anything else is imported: what it imports itself takes
as long as all that a run does before its first trial.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from uwf_core.errors import UwfError
from uwf_eval.run.process import Worker

_RUNS = (["run"], ["resume"])
_begun: list[Worker] = []


def begin(words: Sequence[str]) -> None:
    """Begin a worker if these words (after `uwf-eval`) look like a run; else there is none."""
    if list(words[:1]) not in _RUNS or {"-h", "--help"} & set(words):
        return
    with suppress(OSError, UwfError):  # the run begins one itself then, and says what is wrong
        _begun.append(Worker(os.getcwd(), os.environ))  # noqa: PTH109 (pathlib takes long to load)


def first_worker(cwd: str, env: Mapping[str, str]) -> Worker:
    """The worker that was begun, else a new one.

    Raises:
        UwfError: none can be begun.
    """
    return _begun.pop() if _begun else Worker(cwd, env)


def end() -> None:
    """End the worker that was begun, if no run has taken it."""
    while _begun:
        _begun.pop().child.stop()
