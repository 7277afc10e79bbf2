"""Folders of trials that are kept are removed while the next trials run.

Removing a folder is waiting: some file systems take milliseconds for each, and no processor time.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from uwf_eval.trial.space import Space

_MOST: Final = 4
"""How many are removed at once: a trial that leaves much holds up those after it, not the disk."""


class Removal:
    """Removes what trials leave. `notice` gets lines for people, from any thread."""

    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice
        self._under_way: deque[threading.Thread] = deque()

    def begin(self, space: Space, number: int) -> None:
        """Remove the folders of the trial of this number, soon."""
        while len(self._under_way) >= _MOST:
            self._under_way.popleft().join()
        thread = threading.Thread(target=self._remove, args=(space, number), daemon=True)
        with suppress(RuntimeError):  # no further thread can be started: the run's end removes it
            thread.start()
            self._under_way.append(thread)

    def wait(self) -> None:
        """Until nothing is left to remove."""
        while self._under_way:
            self._under_way.popleft().join()

    def _remove(self, space: Space, number: int) -> None:
        try:
            space.remove()
        except OSError as error:
            self._notice(f"cannot remove the folder of trial {number}: {error}")
