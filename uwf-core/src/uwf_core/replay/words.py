"""A replay in words: a line for an attempt, and a diff of what changed in it."""

from collections.abc import Mapping
from difflib import unified_diff
from typing import Any

_CHANGED = {
    "prompt": "its prompt has changed",
    "correction": "the correction that it got has changed",
    "message": "the question to the person has changed",
    "branches": "it has other branches",
    "called": "the call or the called thread has changed",
    "role": "another role runs here",
    "location": "it runs in another folder",
    "output": "its output is not valid, or another one",
    "route": "its output leads elsewhere",
    "node": "the engine stores another node",
}
_KINDS = {
    "step": "step",
    "failed": "a failed attempt at step",
    "replaced": "a replaced reply of step",
    "asked": "a question of step",
    "calling": "the open call of step",
}


def headline(each: Mapping[str, Any]) -> str:
    """One line: the attempt, its verdict, what changed, and the cause."""
    what = "; ".join(_CHANGED[difference["part"]] for difference in each["differences"])
    place = f"{_KINDS[each['kind']]} {each['number']} ({each['path']}, {each['step']})"
    line = f"{place} is {each['verdict']}" + (f": {what}" if what else "")
    causes = ", ".join(map(_cause, each["causes"]))
    if causes:
        return f"{line}; changed: {causes}"
    if not each["differences"]:
        return line
    return f"{line}; the workflow is the same here, so the version of uwf is the likely cause"


def _cause(cause: Mapping[str, Any]) -> str:
    if cause["file"] is None:
        return f"{cause['path']} of the workflow {cause['workflowName']}"
    return f"{cause['path']} ({cause['file']}:{cause['line']})"


def difference_text(difference: Mapping[str, Any]) -> str:
    """What was recorded and what comes out now, as a unified diff with visible CRs."""
    recorded, now = (
        difference[each].replace("\r", "\\r").removesuffix("\n").split("\n")
        for each in ("recorded", "now")
    )
    names = f"{difference['part']}, recorded", f"{difference['part']}, now"
    return "\n".join(unified_diff(recorded, now, *names, lineterm=""))
