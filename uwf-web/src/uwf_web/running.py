"""The server that runs for a home: one at a time, which `web.json` describes."""

import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_web.keys import write_private

STATE_FILE = "web.json"
LOCK_FILE = "web.lock"


class ServerLock:
    """The lock of a home's server; the system releases it when its holder ends, however it does."""

    def __init__(self, home: Path) -> None:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = os.open(home / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self._state = home / STATE_FILE

    def acquire(self) -> bool:
        """Whether no server runs, so that this process is the one."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        self._state.unlink(missing_ok=True)  # of a server that was killed
        return True

    def announce(self, state: Mapping[str, Any]) -> None:
        """Write who we are and where we listen."""
        write_private(self._state, json.dumps(state))

    def release(self) -> None:
        """Remove the state and let the next one in."""
        self._state.unlink(missing_ok=True)
        os.close(self._file)

    def close(self) -> None:
        """Close the file without having held the lock."""
        os.close(self._file)


def running_state(home: Path) -> Mapping[str, Any] | None:
    """What the running server has announced; None if none runs, or not yet."""
    lock = ServerLock(home)
    try:
        if lock.acquire():
            return None
        found = json.loads((home / STATE_FILE).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    finally:
        lock.close()
    return found if isinstance(found, dict) else None
