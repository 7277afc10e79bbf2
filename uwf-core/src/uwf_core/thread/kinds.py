"""What the references in a thread's nodes lead to: not any node will do. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from uwf_core.thread.types import targets_of


def wrong_target(
    kind: str, payload: Mapping[str, Any], kind_of: Callable[[str], str | None]
) -> str | None:
    """The first reference of a node of `kind` that leads to a node of a kind which cannot be
    there, in words; None if there is none. `kind_of` gives None for any other type.
    """
    for field, ref, wanted in targets_of(kind, payload):
        if wanted and kind_of(ref) not in wanted:
            return f"the {field} of a {kind} points to {ref}, which is no {' or '.join(wanted)}"
    return None
