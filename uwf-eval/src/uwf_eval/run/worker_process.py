"""A worker process as the run sees it. Imports little, so that a command can start its first
worker before all other imports.
"""

import json
import os
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, NamedTuple, Self

from uwf_core.api import ChildProgram, ProcessLimits, Program, own_python, start_program
from uwf_core.errors import UwfError

_LIMITS: Final = ProcessLimits(total_seconds=None, output_bytes=1 << 31)


class WorkerMessage(NamedTuple):
    """A message of a worker; None: it has ended."""

    worker: "WorkerProcess"
    message: Mapping[str, Any] | None


class WorkerProcess:
    """A worker process with its own reaper. As a context manager it is stopped on exit.

    Attributes:
        numbers: of its trials: the running one, then the next one.
        is_ready: whether it has reported that it is.
        inbox: gets its messages.
    """

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.numbers: deque[int] = deque()
        self.is_ready = False
        self.inbox: SimpleQueue[WorkerMessage] | None = None
        self._early: list[WorkerMessage] = []
        self._lock = threading.Lock()
        program = Program(argv=own_python("uwf_eval.run"), cwd=cwd, env=env, stdin=None)
        self.child: ChildProgram = start_program(program, _LIMITS)
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.child.stop()

    def deliver_to(self, inbox: "SimpleQueue[WorkerMessage]") -> None:
        """Put its messages, also the earlier ones, into a queue."""
        with self._lock:
            for each in self._early:
                inbox.put(each)
            self.inbox = inbox

    def _listen(self) -> None:
        for text in self.child.lines():
            with suppress(ValueError):
                self._receive(json.loads(text))
        self._receive(None)

    def _receive(self, message: Mapping[str, Any] | None) -> None:
        with self._lock:
            if self.inbox is None:
                self._early.append(WorkerMessage(self, message))
            else:
                self.inbox.put(WorkerMessage(self, message))

    def send(self, **message: Any) -> None:
        """Send it a message."""
        with suppress(ValueError):  # it has ended, which arrives as a message
            self.child.write(encode_line(**message))

    def exit_reason(self) -> str:
        """Why it ended, as far as known."""
        result = self.child.wait()
        said = result.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {said[-1][:500]}" if said else ""
        return f"the worker process ended with exit code {result.exit_code}{last}"


def encode_line(**message: Any) -> bytes:
    """Serialize a message."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


# -- the first worker of a run ---------------------------------------------------------------------
# It starts before all other imports: its own take as long as everything that a run does before its
# first trial.

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
