"""What the last run of a thread did, kept for `thread wait`: `$UWF_HOME/runs/<thread>.json`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.ids import ThreadId
from uwf_core.process import crash_points
from uwf_core.process.private import make_folder

if TYPE_CHECKING:
    from uwf_core.engine.results import Outcome

FOLDER = "runs"


def write_run(home: str, thread: ThreadId, outcome: "Outcome") -> None:
    """Keep what a run did. Not synced: it is a convenience, the chain is the truth.

    Its caller holds the thread's lock, so that there is one writer.
    """
    folder = Path(home, FOLDER)
    make_folder(str(folder))
    fresh = folder / f".{thread}.json"
    text = json.dumps({"document": outcome.document, "exitCode": outcome.exit_code})
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    crash_points.reach("run-file")
    fresh.replace(folder / f"{thread}.json")


def read_run(home: str, thread: ThreadId) -> dict[str, Any] | None:
    """What the last run did (`document`, `exitCode`), None if that is not known."""
    try:
        text = Path(home, FOLDER, f"{thread}.json").read_text(encoding="utf-8")
        run = json.loads(text)
    except (OSError, ValueError):
        return None
    return run if isinstance(run, dict) and "exitCode" in run else None


def forget_run(home: str, thread: ThreadId) -> None:
    """Remove what was kept, and what a killed process was about to keep."""
    for name in (f"{thread}.json", f".{thread}.json"):
        Path(home, FOLDER, name).unlink(missing_ok=True)


def errors_file(home: str, thread: ThreadId) -> Path:
    """Where the background runs of a thread write their stderr."""
    return Path(home, FOLDER, f"{thread}.err")
