"""The folders from one upwards to the top of its project."""

# Every command that reads settings comes through here, and pathlib is not imported for that:
# ruff: noqa: PTH100, PTH118, PTH120

import os
from collections.abc import Iterator


def climb(cwd: str) -> Iterator[str]:
    """`cwd` and the folders above it, up to the first that holds `.git` (a folder, or the file of
    a worktree).
    """
    folder = os.path.abspath(cwd)
    while True:
        yield folder
        above = os.path.dirname(folder)
        if above == folder or os.path.lexists(os.path.join(folder, ".git")):
            return
        folder = above
