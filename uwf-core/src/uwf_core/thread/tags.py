"""The state of a thread as tags of its head, lossless: lists and decisions need nothing else."""

import json
from collections.abc import Mapping
from typing import Any

from uwf_core.thread.state import (
    FOLD_VERSION,
    OpenAttempt,
    RoleState,
    Session,
    Suspension,
    ThreadState,
)
from uwf_core.thread.usage import Totals

# The tag of each field.
_TEXT_TAGS = {
    "status": "status",
    "workflow": "workflow",
    "workflow_name": "workflowName",
    "start": "start",
    "cwd": "cwd",
}
_OPTIONAL_TEXT_TAGS = {"current_role": "currentRole", "agent": "agent"}
_NUMBER_TAGS = {
    "seq": "seq",
    "started_ms": "startedMs",
    "steps": "steps",
    "inherited_steps": "inheritedSteps",
    "running_ms": "runningMs",
    "tries": "tries",
    "grants": "grants",
}
_ROLE = "role."
_FOLD = "fold"


def to_tags(state: ThreadState) -> dict[str, str]:
    """The state as tags: text to text. `status` and `workflowName` are tags of their own so that
    lists can be filtered by them; what is empty is left out.
    """
    tags = {tag: getattr(state, name) for name, tag in _TEXT_TAGS.items()}
    tags[_FOLD] = str(FOLD_VERSION)
    for name, tag in _OPTIONAL_TEXT_TAGS.items():
        if getattr(state, name) is not None:
            tags[tag] = getattr(state, name)
    for name, tag in _NUMBER_TAGS.items():
        if getattr(state, name):
            tags[tag] = str(getattr(state, name))
    for name, role in state.roles.items():
        tags[_ROLE + name] = _dump(role)
    if state.totals.known or state.totals.unknown:
        tags["usage"] = _dump(state.totals)
    if state.attempt is not None:
        tags["attempt"] = _dump(state.attempt)
    if state.suspension is not None:
        tags["suspension"] = _dump(state.suspension)
    return tags


def is_current(tags: Mapping[str, str]) -> bool:
    """Whether the tags are of today's fold; those of an older one are to be folded anew."""
    return tags.get(_FOLD) == str(FOLD_VERSION)


def from_tags(thread: str, tags: Mapping[str, str]) -> ThreadState:
    """The state that these tags say.

    Raises:
        ValueError: they are not the tags of a thread.
    """
    try:
        values: dict[str, Any] = {name: tags[tag] for name, tag in _TEXT_TAGS.items()}
        for name, tag in _OPTIONAL_TEXT_TAGS.items():
            values[name] = tags.get(tag)
        for name, tag in _NUMBER_TAGS.items():
            values[name] = int(tags.get(tag, 0))
        values["roles"] = {
            tag[len(_ROLE) :]: _role(text) for tag, text in tags.items() if tag.startswith(_ROLE)
        }
        if "usage" in tags:
            values["totals"] = Totals(*json.loads(tags["usage"]))
        if "attempt" in tags:
            values["attempt"] = OpenAttempt(*json.loads(tags["attempt"]))
        if "suspension" in tags:
            values["suspension"] = Suspension(*json.loads(tags["suspension"]))
        return ThreadState(thread=thread, **values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not the tags of a thread: {error}") from error


def _role(text: str) -> RoleState:
    visits, step, sessions = json.loads(text)
    return RoleState(visits, step, {name: Session(*each) for name, each in sessions.items()})


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
