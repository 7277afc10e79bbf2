"""Which parts of a workflow differ from the recorded one, as far as they concern an attempt."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.errors import DefinitionError, UsageError
from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlNode

if TYPE_CHECKING:
    from uwf_core.replay.walk import Difference
    from uwf_core.workflow.definition import Definition

Keys = tuple[str, ...]

_OF_ROLE = ("goal", "capabilities", "procedure", "output", "frontmatter")
"""The fields of a role that its prompt shows."""


class Cause(NamedTuple):
    """A part of the workflow that differs: its path (`roles.writer.goal`), and where it is written
    in the workflow's file, if there is one.
    """

    path: str
    file: str | None = None
    line: int | None = None


def causes_of(
    differences: "Sequence[Difference]",
    role: str,
    edge: tuple[str, str],
    workflows: "tuple[Definition, Definition]",
    source: YamlNode | None,
) -> list[Cause]:
    """The changed parts that explain the differences of an attempt of `role`.

    Args:
        differences: those of the attempt.
        role: its role.
        edge: the role and status whose edge led to it.
        workflows: the recorded one, and that of the replay.
        source: the file of the latter.
    """
    recorded, now = workflows
    if recorded.ref == now.ref:
        return []
    paths = dict.fromkeys(keys for each in differences for keys in _paths(each, role, edge, now))
    changed = [keys for keys in paths if _at(recorded, keys) != _at(now, keys)]
    parents = {keys[:count] for keys in changed for count in range(len(keys))}
    return [_cause(keys, source) for keys in changed if keys not in parents]


def _paths(
    difference: "Difference", role: str, edge: tuple[str, str], now: "Definition"
) -> Iterator[Keys]:
    """The parts of a workflow on which a part of an attempt depends."""
    source, status = edge
    part = difference.part
    if part in ("prompt", "correction", "output", "role"):
        yield from (("roles", role, field) for field in _OF_ROLE)
    if part in ("prompt", "role"):
        yield ("graph", source, status, "prompt")
    if part in ("role", "route"):
        yield ("graph", source, status, "role")
    if part == "prompt":
        yield from (("graph", role, each, "role") for each in now.graph.get(role, {}))
    if part == "location":
        yield ("graph", source, status, "location")
    if part in ("route", "message"):
        yield from (("graph", role, each) for each in now.graph.get(role, {}))
        yield ("graph", role)


def _at(workflow: "Definition", keys: Keys) -> Any:
    """The part of a workflow at a path; None where there is none."""
    found: Any = {"roles": workflow.roles, "graph": workflow.graph}
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else getattr(found, key, None)
        if found is None:
            return None
    return found


def _cause(keys: Keys, source: YamlNode | None) -> Cause:
    place, node = None, source
    for key in keys:
        if not isinstance(node, YamlMapping) or key not in node.values:
            break
        place, node = node.keys[key].place, node.values[key]
    path = ".".join(keys)
    return Cause(path) if place is None else Cause(path, place.file, place.line)


def read_source(file: str | None) -> YamlNode | None:
    """The nodes of a workflow's file, for the lines of its parts."""
    if file is None:
        return None
    from uwf_core.workflow.load import load_file

    try:
        return load_file(file).node
    except (UsageError, DefinitionError):  # it has changed since it was published
        return None
