"""The parts of a workflow that an edit may change. Pure.

Everything that is not named here is guarded: judges, tasks, limits, schemas, programs, persons, the
graph. A list of what is allowed stays right when workflows get new keys.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

ROLE_TEXTS: Final = ("goal", "procedure", "output", "description")


def editable(shown: Mapping[str, Any]) -> dict[str, str]:
    """Place -> text: `roles.reviewer.goal`, `graph.reviewer.rejected.prompt`.

    Args:
        shown: a definition as `uwf workflow show` gives it.
    """
    return dict(_role_texts(shown["roles"])) | dict(_prompts(shown["graph"]))


def targets(shown: Mapping[str, Any]) -> dict[str, str]:
    """Place of a prompt -> the role that gets it."""
    return {place: part.get("role") or "" for place, part in _edges(shown["graph"])}


def guarded(shown: Mapping[str, Any]) -> dict[str, Any]:
    """What is left of a definition without these texts; `workflow` is its reference."""
    roles = {
        name: {
            key: value
            for key, value in role.items()
            if key not in ROLE_TEXTS or role.get("program") is not None
        }
        for name, role in shown["roles"].items()
    }
    graph = {
        source: {status: _without_prompts(edge) for status, edge in edges.items()}
        for source, edges in shown["graph"].items()
    }
    rest = {key: value for key, value in shown.items() if key not in ("workflow", "description")}
    return {**rest, "roles": roles, "graph": graph}


def _role_texts(roles: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, role in roles.items():
        if role.get("program") is None:
            for key in ROLE_TEXTS:
                yield f"roles.{name}.{key}", role.get(key) or ""


def _prompts(graph: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for place, part in _edges(graph):
        yield place, part.get("prompt") or ""


def _edges(graph: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for source, edges in graph.items():
        for status, edge in edges.items():
            for place, part in _parts(edge):
                yield f"graph.{source}.{status}{place}.prompt", part


def _parts(edge: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """An edge, its branches, and the edges of their joint status."""
    yield "", edge
    for key in ("parallel", "then"):
        for name, part in (edge.get(key) or {}).items():
            yield f".{key}.{name}", part


def _without_prompts(edge: Mapping[str, Any]) -> dict[str, Any]:
    bare = {key: value for key, value in edge.items() if key != "prompt"}
    for key in ("parallel", "then"):
        if edge.get(key):
            bare[key] = {
                name: {each: value for each, value in part.items() if each != "prompt"}
                for name, part in edge[key].items()
            }
    return bare
