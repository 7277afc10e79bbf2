"""Entries of git worktrees that another process is just making."""

import time
from collections.abc import Callable
from typing import Final

from uwf_core.process.git import GitFailed

_PAUSES: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""In seconds. Git writes such a file within a millisecond; a busy machine may stop it there."""


def with_whole_entries(act: Callable[[], object], undo: Callable[[], object] | None = None) -> None:
    """Run a git command that reads the entries of all worktrees. Git gives up if it meets one whose
    `commondir` another git has created and not yet written; then this is repeated, after `undo`.

    Raises:
        GitFailed: anything else failed, or an entry stays like that.
    """
    for pause in (*_PAUSES, None):
        try:
            act()
            return
        except GitFailed as error:
            if "/commondir" not in str(error):
                raise
            if undo is not None:
                undo()
            if pause is None:
                raise
        time.sleep(pause)
