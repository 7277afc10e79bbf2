"""A process that runs a thread for another one: its command line, and what it reports. For a branch
that is a JSON object per line on stdout, for events, notices and at last the outcome.

Turns are shortened, and each comes at most twice a second: the store has all of them.
"""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from uwf_core.api import events
from uwf_core.api.events import TurnTaken
from uwf_core.engine.results import Outcome, error_of, outcome_fields, outcome_of
from uwf_core.errors import UwfError
from uwf_core.fields.records import read_payload, write_record
from uwf_core.process.own_python import own_python

if TYPE_CHECKING:
    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.engine import Engine

_EVENTS: Final[dict[str, Any]] = {
    name: kind for name, kind in vars(events).items() if hasattr(kind, "_fields")
}
_LEAST_SECONDS: Final = 0.5
_TEXT: Final = 2_000


def printed_error(stderr: bytes) -> UwfError | str:
    """The error that another process has printed, else its last lines."""
    lines = stderr.decode(errors="replace").split("\n")
    for line in reversed(lines):
        try:
            return error_of(json.loads(line)["error"])
        except (ValueError, KeyError, TypeError):
            continue
    return " ".join(lines[-3:])


def run_command(command: str, thread: str, options: "RunOptions") -> list[str]:
    """The command line of another process that runs a thread as these options say."""
    wait = None if options.wait_limits is None else f"{options.wait_limits:.0f}s"
    given = {
        "-c": options.count,
        "--agent": options.agent,
        "--cwd": options.cwd,
        "--head": options.head,
        "--wait-limits": wait,
    }
    words = [*own_python("uwf_core", "thread", command, thread)]
    words += ["--until-done"] if options.until_done else []
    words += ["--unattended"] if options.unattended else []
    words += ["--now"] if options.now else []
    return words + [
        word for name, value in given.items() if value is not None for word in (name, str(value))
    ]


class Reporter:
    """A watch that writes lines. Called from any thread."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._told_at = 0.0

    def event(self, event: object) -> None:
        """Write an event."""
        if isinstance(event, TurnTaken):
            now = time.monotonic()
            if now - self._told_at < _LEAST_SECONDS:
                return
            self._told_at = now
            event = event._replace(turn=_shortened(event.turn))
        self._line({"event": type(event).__name__, "fields": write_record(event)})

    def notice(self, text: str) -> None:
        """Write a line for people."""
        self._line({"notice": text})

    def outcome(self, engine: "Engine", outcome: Outcome) -> None:
        """Write how the run ended."""
        self._line({"outcome": outcome_fields(engine, outcome)})

    def _line(self, content: dict[str, Any]) -> None:
        # A plugin may have printed a text without a line end to the same stdout.
        self._write(f"\n{json.dumps(content)}")


def _shortened(turn: Any) -> Any:
    def short(text: str | None) -> str | None:
        return None if text is None else text[:_TEXT]

    calls = tuple(
        replace(call, arguments=short(call.arguments), result=short(call.result))
        for call in turn.tool_calls
    )
    texts = {"text": short(turn.text), "reasoning": short(turn.reasoning)}
    return replace(turn, **texts, tool_calls=calls)


def relay_line(
    line: bytes, relay: Callable[[object], None], notice: Callable[[str], None]
) -> Outcome | None:
    """Pass a line of a reporter on; the outcome, if it is that. A line that is none of a reporter
    is a notice: the program of a plugin may have printed it.
    """
    if not line.strip():
        return None
    try:
        content = json.loads(line)
        if "event" in content:
            relay(read_payload(_EVENTS[content["event"]], content["fields"]))
        elif "outcome" in content:
            return outcome_of(content["outcome"])
        else:
            notice(content["notice"])
    except (ValueError, KeyError, TypeError, AttributeError):
        notice(line.decode(errors="replace"))
    return None
