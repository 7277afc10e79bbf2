"""The moderator: workflow + last output -> `Route`, `End` or `Suspend`.

Pure: no input, no output, no model. The same output always gives the same route.
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
    """The thread is completed; `prompt` is that of the edge to `$END` (may be empty)."""

    prompt: str


class Suspend(NamedTuple):
    """The thread waits for a person: `message` is the question, `role` runs again afterwards."""

    message: str
    role: str


def moderate(
    definition: Definition, role: str, output: Mapping[str, Any], body: str
) -> Route | End | Suspend:
    """Route the thread after `role` delivered `output`.

    Args:
        definition: the workflow.
        role: the role that has just run.
        output: its output, `$status` included. `$SUSPEND` with a `reason` is accepted
            from every role and needs no edge.
        body: the text after the frontmatter; `_body` in the templates.

    Raises:
        RoutingFailed: no edge for the status, a target that is not a role, a template that cannot
            be rendered, or a prompt for a role that renders blank.
    """
    status = output.get(STATUS)
    if status == SUSPEND:
        return Suspend(_text(output.get("reason")) or f"Role {role!r} needs a person.", role)
    edge = _edge(definition, role, status)
    data = {**output, BODY: body}
    place = f"graph.{role}.{status}"
    prompt = _rendered(edge.prompt, data, f"{place}.prompt")
    if edge.role == END:
        return End(prompt)
    if edge.role == SUSPEND:
        return Suspend(
            prompt.strip() or f"Role {role!r} returned {status!r}, which needs a person.", role
        )
    location = _rendered(edge.location or "", data, f"{place}.location").strip()
    return _route(definition, place, edge.role, prompt, location or None)


def first(definition: Definition, kind: Literal["new", "resume"]) -> Route:
    """Route a new thread (`new`) or a reopened one (`resume`) by the edge of `$START`.

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
            f"{place}: cannot render the template: {error.message} "
            f"(line {error.line}, column {error.column})",
            hint=error.hint or "next: uwf workflow check FILE",
        ) from error


def _route(
    definition: Definition, place: str, role: str, prompt: str, location: str | None
) -> Route:
    if role not in definition.roles:
        raise RoutingFailed(
            f"{place}: unknown role {role!r} as the target",
            hint=f"known roles: {', '.join(definition.roles)}",
        )
    if not prompt.strip():
        raise RoutingFailed(
            f"{place}.prompt renders blank, so {role!r} would get no instruction",
            hint="the prompt uses fields that are empty in the last output; "
            "require them in the schema, or add fixed text to the prompt",
        )
    return Route(role, prompt, location)


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
