"""Follow the events file of a command while it runs, and notify the sink."""

import threading
import time
from collections.abc import Callable
from typing import BinaryIO

from uwf_core.agents.cleaning import MOST_CALLS, MOST_TURNS
from uwf_core.agents.wire import CommandEvent, NoJson, read_event
from uwf_core.api.agent import Turn, TurnSink, Usage
from uwf_core.errors import FailureKind
from uwf_core.fields.mismatch import FieldFault
from uwf_core.process.cancel import Cancel

POLL_SECONDS = 0.05
_LAST_SECONDS = 0.5
_MOST_EVENTS = MOST_CALLS - MOST_TURNS  # the sink has room for notes and for the end of a call
MOST_BAD_LINES = 1_000
"""After more invalid lines than this, the rest is not read."""


class EventFollower:
    """Reads JSON lines as they are appended. As a context manager it follows in a separate
    thread; on exit it reads the rest.

    An invalid line is counted and skipped: `problems` has the first ones. Once the command is
    cancelled because of its turns, or half a second after a cancelled one has ended, the rest is
    not read: an endless writer stays ahead of the reader. The same holds after `most_bytes`, after
    many events, and after half as many turns as a run may report: the run continues, and `unread`
    reports what is missing. `used` makes a session's total what the call used.

    Attributes:
        session, usage: the last ones reported.
        next_index: one more than the largest index of a turn.
        error: the error that the sink raised; the sink gets nothing after it.
    """

    def __init__(
        self,
        file: BinaryIO,
        sink: TurnSink,
        alive: Callable[[], None],
        line_bytes: int,
        most_bytes: int,
        cancel: Cancel,
        used: Callable[[Usage], Usage] = lambda total: total,
    ) -> None:
        self._sink = sink
        self._cancel = cancel
        self._used = used
        self._alive = alive
        self._line_bytes = line_bytes
        self._most_bytes = self._left = most_bytes
        self._file = file
        self._rest = b""
        self._skipping = False
        self._line = 0
        self._turns = self._told = 0
        self._over = threading.Event()
        self._ended_at: float | None = None
        self._thread = threading.Thread(target=self._follow, name="events", daemon=True)
        self.session: str | None = None
        self.usage: Usage | None = None
        self.next_index = 0
        self.bad_lines = 0
        self.first_problem = ""
        self.unread = ""
        self.error: Exception | None = None

    def __enter__(self) -> "EventFollower":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended_at = time.monotonic()
        self._over.set()
        self._thread.join()

    def turn(self, turn: Turn) -> None:
        """Report a turn to the sink, unless there were too many."""
        if self._turns >= MOST_TURNS // 2:
            self._stop(f"only the first {self._turns:,} turns were read")
            return
        if not self._counts():
            return
        self._turns += turn.index >= self.next_index
        self._sink.turn(turn)
        self.next_index = max(self.next_index, turn.index + 1)

    def _follow(self) -> None:
        try:
            while not self._over.wait(POLL_SECONDS):
                self._read()
            self._read()
            if self._rest.strip() and not self.unread:
                self._take(self._rest)
        except Exception as error:
            self.error = error

    def _read(self) -> None:
        """Read the appended lines; skip one that is too long."""
        while self._goes_on() and (chunk := self._chunk()):
            self._alive()
            *lines, self._rest = (self._rest + chunk).split(b"\n")
            for line in lines:
                if self._skipping:
                    self._skipping = False
                elif line.strip() and self._goes_on():
                    self._take(line)
                elif line.strip():
                    self._stop(f"the lines after line {self._line} were not read")
            if len(self._rest) > self._line_bytes:
                self._bad(f"is longer than {self._line_bytes} bytes")
                self._skipping = True
            if self._skipping:
                self._rest = b""

    def _chunk(self) -> bytes:
        """Read the appended bytes up to the limit; report once where it ends."""
        chunk = self._file.read(min(1 << 20, self._left))
        self._left -= len(chunk)
        if not self._left and self._file.read(1):
            self._stop(f"only the first {self._most_bytes} bytes were read")
        return chunk

    def _goes_on(self) -> bool:
        """Whether to read on."""
        if self._left <= 0:
            return False
        if not self._cancel.is_set():
            return True
        if self._cancel.reason == FailureKind.TOO_LARGE.word:
            return False
        ended = self._ended_at
        return ended is None or time.monotonic() - ended < _LAST_SECONDS

    def _stop(self, why: str) -> None:
        self._left, self._rest = 0, b""
        self.unread = self.unread or why

    def _take(self, line: bytes) -> None:
        self._line += 1
        try:
            event = read_event(line, self.next_index)
        except NoJson as fault:
            self._bad(str(fault))
        except FieldFault as fault:
            self._bad(f"{fault.place()} {fault}".strip())
        else:
            self._tell(event)

    def _tell(self, event: CommandEvent) -> None:
        if event.session is not None and self._counts():
            self.session = event.session
            self._sink.session(event.session)
        if event.turn is not None:
            self.turn(event.turn)
        if event.usage is not None and self._counts():
            self.usage = self._used(event.usage) if event.usage_is_total else event.usage
            self._sink.usage(self.usage)

    def _counts(self) -> bool:
        """Count what is reported; whether the sink may still get it."""
        self._told += 1
        if self._told > _MOST_EVENTS:
            self._stop(f"only the first {_MOST_EVENTS:,} events were read")
        return self._told <= _MOST_EVENTS

    def _bad(self, problem: str) -> None:
        self.bad_lines += 1
        if self.bad_lines == 1:
            self.first_problem = f"line {self._line} {problem}"
        if self.bad_lines > MOST_BAD_LINES:
            self._stop(f"the lines after line {self._line} were not read")
