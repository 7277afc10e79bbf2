"""`uwf tick`."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen


def tick_text(document: Mapping[str, Any], screen: Screen) -> str:
    """What the pass has done, or the lines for a scheduler."""
    if "lines" in document:
        return str(document["lines"])
    problems = document["problems"]
    lines = [f"schedule {each['schedule']}: thread {each['thread']}" for each in document["fired"]]
    lines += [f"started {thread}" for thread in document["started"]]
    lines += [f"due {thread}: `limits.runs` run already" for thread in document["due"]]
    for each in problems:
        subject = each["thread"] or f"schedule {each['schedule']}"
        lines.append(screen.paint(f"{subject}: {each['message']}", "error"))
    if not lines:
        lines.append("nothing is due")
    if document["nextAtMs"] is not None:
        lines.append(screen.paint(f"next: {amounts.moment(document['nextAtMs'])}", "dim"))
    return "\n".join(lines)
