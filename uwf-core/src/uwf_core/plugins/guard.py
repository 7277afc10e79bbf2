"""Keep plugin code off our stdout, which is only for the result of a command."""

import contextlib
import os
import sys
import threading
from typing import TextIO

_STDOUT, _STDERR = 1, 2


class StdoutGuard:
    """A context in which all writes to stdout go to stderr.

    Both `sys.stdout` and the file descriptor are diverted, since a plugin may print, keep the
    stream for its logger, or start a program. Contexts nest, also across threads: the first one
    diverts, the last one restores.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._descriptor: int | None = None
        self._stream: TextIO | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._divert()

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._restore()

    def _divert(self) -> None:
        self._stream = sys.stdout
        _flush(sys.stdout)
        self._descriptor = _divert_descriptor()
        sys.stdout = sys.stderr

    def _restore(self) -> None:
        _flush(sys.stdout)
        _flush(self._stream)  # what a plugin wrote to a stream it kept goes to stderr as well
        if self._stream is not None:
            sys.stdout = self._stream
        if self._descriptor is not None:
            # Plugin code may have closed it; the loader reports that.
            with contextlib.suppress(OSError):
                os.dup2(self._descriptor, _STDOUT)
                os.close(self._descriptor)
            self._descriptor = None


def _divert_descriptor() -> int | None:
    """Point descriptor 1 to stderr; return a copy of it, None if it was closed."""
    try:
        saved = os.dup(_STDOUT)
    except OSError:  # started without a stdout
        return None
    try:
        os.dup2(_STDERR, _STDOUT)
    except OSError:  # started without a stderr
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, _STDOUT)
        os.close(nowhere)
    return saved


def _flush(stream: TextIO | None) -> None:
    # The code that writes the result reports a closed or broken stream.
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
