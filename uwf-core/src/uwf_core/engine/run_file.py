"""What the last run of a thread did, kept for `thread wait`: `$UWF_HOME/runs/<thread>.json`."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.errors import UwfError
from uwf_core.ids import ThreadId
from uwf_core.process import crash_points
from uwf_core.process.private import make_folder

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.engine.results import Outcome

FOLDER = "runs"


def write_run(engine: "Engine", thread: ThreadId, outcome: "Outcome") -> None:
    """Keep what a run did. Not synced: it is a convenience, the chain is the truth.

    Its caller holds the thread's lock, so that there is one writer.
    """
    folder = Path(engine.home, FOLDER)
    make_folder(str(folder))
    fresh = folder / f".{thread}.json"
    error = outcome.error and engine.redactor.value(outcome.error.document()["error"])
    run = {"document": outcome.document, "exitCode": outcome.exit_code, "error": error}
    text = json.dumps(run)
    try:
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        crash_points.reach("run-file")
        fresh.replace(folder / f"{thread}.json")
    except OSError:
        fresh.unlink(missing_ok=True)  # a full disk must not keep half of it
        raise


def read_run(home: str, thread: ThreadId) -> "Outcome | None":
    """What the last run did, None if that is not known."""
    from uwf_core.engine.results import Outcome

    try:
        text = Path(home, FOLDER, f"{thread}.json").read_text(encoding="utf-8")
        run = json.loads(text)
        error = run["error"] and error_of(run["error"])
        return Outcome(run["document"], run["exitCode"], error)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def error_of(said: Mapping[str, Any]) -> UwfError:
    """The error that another process has written down.

    Raises:
        KeyError, TypeError: it is no error document.
    """
    error = UwfError(said["message"], where=said.get("where"), hint=said.get("hint"))
    error.code, error.exit_code = said["code"], said["exitCode"]
    return error


def forget_run(home: str, thread: ThreadId) -> None:
    """Remove what was kept, and what a killed process was about to keep."""
    for name in (f"{thread}.json", f".{thread}.json"):
        Path(home, FOLDER, name).unlink(missing_ok=True)


def errors_file(home: str, thread: ThreadId) -> Path:
    """Where the background runs of a thread write their stderr."""
    return Path(home, FOLDER, f"{thread}.err")
