"""Starts the first worker of a run before all other imports: its own imports take as long as
everything that a run does before its first trial.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from uwf_core.errors import UwfError
from uwf_eval.run.worker_process import WorkerProcess

_RUNS = (["run"], ["resume"])
_begun: list[WorkerProcess] = []


def begin(words: Sequence[str]) -> None:
    """Start a worker if these arguments of `uwf-eval` look like a run."""
    if list(words[:1]) not in _RUNS or {"-h", "--help"} & set(words):
        return
    with suppress(OSError, UwfError):  # the run then starts one itself, and reports the error
        _begun.append(WorkerProcess(os.getcwd(), os.environ))  # noqa: PTH109 (pathlib takes long to load)


def first_worker(cwd: str, env: Mapping[str, str]) -> WorkerProcess:
    """The worker of `begin`, else a new one.

    Raises:
        UwfError: no worker can be started.
    """
    return _begun.pop() if _begun else WorkerProcess(cwd, env)


def end() -> None:
    """Stop the worker of `begin` if no run has taken it."""
    while _begun:
        _begun.pop().child.stop()
