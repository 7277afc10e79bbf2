"""Bundles for people."""

from collections.abc import Mapping
from typing import Any

from uwf_core.cli.render.style import Screen


def bundle_text(document: Mapping[str, Any], screen: Screen) -> str:
    """What a bundle holds, and its root."""
    lines = [
        f"{document['file']}: thread {document['thread']}, {document['nodes']} nodes",
        f"head {document['head']}",
        screen.paint(f"root {document['root']}", "dim"),
    ]
    return "\n".join(lines)
