"""What the references in a thread's nodes point to: not any node will do. Pure.

Types are known by their kind: the names of `types.SCHEMAS`, `string` and `workflow`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

Kinds = tuple[str, ...]

_TEXT: Final[Kinds] = ("string",)
_STEP: Final[Kinds] = ("step",)
_TASK: Final[Mapping[str, Kinds]] = {
    "prev": _STEP,
    "replaces": _STEP,
    "edgePrompt": _TEXT,
    "prompt": _TEXT,
}

TARGETS: Final[Mapping[str, Mapping[str, Kinds]]] = {
    "start": {"workflow": ("workflow",), "prompt": _TEXT, "parent": _STEP},
    "step": {
        **_TASK,
        "start": ("start",),
        "raw": _TEXT,
        "body": _TEXT,
        "detail": ("detail",),
        "corrections": _TEXT,
        "previousAttempts": _STEP,
    },
    "attempt": {**_TASK, "instruction": _TEXT, "step": _STEP, "question": ("question",)},
    "question": {"message": _TEXT, "form": _TEXT},
    "event": {"head": ("step", "start"), "attempt": ("attempt",)},
    "turn": {"text": _TEXT, "reasoning": _TEXT, "toolCalls": _TEXT},
    "detail": {"turns": ("turn",)},
}
"""For each kind, the fields that refer to nodes of certain kinds; where a field holds records,
those below the keys of `_WITHIN`. An output may be of any type that is an object.
"""

_WITHIN: Final = ("prompt", "raw", "result")


def wrong_target(
    kind: str, payload: Mapping[str, Any], kind_of: Callable[[str], str | None]
) -> str | None:
    """The first reference of a node of `kind` that points to a node of a kind which cannot be
    there, in words; None if there is none. `kind_of` gives None for any other type.
    """
    for field, wanted in TARGETS.get(kind, {}).items():
        for ref in _references(payload.get(field)):
            if kind_of(ref) not in wanted:
                return f"the {field} of a {kind} points to {ref}, which is no {' or '.join(wanted)}"
    return None


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _references(each)
    elif isinstance(value, dict):
        for key in _WITHIN:
            yield from _references(value.get(key))
