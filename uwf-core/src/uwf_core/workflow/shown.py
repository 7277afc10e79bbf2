"""A workflow as `workflow show` prints it: like its file, with every default of a role. Pure."""

from collections.abc import Mapping
from typing import Any

from uwf_core.workflow.edge_kinds import DERIVED_IN_ROLE


def shown_workflow(workflow: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a completed mapping, of a file or of a node.

    An edge has only the keys that are set; one to branches also has the type of their joint result,
    `frontmatter`. A called workflow that is not published is shown by its name, and the workflows
    that uwf generates for branches, the texts of skills and the forms of replies are left out.
    """
    roles = {name: _role(role) for name, role in workflow["roles"].items()}
    graph = {
        source: {status: _edge(edge) for status, edge in edges.items()}
        for source, edges in workflow["graph"].items()
    }
    shown = {**workflow, "roles": roles, "graph": graph}
    return {key: value for key, value in shown.items() if key != "branch" or value}


def _role(role: Mapping[str, Any]) -> dict[str, Any]:
    called = role["workflow"]
    shown = {**role, "workflow": called["name"] if isinstance(called, Mapping) else called}
    return {key: value for key, value in shown.items() if key not in DERIVED_IN_ROLE}


def _edge(edge: Mapping[str, Any]) -> dict[str, Any]:
    shown = _set(edge)
    if edge["parallel"] is not None:
        branches = sorted(edge["parallel"].items(), key=lambda each: each[1]["place"])
        shown["parallel"] = {name: _set(branch) for name, branch in branches}
    if edge["then"] is not None:
        shown["then"] = {status: _set(each) for status, each in edge["then"].items()}
        shown["frontmatter"] = shown.pop("frontmatter")  # it is long
    return shown


def _set(part: Mapping[str, Any]) -> dict[str, Any]:
    shown = {
        key: value
        for key, value in part.items()
        if key not in ("workflow", "place") and value not in (None, False, "")
    }
    if "limits" in shown:
        shown["limits"] = {key: each for key, each in shown["limits"].items() if each is not None}
    return shown
