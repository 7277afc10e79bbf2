"""Locks that the system releases: byte ranges of one file.

Each name maps to one byte, at an offset that is a hash of the name. On Linux they are *open file
description* locks, which also conflict between two openings within one process; asking for them
(`F_OFD_GETLK`) takes nothing. Other systems have the classic ones.
"""

import fcntl
import hashlib
import os
import struct
import sys
import time

from uwf_core.api import StoreError

_SET = getattr(fcntl, "F_OFD_SETLK", fcntl.F_SETLK)
_ASK = getattr(fcntl, "F_OFD_GETLK", fcntl.F_GETLK)
# struct flock: (type, whence, start, length, pid); on macOS (start, length, pid, type, whence).
_FLOCK = struct.Struct("@qqihh" if sys.platform == "darwin" else "@hhqqi4x")
_SETUP_SECONDS = 30.0


class LockFile:
    """One opening of the file of locks."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        self._own: set[str] = set()

    def take(self, name: str) -> bool:
        """Take the lock now; False if somebody holds it, here or elsewhere."""
        if name in self._own:
            return False
        try:
            fcntl.fcntl(self._file, _SET, _flock(fcntl.F_WRLCK, name))
        except (BlockingIOError, PermissionError):
            return False
        self._own.add(name)
        return True

    def wait(self, name: str) -> None:
        """Take the lock, for a moment's work, as soon as it is free."""
        until = time.monotonic() + _SETUP_SECONDS
        while not self.take(name):
            if time.monotonic() > until:
                raise StoreError("another process keeps the store locked", where=self._path)
            time.sleep(0.005)

    def free(self, name: str) -> None:
        """Let go of it."""
        if name in self._own:
            self._own.discard(name)
            fcntl.fcntl(self._file, _SET, _flock(fcntl.F_UNLCK, name))

    def is_held(self, name: str) -> bool:
        """Whether anybody holds it. Takes nothing."""
        if name in self._own:
            return True
        answer = _FLOCK.unpack(fcntl.fcntl(self._file, _ASK, _flock(fcntl.F_WRLCK, name)))
        return bool(answer[3 if sys.platform == "darwin" else 0] != fcntl.F_UNLCK)

    def close(self) -> None:
        """Let go of all."""
        os.close(self._file)
        self._own.clear()


def _flock(kind: int, name: str) -> bytes:
    start = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7], "big")
    if sys.platform == "darwin":
        return _FLOCK.pack(start, 1, 0, kind, os.SEEK_SET)
    return _FLOCK.pack(kind, os.SEEK_SET, start, 1, 0)
