"""`uwf thread compact`: a summary in place of older steps, for new sessions."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen


def compacted_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`thread compact`: the summary, and up to which step."""
    origin = f"thread {document['thread']} is compacted up to step {document['number']}"
    if document["agent"] is not None:
        origin += f" · {document['agent']} · {amounts.usage(document['usage'])}"
    return f"{document['summary'].strip()}\n\n{screen.paint(origin, 'dim')}"
