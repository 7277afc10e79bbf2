"""The form by which an agent asks permission: a choice that other programs can show as such.

    raise NeedsAnswer("it wants to run `make test`", permission_form("once", "step", "never"))

An answer is `{"decision": "once"}`. `uwf acp` shows such a question as a request for permission of
the editor; any other form is a question.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal

Decision = Literal["allow", "once", "step", "always", "deny", "never"]
FIELD: Final = "decision"
ALLOWS: Final[Mapping[str, bool]] = {
    "allow": True, "once": True, "step": True, "always": True, "deny": False, "never": False,
}  # fmt: skip
"""Every decision, and whether it allows. `allow` and `once` allow this thing alone, `step` and
`always` also those like it, in this step or from now on; `deny` rejects this thing alone.
"""


def permission_form(*decisions: Decision, about: str = "") -> dict[str, Any]:
    """The JSON Schema of an answer that is one of these decisions; `about` explains them."""
    choice: dict[str, Any] = {"enum": list(decisions)}
    return {
        "type": "object",
        "properties": {FIELD: {**choice, "description": about} if about else choice},
        "required": [FIELD],
        "additionalProperties": False,
    }


def decisions_of(form: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The decisions of a form that asks permission; None for any other form."""
    properties = form.get("properties")
    if not isinstance(properties, Mapping) or list(properties) != [FIELD]:
        return None
    field = properties[FIELD]
    choices = field.get("enum") if isinstance(field, Mapping) else None
    if not isinstance(choices, list) or not choices:
        return None
    known = [each for each in choices if isinstance(each, str) and each in ALLOWS]
    return tuple(known) if len(known) == len(choices) else None
