"""Care for the store: `uwf cas verify`, `uwf cas gc`."""

from collections.abc import Iterator, Mapping
from typing import Any

from uwf_core.cli.render.colours import Screen


def verify_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas verify`."""
    return "\n".join(_verify_lines(document, screen))


def _verify_lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    for each in document["repaired"]:
        yield f"{screen.paint('repaired', 'ok')} {each}"
    for problem in document["problems"]:
        what = problem["node"] or problem["variable"] or "store"
        yield f"{screen.paint(problem['kind'], 'error')} {what}: {problem['message']}"
        if problem["threads"]:
            yield f"  threads: {', '.join(problem['threads'])}"
    counts = ", ".join(f"{document[what]} {what}" for what in ("nodes", "variables", "threads"))
    if document["valid"]:
        yield f"{counts}: store OK"
    else:
        damaged = f"{len(document['damaged'])} threads damaged"
        yield f"{counts}: {len(document['problems'])} problems, {damaged}"


def gc_text(document: Mapping[str, Any], screen: Screen) -> str:
    """`cas gc`."""
    from uwf_core.cli.render.table import Column, table

    columns = (
        Column("reason", "KEPT FOR", least=8),
        Column("variables", "NAMES", right=True),
        Column("nodes", "NODES", right=True),
    )
    verb = "would be deleted" if document["dryRun"] else "freed"
    lines = [table(columns, document["kept"], screen)] if document["kept"] else []
    lines.append(f"{document['freed']} of {document['nodes']} nodes {verb}")
    if document["dropped"]:
        lines.append(f"{len(document['dropped'])} cached sessions of questions {verb}")
    if document["files"]:
        lines.append(f"{document['files']} objects of recorded files {verb}")
    return "\n".join(lines)
