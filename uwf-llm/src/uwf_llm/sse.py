"""Parse server-sent events from bytes in arbitrary pieces.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html. `id` and `retry` are
ignored. Beyond the standard: a field `error` is an event of that name, and JSON without a field is
the data of an event, because services write their errors so into a stream.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_LINE_END = re.compile(rb"[\r\n]")
_STRAY = 400


class SseEvent(NamedTuple):
    """An event of a stream: its data, and its name ("" without one)."""

    data: str
    name: str = ""


class SseParser:
    """Takes bytes in pieces and returns each event.

    Unlike a browser it returns an event that the end of the stream completes (`finish`): some
    servers omit the last blank line.

    Attributes:
        stray: the beginning of the lines that belong to no event, for the message of a failure.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self.stray = ""
        self._data: list[str] = []
        self._name = ""
        self._bare = False
        self._after_return = False
        self._first = True

    def feed(self, piece: bytes) -> Iterator[SseEvent]:
        """The events that `piece` completes."""
        self._buffer += piece
        for line in self._lines():
            yield from self._take(line)

    def finish(self) -> Iterator[SseEvent]:
        """The event that no blank line ended, if any."""
        if self._buffer:
            line = bytes(self._buffer)
            self._buffer.clear()
            yield from self._take(line)
        yield from self._take(b"")

    def _lines(self) -> Iterator[bytes]:
        """Complete lines; they end with LF, CR LF or CR."""
        while self._buffer:
            if self._after_return and self._buffer[0] == 0x0A:
                del self._buffer[0]
            self._after_return = False
            end = self._line_end()
            if end is None:
                return
            line = bytes(self._buffer[:end])
            self._after_return = self._buffer[end] == 0x0D
            del self._buffer[: end + 1]
            self._searched = 0
            yield line

    def _line_end(self) -> int | None:
        """The end of the first line; searched bytes are not searched again."""
        found = _LINE_END.search(self._buffer, self._searched)
        self._searched = len(self._buffer)
        return found.start() if found else None

    def _take(self, line: bytes) -> Iterator[SseEvent]:
        if self._first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        name, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        begins_bare = not self._bare and line.lstrip()[:1] in (b"{", b"[")
        ends_bare = self._bare and name in (b"data", b"event")
        if not line or begins_bare or ends_bare or name == b"error":
            yield from self._dispatch()
        if begins_bare or (self._bare and line):
            self._data.append(line.decode("utf-8", "replace"))
            self._bare = True
        elif name in (b"data", b"error"):
            self._data.append(text)
            self._name = "error" if name == b"error" else self._name
        elif name == b"event":
            self._name = text.strip()
        elif name not in (b"", b"id", b"retry") and len(self.stray) < _STRAY:
            self.stray += f" {line.decode('utf-8', 'replace').strip()}"[:_STRAY]

    def _dispatch(self) -> Iterator[SseEvent]:
        if self._data:
            yield SseEvent("\n".join(self._data), self._name)
        self._data, self._name, self._bare = [], "", False
