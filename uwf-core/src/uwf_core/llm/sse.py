"""Parse server-sent events from bytes in arbitrary pieces.

Source: https://html.spec.whatwg.org/multipage/server-sent-events.html. `event`, `id` and `retry`
are ignored: chat completions use only `data`.
"""

import re
from collections.abc import Iterator

_LINE_END = re.compile(rb"[\r\n]")


class SseParser:
    """Takes bytes in pieces and returns the `data` of each event, as text.

    Unlike a browser it returns an event that the end of the stream completes (`finish`): some
    servers omit the last blank line.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._searched = 0
        self._data: list[str] = []
        self._after_return = False
        self._first = True

    def feed(self, piece: bytes) -> Iterator[str]:
        """The events that `piece` completes."""
        self._buffer += piece
        for line in self._lines():
            yield from self._take(line)

    def finish(self) -> Iterator[str]:
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

    def _take(self, line: bytes) -> Iterator[str]:
        if self._first:
            line = line.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        if not line:
            if self._data:
                event = "\n".join(self._data)
                self._data.clear()
                yield event
            return
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
