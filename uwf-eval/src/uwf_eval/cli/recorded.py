"""The recorded steps that the options of `run` and `new` select."""

from collections.abc import Sequence
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Session
from uwf_core.errors import UsageError
from uwf_eval.task.recorded import Selected, Selection, select_steps


def selection_of(tasks: Sequence[str], options: dict[str, Any]) -> Selection:
    """The selection of the options, which are taken out.

    Raises:
        UsageError: neither a task nor a step is named, or the options do not belong together.
    """
    words = ("steps", "from_step"), ("threads", "from_thread"), ("workflows", "from_workflow")
    keys = {**dict(words), "role": "role", "newest": "newest", "files": "files"}
    wanted = Selection(**{name: options.pop(key) for name, key in keys.items()})
    wanted.check()
    if wanted.is_empty and not tasks:
        raise UsageError(
            "missing TASK, or recorded steps",
            hint="type a TASK, or `--from-workflow NAME --role ROLE`",
        )
    return wanted


def selected(session: Session, client: Client, wanted: Selection) -> Selected:
    """The selected steps; those that are left out are reported."""
    found = select_steps(client, wanted)
    for line in found.left_out:
        session.note(f"note: {line}")
    return found
