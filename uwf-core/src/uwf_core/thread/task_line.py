"""The first line of a thread's task, which lists show without reading a node."""

from typing import TYPE_CHECKING

from uwf_core.errors import UwfError

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

TASK = "task"
"""The tag of a head with this line; not part of the state."""
_LONGEST_TASK = 200


def task_tag(store: "Store", start: str) -> dict[str, str]:
    """The tag of a thread with this start; none if its task cannot be read."""
    try:
        task = first_line(store.text(store.payload(start)["prompt"])).replace("\0", " ")
    except (UwfError, KeyError, TypeError):
        return {}
    return {TASK: task if len(task) <= _LONGEST_TASK else f"{task[: _LONGEST_TASK - 1]}…"}


def first_line(text: str) -> str:
    """The first line of a text that is not blank."""
    return text.strip().partition("\n")[0].rstrip()
