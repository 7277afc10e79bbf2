"""Write the log of a run into a file."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.errors import CorruptNodeError, UnknownIdError, UsageError
from uwf_eval.inspect_log.log import write_inspect_log
from uwf_eval.records import Run, Trial

if TYPE_CHECKING:
    from uwf_core.api import RecordedThread
    from uwf_core.client import Client


def export_inspect_log(
    client: "Client", run: Run, trials: Sequence[Trial], target: Path
) -> dict[str, Any]:
    """Write the log; it appears once it is complete, and replaces an existing file.

    Raises:
        UsageError: the file cannot be written.
    """

    def thread_of(thread: str) -> "RecordedThread | None":
        try:
            return client.thread(thread)
        except (UnknownIdError, CorruptNodeError):  # removed since; the scores are there
            return None

    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            with draft.open("xb") as file:
                samples = write_inspect_log(file, run, trials, thread_of)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(
            f"cannot write the log: {error.strerror}", where=str(target),
            hint="choose a writable folder on a disk with free space",
        ) from error  # fmt: skip
    return {"run": run.run, "format": "inspect", "samples": samples, "file": str(target)}
