"""The sink of an agent: it validates, counts, records signs of life, and can be closed."""

import threading
import time
from collections.abc import Callable

from uwf_core.agents.cleaning import clean_text, clean_turn, known_usage
from uwf_core.api.agent import Turn, TurnSink, Usage


class WatchedSink:
    """Passes on to another sink, one call at a time.

    Once closed it drops what still comes: a thread that an agent left behind cannot write into a
    run that is over. An error of the other sink (a full disk) is kept in `fault`, since it is not
    an error of the agent.
    """

    def __init__(self, sink: TurnSink, limit_bytes: int) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._left = limit_bytes
        self._closed = False
        self.fault: Exception | None = None
        self.too_large = False
        self.last_session: str | None = None
        self.last_life = time.monotonic()

    def turn(self, turn: Turn) -> None:
        """Pass on a turn, its text made storable."""
        if not isinstance(turn, Turn):
            raise TypeError(f"a sink expects a Turn, not {type(turn).__name__}")
        turn = clean_turn(turn)
        with self._lock:
            if self._closed or self.too_large:
                return
            self._left -= _size(turn)
            if self._left < 0:
                self.too_large = True
                return
            self._pass_on(lambda: self._sink.turn(turn))

    def session(self, session: str) -> None:
        """Pass on the session's id."""
        if not isinstance(session, str) or not session:
            raise TypeError(f"a sink expects a session id as text, not {session!r}")
        session = clean_text(session)
        with self._lock:
            if not self._closed:
                self.last_session = session
                self._pass_on(lambda: self._sink.session(session))

    def usage(self, usage: Usage) -> None:
        """Pass on what was used so far."""
        if not isinstance(usage, Usage):
            raise TypeError(f"a sink expects a Usage, not {type(usage).__name__}")
        usage = known_usage(usage)
        with self._lock:
            if not self._closed:
                self._pass_on(lambda: self._sink.usage(usage))

    def close(self) -> None:
        """Drop all further events."""
        with self._lock:
            self._closed = True

    def _pass_on(self, deliver: Callable[[], None]) -> None:
        self.last_life = time.monotonic()
        try:
            deliver()
        except Exception as fault:
            self.fault = self.fault or fault
            raise


def _size(turn: Turn) -> int:
    """The approximate size of a turn in bytes."""
    calls = sum(len(call.arguments) + len(call.result or "") for call in turn.tool_calls)
    return len(turn.text) + len(turn.reasoning or "") + calls
