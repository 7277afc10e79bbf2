"""Keys of older versions of workflow files, and what replaces them."""

from collections.abc import Iterator
from typing import Final

from uwf_core.workflow.definition import START
from uwf_core.workflow.parsed import ParsedWorkflow
from uwf_core.workflow.problem import Place, Problem
from uwf_core.workflow.yaml_nodes import YamlMapping, YamlSequence

_AT_TOP: Final = {
    "conditions": "older versions chose edges by conditions; give each role one $status for each "
    "edge, and write `graph.ROLE.STATUS: {role: …, prompt: …}`"
}
_START: Final = {"_": "older versions had one entry; write `new` and `resume`"}
_LIST: Final = (
    "older versions listed edges with conditions; write one edge for each $status: "
    "`STATUS: {role: …, prompt: …}`"
)


def with_hints(problems: list[Problem], parsed: ParsedWorkflow) -> list[Problem]:
    """The problems, with hints for what an older version had."""
    hints = {place: (hint, instead) for place, hint, instead in _hints(parsed)}
    return [_hinted(each, *hints[each.place]) if each.place in hints else each for each in problems]


def _hinted(problem: Problem, hint: str, instead: str) -> Problem:
    return problem._replace(hint=hint, replacement=instead)


def start_hint(entry: str) -> str | None:
    """The hint for an entry of `$START` of an older version."""
    return _START.get(entry)


def _hints(parsed: ParsedWorkflow) -> Iterator[tuple[Place, str, str]]:
    root = parsed.root
    for key, hint in _AT_TOP.items():
        if key in root.keys:
            yield root.keys[key].place, hint, ""
    for role in parsed.roles.values():
        for key, instead in role.older.items():
            assert role.node is not None
            place = role.node.keys[key].place
            yield place, f"older versions had `{key}`; write `{instead}`", instead
    graph = root.values.get("graph")
    for name, edges in graph.values.items() if isinstance(graph, YamlMapping) else ():
        if isinstance(edges, YamlSequence):
            more = f"; {_START['_']}" if name == START else ""
            yield edges.place, _LIST + more, ""
