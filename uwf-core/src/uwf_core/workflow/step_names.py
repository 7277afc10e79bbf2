"""The names by which templates read earlier steps: `{{steps.planner.plan}}`."""

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uwf_core.workflow.definition import Branch, Edge, Role

_TAG = re.compile(r"\{\{[{&#^]?\s*steps\.([^\s{}.?]*)")


def named_steps(text: str) -> list[str]:
    """The names of the steps in a template."""
    return _TAG.findall(text)


def steps_by_name(
    roles: "Mapping[str, Role]", graph: "Mapping[str, Mapping[str, Edge]]"
) -> "Mapping[str, str]":
    """The roles of a workflow by their names in templates; none if no template has one."""
    if any(map(named_steps, _templates(roles, graph))):
        return {name: name for name in roles if "." not in name and "/" not in name}
    return {}


def _templates(
    roles: "Mapping[str, Role]", graph: "Mapping[str, Mapping[str, Edge]]"
) -> Iterator[str]:
    edges: list[Edge | Branch] = [edge for each in graph.values() for edge in each.values()]
    for role in roles.values():
        yield from role.command or ()
        if role.fan_out is not None:
            edges += [role.fan_out, *(role.fan_out.parallel or {}).values()]
    yield from (text for edge in edges for text in (edge.prompt, edge.location) if text)
