"""Validate the output of an agent and make it storable; the sink that does so while it works.

A NUL or a lone surrogate in a text becomes U+FFFD, as in the node format: neither can be
an argument of a program or a character of a prompt. Everything else stays unchanged.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from uwf_core.api.agent import AgentReply, Turn, TurnSink, Usage
from uwf_core.api.sums import FIELDS, LARGEST
from uwf_core.fields.mismatch import FieldFault, Path, shown
from uwf_core.fields.records import camel, read_record, write_record

_Record = TypeVar("_Record", Turn, AgentReply)

_SCALARS = (bool, int, float, type(None))

TURNS_PER_REPLY = 4
"""The limit of all turns of a call, as a multiple of the reply limit."""
MOST_TURNS = 16_000
"""Each turn is stored, named and shown, however short its text is."""
MOST_CALLS = 100_000
"""How often an agent may report something, such as newer states of a turn."""
_USE_COST = 64


def clean_text(text: str) -> str:
    """`text` without NUL and lone surrogates."""
    if text.isascii() and "\0" not in text:
        return text
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_value(value: Any, path: Path = ()) -> Any:
    """A JSON value with all its texts and keys cleaned.

    Raises:
        FieldFault: a value in it is not JSON.
    """
    kind = type(value)
    if value is None or kind in _SCALARS:
        return value
    if kind is str or isinstance(value, str):
        return clean_text(value)
    if kind is dict:
        return _clean_mapping(value, path)
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, list | tuple):
        return [clean_value(item, (*path, index)) for index, item in enumerate(value)]
    if isinstance(value, Mapping):
        return _clean_mapping(value, path)
    raise FieldFault(path, f"is of the type {type(value).__name__}, which JSON cannot represent")


def clean_turn(turn: Turn) -> Turn:
    """A turn, checked and cleaned.

    Raises:
        FieldFault: a field of a wrong type, or a number out of range.
    """
    turn = _clean_record(Turn, turn)
    _whole("index", turn.index, 0)
    if turn.usage is not None:
        turn = _with_usage(turn, turn.usage)
    for index, call in enumerate(turn.tool_calls):
        for key, value in (("startedMs", call.started_ms), ("endedMs", call.ended_ms)):
            _whole(f"toolCalls.{index}.{key}", value, 0)
    return turn


def clean_reply(reply: AgentReply) -> AgentReply:
    """A reply, checked and cleaned.

    Raises:
        FieldFault: a field of a wrong type, or a number out of range.
    """
    reply = _clean_record(AgentReply, reply)
    return _with_usage(reply, reply.usage)


def known_usage(usage: Usage, path: Path = ()) -> Usage:
    """`usage`; a number that is too large to be stored counts as unknown.

    Raises:
        FieldFault: a negative number, or not a number.
    """
    unknown: dict[str, Any] = {}
    values = usage.__dict__
    for json, python in FIELDS:
        value = values[python]
        if value is not None and not 0 <= value <= LARGEST:
            if not value > LARGEST:
                raise FieldFault((*path, json), f"is {shown(value)}; expected 0 or more")
            unknown[python] = None
    return replace(usage, **unknown) if unknown else usage


def _with_usage(record: _Record, usage: Usage) -> _Record:
    known = known_usage(usage, ("usage",))
    return record if known is usage else replace(record, usage=known)


def _clean_record(cls: type[_Record], record: _Record) -> _Record:
    try:
        keys = cls.__dataclass_fields__
        given = {
            camel(name): write_record(value)
            for name, value in record.__dict__.items()
            if value is not keys[name].default
        }
        return read_record(cls, clean_value(given))
    except RecursionError as fault:
        raise FieldFault((), "is nested too deeply, or contains itself") from fault


def _clean_mapping(mapping: Mapping[Any, Any], path: Path) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    for key, item in mapping.items():
        if type(key) is not str and not isinstance(key, str):
            raise FieldFault(path, f"has the key {shown(key)}, which is not text")
        name = key if key.isascii() and "\0" not in key else clean_text(key)
        if name in cleaned:
            raise FieldFault((*path, name), "is duplicate")
        if item is not None and type(item) not in _SCALARS:
            item = clean_value(item, (*path, name))
        cleaned[name] = item
    return cleaned


def _whole(key: str, value: int | None, least: int) -> None:
    if value is not None and not least <= value <= LARGEST:
        raise FieldFault((key,), f"is {shown(value)}; expected {least} or more")


class WatchedSink:
    """Passes on to another sink, one call at a time, until there are too many of them or their
    texts are too large; then `too_large` has what was too much.

    Once closed it drops what still comes: a thread that an agent left behind cannot write into a
    run that is over. An error of the other sink (a full disk) is kept in `fault`, since it is not
    an error of the agent.
    """

    def __init__(self, sink: TurnSink, limit_bytes: int) -> None:
        self._sink = sink
        self._lock = threading.Lock()
        self._left = self._limit = limit_bytes
        self._turns = self._calls = 0
        self._last_index = -1
        self._closed = False
        self.fault: Exception | None = None
        self.too_large = ""
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
            self._turns += turn.index > self._last_index
            self._last_index = max(self._last_index, turn.index)
            if self._has_room(_size(turn)):
                self._pass_on(lambda: self._sink.turn(turn))

    def session(self, session: str) -> None:
        """Pass on the session's id."""
        if not isinstance(session, str) or not session:
            raise TypeError(f"a sink expects a session id as text, not {session!r}")
        session = clean_text(session)
        with self._lock:
            if not self._closed and self._has_room(0):
                self.last_session = session
                self._pass_on(lambda: self._sink.session(session))

    def usage(self, usage: Usage) -> None:
        """Pass on what was used so far."""
        if not isinstance(usage, Usage):
            raise TypeError(f"a sink expects a Usage, not {type(usage).__name__}")
        usage = known_usage(usage)
        with self._lock:
            if not self._closed and self._has_room(0):
                self._pass_on(lambda: self._sink.usage(usage))

    def close(self) -> None:
        """Drop all further events."""
        with self._lock:
            self._closed = True

    def _has_room(self, size: int) -> bool:
        """Count a call; whether it may be passed on."""
        self._left, self._calls = self._left - size, self._calls + 1
        if not self.too_large:
            if self._left < 0:
                self.too_large = f"turns of more than {self._limit} bytes"
            elif self._turns > MOST_TURNS:
                self.too_large = f"more than {MOST_TURNS:,} turns"
            elif self._calls > MOST_CALLS:
                self.too_large = f"something more than {MOST_CALLS:,} times"
        return not self.too_large

    def _pass_on(self, deliver: Callable[[], None]) -> None:
        self.last_life = time.monotonic()
        try:
            deliver()
        except Exception as fault:
            self.fault = self.fault or fault
            raise


def _size(turn: Turn) -> int:
    """The approximate size of a turn in bytes."""
    calls = sum(
        _USE_COST + len(call.arguments) + len(call.result or "") for call in turn.tool_calls
    )
    return len(turn.text) + len(turn.reasoning or "") + calls
