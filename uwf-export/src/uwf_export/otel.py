"""The observer `otel`: the spans of a run, sent over OTLP/HTTP while it runs (extra `otel`).

It sends only if the standard environment names a service: `OTEL_EXPORTER_OTLP_ENDPOINT` or
`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. The hooks put events into a queue; another thread imports
the SDK and sends, so no step waits for either. Ids are those of `thread export --format otlp-json`.
"""

import atexit
import os
import sys
import threading
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from uwf_core.api.hookspecs import hookimpl

if TYPE_CHECKING:
    from uwf_core.api.events import (
        StepAsked,
        StepFailed,
        StepFinished,
        StepStarted,
        ThreadEnded,
        TurnTaken,
    )

_LAST_SECONDS = 5.0
"""How long the end of the process waits for spans that are not sent yet."""
_MOST_AT_ONCE = 512
"""Events whose spans go into one request."""


def is_wanted() -> bool:
    """Whether the environment names a service."""
    named = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    off = off or os.environ.get("OTEL_TRACES_EXPORTER", "") == "none"
    return not off and any(os.environ.get(each) for each in named)


class SpanSender:
    """Sends what it is given, in a thread that starts with the first event."""

    def __init__(self) -> None:
        self._events: SimpleQueue[Any] = SimpleQueue()
        self._is_idle = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._fault: str | None = None
        self._is_over = False  # nothing can be sent

    def put(self, event: object) -> None:
        """Take an event; returns at once.

        Raises:
            RuntimeError: spans could not be sent before.
        """
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="uwf-otel", daemon=True)
                self._thread.start()
                atexit.register(self._finish)
            if not self._is_over:
                self._is_idle.clear()
                self._events.put(event)
            fault, self._fault = self._fault, None
        if fault is not None:
            raise RuntimeError(fault)

    def _serve(self) -> None:
        try:
            from uwf_export.otel_sdk import Exporting

            exporting = Exporting()
        except BaseException as error:
            with self._lock:
                self._fault, self._is_over = f"cannot start OpenTelemetry: {error}", True
                self._is_idle.set()
            return
        while True:
            self._send(exporting, [self._events.get()])
            with self._lock:
                if self._events.empty():
                    self._is_idle.set()

    def _send(self, exporting: Any, events: list[Any]) -> None:
        with suppress(Empty):
            while len(events) < _MOST_AT_ONCE:
                events.append(self._events.get(timeout=0.05))
        try:
            fault = exporting.send(events)
        except BaseException as error:
            fault = f"{type(error).__name__}: {error}"
        self._fault = fault or self._fault

    def _finish(self) -> None:
        """At the end of the process: wait a moment for the last spans."""
        sent = self._is_idle.wait(_LAST_SECONDS)
        fault = self._fault if sent else f"not all were sent in {_LAST_SECONDS:g} s"
        if fault is not None:
            print(f"note: spans of OpenTelemetry are lost: {fault}", file=sys.stderr)


class OtelObserver:
    """The hooks."""

    def __init__(self) -> None:
        self._sender = SpanSender() if is_wanted() else None

    def _put(self, event: object) -> None:
        if self._sender is not None:
            self._sender.put(event)

    @hookimpl
    def uwf_step_started(self, event: "StepStarted") -> None:
        """Remember when it began, and in which calls."""
        self._put(event)

    @hookimpl
    def uwf_turn(self, event: "TurnTaken") -> None:
        """Remember the uses of tools."""
        self._put(event)

    @hookimpl
    def uwf_step_finished(self, event: "StepFinished") -> None:
        """Send the span of the step, and those of its tools."""
        self._put(event)

    @hookimpl
    def uwf_step_failed(self, event: "StepFailed") -> None:
        """Send the span of the failed attempt."""
        self._put(event)

    @hookimpl
    def uwf_step_asked(self, event: "StepAsked") -> None:
        """Nothing is sent: a question ends without a step."""
        self._put(event)

    @hookimpl
    def uwf_thread_ended(self, event: "ThreadEnded") -> None:
        """Send the span of the thread."""
        self._put(event)


observer = OtelObserver()
"""The plugin."""
