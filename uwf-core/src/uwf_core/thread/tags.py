"""The state of a thread as tags of its head, lossless: lists and decisions need nothing else."""

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from uwf_core.thread.state import (
    FOLD_VERSION,
    OpenAttempt,
    RoleState,
    Session,
    Suspension,
    ThreadState,
    ThreadSummary,
)
from uwf_core.thread.usage import Totals

_Kind = TypeVar("_Kind")

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
        values["totals"] = _listed(tags, "usage", Totals) or _NOTHING_USED
        values["attempt"] = _listed(tags, "attempt", OpenAttempt)
        values["suspension"] = _listed(tags, "suspension", Suspension)
        return ThreadState(thread=thread, **values)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not the tags of a thread: {error}") from error


def summary_of(tags: Mapping[str, str]) -> ThreadSummary:
    """What a list shows of the state that these tags say; reads nothing else.

    Raises:
        ValueError: they are not the tags of a thread.
    """
    if not tags.keys() >= _TEXTS:
        raise ValueError(f"not the tags of a thread: {', '.join(sorted(_TEXTS - tags.keys()))}")
    try:
        return ThreadSummary(
            tags["status"],  # type: ignore[arg-type]
            tags["workflow"],
            tags["workflowName"],
            int(tags.get("startedMs", 0)),
            tags.get("currentRole"),
            int(tags.get("steps", 0)),
            _listed(tags, "usage", Totals) or _NOTHING_USED,
            _listed(tags, "attempt", OpenAttempt),
            _listed(tags, "suspension", Suspension),
        )
    except TypeError as error:
        raise ValueError(f"not the tags of a thread: {error}") from error


_TEXTS = frozenset(_TEXT_TAGS.values())
_NOTHING_USED = Totals.none()


def _listed(tags: Mapping[str, str], tag: str, kind: Callable[..., _Kind]) -> "_Kind | None":
    """The tuple that a tag holds as a list, None where there is no such tag."""
    return kind(*json.loads(tags[tag])) if tag in tags else None


def _role(text: str) -> RoleState:
    visits, step, sessions = json.loads(text)
    return RoleState(visits, step, {name: Session(*each) for name, each in sessions.items()})


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
