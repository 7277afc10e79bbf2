"""The message to the person of a thread that is suspended by a role or an edge.

The placeholders of a rendered prompt (`_body` and the fields) are those of `moderator.next`.
"""

from typing import Any


def message_of_role(role: str, reason: Any) -> str:
    """The `reason` that the role itself gave with `$SUSPEND`."""
    return (reason.strip() if isinstance(reason, str) else "") or f"Role {role!r} needs a person."


def message_of_edge(role: str, status: Any, prompt: str) -> str:
    """The rendered prompt of the edge to `$SUSPEND`."""
    return prompt.strip() or f"Role {role!r} returned {status!r}, which needs a person."
