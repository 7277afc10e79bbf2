"""Findings for people."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from uwf_core.commands import Column, Screen, clean, count, duration, table

CARRIERS: Final = {
    "procedure": "change the goal, the procedure or a skill of the role",
    "memory": "give the role this knowledge as memory",
    "workflow": "make the workflow simpler",
    "agent": "look at the agent, its model or its rights",
}


def reflection_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The text of `uwf improve reflect`."""
    return "\n".join(_lines(document, screen))


def _lines(document: Mapping[str, Any], screen: Screen) -> Iterator[str]:
    versions = document["versions"]
    runs = f", {versions} versions" if versions > 1 else ""
    yield (
        f"{document['workflow']}: {document['threads']} threads, "
        f"{document['completed']} completed{runs}"
    )
    if document["unreadable"]:
        yield f"{document['unreadable']} threads cannot be read; next: uwf cas verify"
    if document["sealed"]:
        yield f"{document['sealed']} threads are left out: sealed tasks were made of them"
    yield ""
    yield table(_ROLES, [_role(each) for each in document["roles"]], screen)
    yield ""
    yield table(_EDGES, document["edges"], screen)
    for finding in document["findings"]:
        yield ""
        yield from _finding(finding)
    if not document["findings"]:
        yield ""
        yield "no findings: nothing happened often enough to be a habit"
    if document.get("answer"):
        yield ""
        yield clean(document["answer"])


_ROLES: Final = (
    Column("role", "ROLE", least=8),
    Column("visits", "VISITS", right=True),
    Column("perThread", "PER THREAD", right=True),
    Column("corrections", "CORRECTED", right=True, rank=2),
    Column("attempts", "FAILED", right=True, rank=1),
    Column("time", "TIME", right=True, rank=3),
    Column("cost", "COST", right=True, rank=4),
)
_EDGES: Final = (
    Column("role", "FROM", least=8),
    Column("status", "STATUS", least=8),
    Column("target", "TO", least=8),
    Column("taken", "TAKEN", right=True),
)


def _role(role: Mapping[str, Any]) -> dict[str, Any]:
    cost, threads = role["costUsd"], role["threads"]
    return {
        **role,
        "visits": count(role["visits"]),
        "perThread": f"{role['visits'] / threads:.1f}" if threads else None,
        "time": duration(role["durationMs"]),
        "cost": None if cost is None else f"${cost:.4g}",
    }


def _finding(finding: Mapping[str, Any]) -> Iterator[str]:
    yield f"{finding['number']}. {clean(finding['text'])}"
    if finding["phrase"]:
        yield f"   they share the words: {clean(finding['phrase'])!r}"
    yield f"   could help: {CARRIERS[finding['carrier']]}"
    for step in finding["steps"]:
        yield f"   uwf step show {step}"
