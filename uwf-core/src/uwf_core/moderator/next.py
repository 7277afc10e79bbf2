"""The moderator: workflow + last output -> `Route`, `End` or `Suspend`.

Pure: no input, no output, no model. The same output always leads to the same place.
"""

from collections.abc import Mapping
from typing import Any, Literal

from uwf_core.errors import RoutingFailed
from uwf_core.named_tuple import NamedTuple
from uwf_core.workflow.definition import Definition, Edge
from uwf_core.workflow.template import TemplateError, render
from uwf_core.workflow.variants import BODY, STATUS, SUSPEND

START, END = "$START", "$END"


class Route(NamedTuple):
    """`role` is next, with this instruction. `location` is its working folder, absolute or relative
    to the thread's; None is the thread's own. It holds for this step alone.
    """

    role: str
    prompt: str
    location: str | None


class End(NamedTuple):
    """The thread is completed; `prompt` is what the edge to `$END` says (may be empty)."""

    prompt: str


class Suspend(NamedTuple):
    """A person is needed: `message` says what for, `role` is the one to run again afterwards."""

    message: str
    role: str


def moderate(
    definition: Definition, role: str, output: Mapping[str, Any], body: str
) -> Route | End | Suspend:
    """Where the thread goes after `role` delivered `output`.

    Args:
        definition: the workflow.
        role: the role that has just spoken.
        output: what it delivered, `$status` included. `$SUSPEND` with a `reason` is taken from
            every role and needs no edge.
        body: the text after the frontmatter; `_body` in the templates.

    Raises:
        RoutingFailed: no edge for the status, a target that is no role, a template that cannot be
            rendered, or a prompt for a role that renders blank.
    """
    status = output.get(STATUS)
    if status == SUSPEND:
        return Suspend(_text(output.get("reason")) or f"Role {role!r} asks for a person.", role)
    edge = _edge(definition, role, status)
    data = {**output, BODY: body}
    place = f"graph.{role}.{status}"
    prompt = _rendered(edge.prompt, data, f"{place}.prompt")
    if edge.role == END:
        return End(prompt)
    if edge.role == SUSPEND:
        return Suspend(
            prompt.strip() or f"Role {role!r} said {status!r}, which asks for a person.", role
        )
    location = _rendered(edge.location or "", data, f"{place}.location").strip()
    return _route(definition, place, edge.role, prompt, location or None)


def first(definition: Definition, kind: Literal["new", "resume"]) -> Route:
    """Where a thread begins (`new`), or goes on after its end (`resume`): `$START`'s edge.

    There is no output yet, so names in its templates render empty.

    Raises:
        RoutingFailed: as for `moderate`.
    """
    edge = _edge(definition, START, kind)
    place = f"graph.{START}.{kind}"
    prompt = _rendered(edge.prompt, {}, f"{place}.prompt")
    location = _rendered(edge.location or "", {}, f"{place}.location").strip()
    return _route(definition, place, edge.role, prompt, location or None)


def _edge(definition: Definition, role: str, status: Any) -> Edge:
    edges = definition.graph.get(role, {})
    edge = edges.get(status) if isinstance(status, str) else None
    if edge is None:
        raise RoutingFailed(
            f"the workflow has no edge for {role} with status {status!r} "
            f"(graph.{role} has: {', '.join(edges) or 'none'})",
            hint=f"add graph.{role}.{status} to the workflow and start a thread of the new version",
        )
    return edge


def _rendered(template: str, data: Mapping[str, Any], place: str) -> str:
    try:
        return render(template, data)
    except TemplateError as error:
        raise RoutingFailed(
            f"{place}: the template cannot be rendered: {error.message} "
            f"(line {error.line}, column {error.column})",
            hint=error.hint or "check the workflow file with `uwf workflow check`",
        ) from error


def _route(
    definition: Definition, place: str, role: str, prompt: str, location: str | None
) -> Route:
    if role not in definition.roles:
        raise RoutingFailed(
            f"{place}: the target {role!r} is no role of the workflow",
            hint=f"roles are: {', '.join(definition.roles)}",
        )
    if not prompt.strip():
        raise RoutingFailed(
            f"{place}.prompt renders blank, so {role!r} would not know what to do",
            hint="the fields that the prompt uses are empty in the last output; "
            "require them in the schema, or put fixed text into the prompt",
        )
    return Route(role, prompt, location)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
