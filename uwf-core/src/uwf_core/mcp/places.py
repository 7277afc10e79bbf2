"""Which files and folders a client may name: those in the server's folder, and `allowedFolders`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.errors import UsageError

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


def checked_place(engine: "Engine", word: str, *, what: str) -> str:
    """`word` as an absolute path, if it is inside when all links are followed.

    Raises:
        UsageError: it is not, or is not a path.
    """
    root = os.path.realpath(engine.cwd)
    try:
        real = os.path.realpath(Path(root, word))
    except ValueError as error:  # a zero byte
        raise UsageError(f"the {what} {word!r} is not a path", hint="correct it") from error
    roots = (root, *map(os.path.realpath, engine.settings.allowed_folders))
    if not any(os.path.commonpath((real, each)) == each for each in roots):
        raise UsageError(
            f"the {what} {word!r} is outside of this server's folder {root!r}",
            hint="name one inside; a person can start `uwf mcp` in another folder, or add one to "
            "allowedFolders of the configuration",
        )
    return real


def checked_workflow(engine: "Engine", word: str) -> str:
    """The word of a workflow: a path only if it is inside."""
    from uwf_core.workflow.discover import is_path

    return checked_place(engine, word, what="workflow file") if is_path(word) else word
