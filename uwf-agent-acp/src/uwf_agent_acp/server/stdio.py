"""stdin and stdout of the process, for the protocol alone."""

import os
import threading
from collections.abc import Callable, Iterator
from typing import Final

LINE_BYTES: Final = 16 * 1024 * 1024
"""The longest line that is read; a longer one is skipped."""
_CHUNK = 64 * 1024


TOO_LONG: Final = b"a line of more than %d bytes" % LINE_BYTES
"""In place of a line that was skipped: not a message."""


class Stdio:
    """The two streams, a channel of the protocol. What other code prints goes to stderr, and
    programs get no stdin.

    Args:
        on_gone: called when the editor cannot be written to any more.
    """

    def __init__(self, on_gone: Callable[[], None]) -> None:
        self._read_end, self._write_end = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        self._on_gone = on_gone
        self._lock = threading.Lock()

    def lines(self) -> Iterator[bytes]:
        """The lines of the editor, until it closes its end."""
        kept, is_skipped = b"", False
        while True:
            try:
                read = os.read(self._read_end, _CHUNK)
            except OSError:  # a terminal or socket that has gone
                read = b""
            if not read:
                if kept.strip():
                    yield kept
                return
            *whole, rest = read.split(b"\n")
            for line in whole:
                if is_skipped or len(kept) + len(line) > LINE_BYTES:
                    yield TOO_LONG
                elif kept or line.strip():
                    yield kept + line
                kept, is_skipped = b"", False
            if is_skipped or len(kept) + len(rest) > LINE_BYTES:
                kept, is_skipped = b"", True
            else:
                kept += rest

    def write(self, data: bytes) -> None:
        """Write a line in one piece. One that cannot be delivered is dropped."""
        left = memoryview(data)
        try:
            with self._lock:
                while left:
                    left = left[os.write(self._write_end, left) :]
        except OSError:
            self._on_gone()
