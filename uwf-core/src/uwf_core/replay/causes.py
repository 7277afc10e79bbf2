"""Which parts of a workflow differ from the recorded one, as far as they concern an attempt."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.errors import DefinitionError, UsageError
from uwf_core.workflow.definition import SELF, Edge
from uwf_core.workflow.discover import SUFFIXES
from uwf_core.yaml.nodes import YamlMapping, YamlNode, YamlScalar

if TYPE_CHECKING:
    from uwf_core.replay.walk import Difference
    from uwf_core.workflow.definition import Definition

Keys = tuple[str, ...]

_OF_ROLE = ("goal", "capabilities", "procedure", "output", "frontmatter")
"""The fields of a role that its prompt shows."""


class Cause(NamedTuple):
    """A part of a workflow that differs: its path (`roles.writer.goal`), and where it is written
    in the workflow's file, if there is one.
    """

    workflow_name: str
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
    paths = dict.fromkeys(
        in_file(keys) for each in differences for keys in _paths(each, role, edge, now)
    )
    then, current = _parts(recorded), _parts(now)
    changed = [keys for keys in paths if _at(then, keys) != _at(current, keys)]
    parents = {keys[:count] for keys in changed for count in range(len(keys))}
    return [_cause(now.name, keys, source) for keys in changed if keys not in parents]


def _paths(
    difference: "Difference", role: str, edge: tuple[str, str], now: "Definition"
) -> Iterator[Keys]:
    """The parts of a workflow on which a part of an attempt depends."""
    source, status = edge
    part = difference.part
    fan_out = now.roles[role].fan_out if role in now.roles else None
    if fan_out is not None:
        yield from _of_branches(part, ("graph", *role.rpartition("/")[::2]), fan_out)
    elif part in ("called", "output"):
        yield ("roles", role, "workflow")
    if part in ("prompt", "correction", "output", "role") and fan_out is None:
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


def _of_branches(part: str, edge: Keys, fan_out: Edge) -> Iterator[Keys]:
    """The parts of an edge to branches, at its path, on which a part of the fan-out depends."""
    branches = [(*edge, "parallel", name) for name in fan_out.parallel or ()] or [edge]
    if part in ("prompt", "location"):
        yield from ((*branch, part) for branch in branches)
    if part == "branches":
        yield from ((*edge, each) for each in ("forEach", "parallel", "role"))
    if part == "output":
        yield (*edge, "then")


def in_file(keys: Keys) -> Keys:
    """The path of a part in the file: the edges of a fan-out are in the `then` of its edge."""
    if keys[0] != "graph" or len(keys) < 2 or "/" not in keys[1]:
        return keys
    source, _, status = keys[1].rpartition("/")
    return ("graph", source, status, "then", *keys[2:])


def _parts(workflow: "Definition") -> dict[str, Any]:
    return {"roles": workflow.roles, "graph": workflow.written.graph}


def _at(parts: Mapping[str, Any], keys: Keys) -> Any:
    """The part of a workflow at a path; None where there is none."""
    found: Any = parts
    for key in keys:
        name = "for_each" if key == "forEach" else key
        found = found.get(key) if isinstance(found, dict) else getattr(found, name, None)
        if found is None:
            return None
    return found


def _cause(name: str, keys: Keys, source: YamlNode | None) -> Cause:
    place, node = None, source
    for key in keys:
        if not isinstance(node, YamlMapping) or key not in node.values:
            break
        place, node = node.keys[key].place, node.values[key]
    path = ".".join(keys)
    return Cause(name, path, place and place.file, place and place.line)


class Sources:
    """The files of a workflow and of those that it calls; each is read once."""

    def __init__(self, file: str | None) -> None:
        self._files: dict[tuple[str, ...], str | None] = {(): file}
        self._read: dict[tuple[str, ...], YamlNode | None] = {}

    def at(self, path: tuple[str, ...]) -> YamlNode | None:
        """The nodes of the workflow that the roles of a path call; None if no file is known."""
        if path not in self._read:
            file = self._file(path)
            self._read[path] = None if file is None else _nodes(file)
        return self._read[path]

    def _file(self, path: tuple[str, ...]) -> str | None:
        if path not in self._files:
            self._files[path] = self._called(path)
        return self._files[path]

    def _called(self, path: tuple[str, ...]) -> str | None:
        """The file that a role names by its path; a name may be registered since. A branch of a
        role without a workflow is in the file of its caller.
        """
        own, above = self.at(path[:-1]), self._file(path[:-1])
        word = _value(own, ("roles", path[-1], "workflow"))
        if above is None or word in (None, SELF):
            return above
        is_path = "/" in word or word.endswith(SUFFIXES)
        return str(Path(above).parent / word) if is_path else None


def _value(node: YamlNode | None, keys: Keys) -> str | None:
    for key in keys:
        node = node.values.get(key) if isinstance(node, YamlMapping) else None
    return node.value if isinstance(node, YamlScalar) and isinstance(node.value, str) else None


def _nodes(file: str) -> YamlNode | None:
    """The nodes of a workflow's file, for the lines of its parts."""
    from uwf_core.workflow.load import load_file

    try:
        return load_file(file).node
    except (UsageError, DefinitionError):  # it has changed since it was published
        return None
