"""A worker's process as its run sees it. Imports little, so that a command can start its first
worker before it imports anything else.
"""

import json
import threading
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, Final, Self

from uwf_core.api import ChildProgram, ProcessLimits, Program, own_python, start_program
from uwf_core.named_tuple import NamedTuple

_LIMITS: Final = ProcessLimits(total_seconds=None, output_bytes=1 << 31)


class Said(NamedTuple):
    """What a worker said; None: it has ended."""

    worker: "Worker"
    message: Mapping[str, Any] | None


class Worker:
    """A worker process under a reaper of its own. As a context manager it is ended on leaving.

    Attributes:
        numbers: of the trials that it has: the one that it runs, then the one after that.
        is_ready: whether it has ever said that it is.
        heard: what it says, and that it has ended.
    """

    def __init__(self, cwd: str, env: Mapping[str, str]) -> None:
        self.numbers: deque[int] = deque()
        self.is_ready = False
        self.heard: SimpleQueue[Said] | None = None
        self._early: list[Said] = []
        self._lock = threading.Lock()
        program = Program(argv=own_python("uwf_eval.run"), cwd=cwd, env=env, stdin=None)
        self.child: ChildProgram = start_program(program, _LIMITS)
        threading.Thread(target=self._listen, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.child.stop()

    def tell(self, heard: "SimpleQueue[Said]") -> None:
        """Put what it says, and has said, into a queue."""
        with self._lock:
            for each in self._early:
                heard.put(each)
            self.heard = heard

    def _listen(self) -> None:
        for text in self.child.lines():
            with suppress(ValueError):
                self._hear(json.loads(text))
        self._hear(None)

    def _hear(self, message: Mapping[str, Any] | None) -> None:
        with self._lock:
            if self.heard is None:
                self._early.append(Said(self, message))
            else:
                self.heard.put(Said(self, message))

    def say(self, **message: Any) -> None:
        """Send it a message."""
        with suppress(ValueError):  # it is gone; that is heard as its end
            self.child.write(line(**message))

    def last_words(self) -> str:
        """Why it ended, as far as it can be told."""
        result = self.child.wait()
        said = result.stderr.decode("utf-8", "replace").strip().splitlines()
        last = f": {said[-1][:500]}" if said else ""
        return f"the worker process ended with exit code {result.exit_code}{last}"


def line(**message: Any) -> bytes:
    """A message as it is sent."""
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"
