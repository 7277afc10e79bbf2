"""Files that a command writes for its user."""

import os
from pathlib import Path

from uwf_core.commands import Session
from uwf_core.errors import UsageError


def write_file(session: Session, name: str, text: str) -> None:
    """Write a text into a file, all of it or nothing, and say so on stderr.

    Raises:
        UsageError: it cannot be written; what was there is as it was.
    """
    target = Path(name)
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            draft.write_text(text, encoding="utf-8", errors="backslashreplace")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the report cannot be written: {getattr(error, 'strerror', None) or error}",
            where=name,
            hint="name a file in a folder that is yours to write, on a disk with room",
        ) from error
    session.note(f"written: {name} ({len(text):,} characters)")
