"""The moderator: workflow + last output -> `Transition`.

Pure: no input, no output, no model. The same output always gives the same route.
"""

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from uwf_core.errors import RoutingFailed
from uwf_core.thread.decisions import ends, runs, waits
from uwf_core.thread.types import ExpiryPayload, NextPayload
from uwf_core.workflow.definition import (
    END,
    START,
    SUSPEND,
    Definition,
    Edge,
    ExpiredEdge,
    Limits,
    Role,
)
from uwf_core.workflow.template import TemplateError, render
from uwf_core.workflow.variants import BODY, INPUT, STATUS, STEPS


class Transition(NamedTuple):
    """Where an output leads.

    Attributes:
        status: `idle` (a role runs next), `suspended` (a person is needed) or `completed`.
        role: the role that runs next, or again after the person; None at the end.
        prompt: its instruction, the question to the person, or the prompt of the edge to `$END`.
        location: the working folder of the next step alone, absolute or relative to the thread's
            folder; None is that folder.
        limits: those of the call, if the next role is a workflow.
        after: how many seconds it waits before.
        within: seconds that the person has to answer; then `expired` runs, with a rendered prompt.
    """

    status: Literal["idle", "suspended", "completed"]
    role: str | None
    prompt: str
    location: str | None = None
    limits: Limits | None = None
    after: float | None = None
    within: float | None = None
    expired: ExpiredEdge | None = None

    def decision(self, at_ms: int) -> NextPayload:
        """What the event of the output stores, which came at a time in ms since 1970."""
        if self.status == "idle":
            not_before = None if self.after is None else at_ms + round(self.after * 1000)
            return runs(self.role or "", notBefore=not_before)
        if self.role is None:
            return ends()
        expires = expiry(self.within, self.expired, at_ms)
        return waits("role", self.role, self.prompt, expires=expires)


def expiry(within: float | None, edge: ExpiredEdge | None, at_ms: int) -> ExpiryPayload | None:
    """What follows a question that was asked at this time, if nobody answers; None: it waits.

    Args:
        within: seconds. edge: the role that then runs, with a rendered prompt; None: none.
    """
    if within is None:
        return None
    ends_as = None if edge is None else edge.as_
    leads = edge if ends_as is None else None
    return {
        "deadline": at_ms + round(within * 1000),
        "role": leads and leads.role,
        "prompt": leads and leads.prompt,
        "status": ends_as,
    }


def expired_of_role(
    definition: Definition,
    role: Role,
    given: Mapping[str, Any] | None,
    steps: Mapping[str, Any] | None = None,
) -> ExpiredEdge | None:
    """The edge that is taken if nobody answers a role of a person, with a rendered prompt. There is
    no output, so names in its template render empty, except the typed input and earlier steps.
    """
    place = f"roles.{role.name}.expired"
    return _expired(definition, role.expired, place, start_data(definition, given, steps))


def _expired(
    definition: Definition, edge: ExpiredEdge | None, place: str, data: Mapping[str, Any]
) -> ExpiredEdge | None:
    if edge is None or edge.as_ is not None:
        return edge
    to = _to_role(
        definition, Edge(edge.role), rendered(edge.prompt, f"{place}.prompt", data), data, place
    )
    return ExpiredEdge(to.role or "", to.prompt)


def apply_edge(
    definition: Definition,
    role: str,
    output: Mapping[str, Any],
    body: str,
    given: Mapping[str, Any] | None = None,
    steps: Mapping[str, Any] | None = None,
) -> Transition:
    """Follow the edge of the output that `role` delivered.

    Args:
        definition: the workflow.
        role: the role that has just run.
        output: its output, `$status` included. `$SUSPEND` with a `reason` is accepted
            from every role and needs no edge.
        body: the text after the frontmatter; `_body` in the templates.
        given: the typed input of the thread; `input` in the templates of a workflow that has one.
        steps: the newest output of each role, this one included; None if no template names one.

    Raises:
        RoutingFailed: no edge for the status, a target that is not a role, a template that cannot
            be rendered, or a prompt for a role that renders blank.
    """
    status = output.get(STATUS)
    if status == SUSPEND:
        return Transition("suspended", role, _message_of_role(role, output.get("reason")))
    edge = _edge(definition, role, status)
    data, place = template_data(definition, output, body, given, steps), f"graph.{role}.{status}"
    target = definition.roles.get(edge.role)
    if target is not None and target.fan_out is not None:  # its branches have their prompts
        return Transition("idle", edge.role, "")
    prompt = rendered(edge.prompt, f"{place}.prompt", data)
    if edge.role == END:
        return Transition("completed", None, prompt)
    if edge.role == SUSPEND:
        message = _message_of_edge(role, status, prompt)
        expired = _expired(definition, edge.expired, f"{place}.expired", data)
        return Transition("suspended", role, message, within=edge.within, expired=expired)
    return _to_role(definition, edge, prompt, data, place)


def template_data(
    definition: Definition,
    output: Mapping[str, Any],
    body: str,
    given: Mapping[str, Any] | None,
    steps: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the names of a template mean after an output; the arguments as for `apply_edge`."""
    return {**output, BODY: body, **start_data(definition, given, steps)}


def start_data(
    definition: Definition,
    given: Mapping[str, Any] | None,
    steps: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """What the names of a template mean at `$START`, where there is no output yet."""
    data = {} if definition.input is None else {INPUT: given}
    return data if steps is None else {**data, STEPS: steps}


def apply_start_edge(
    definition: Definition,
    kind: Literal["new", "resume"],
    given: Mapping[str, Any] | None = None,
    steps: Mapping[str, Any] | None = None,
) -> Transition:
    """Follow the edge of `$START` for a new thread (`new`) or a reopened one (`resume`).

    There is no output yet, so names in its templates render empty, except the typed input and
    earlier steps.

    Raises:
        RoutingFailed: as for `apply_edge`.
    """
    edge, place = _edge(definition, START, kind), f"graph.{START}.{kind}"
    data = start_data(definition, given, steps)
    prompt = rendered(edge.prompt, f"{place}.prompt", data)
    return _to_role(definition, edge, prompt, data, place)


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


def rendered(template: str, place: str, *contexts: Any) -> str:
    """A template of a workflow file, rendered within contexts, the innermost last.

    Raises:
        RoutingFailed: it cannot be rendered; the message names its place.
    """
    try:
        return render(template, *contexts)
    except TemplateError as error:
        raise RoutingFailed(
            f"{place}: cannot render the template: {error.message} "
            f"(line {error.line}, column {error.column})",
            hint=error.hint or "next: uwf workflow check FILE",
        ) from error


def _to_role(
    definition: Definition, edge: Edge, prompt: str, data: Mapping[str, Any], place: str
) -> Transition:
    role = edge.role
    location = rendered(edge.location or "", f"{place}.location", data).strip()
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
    return Transition("idle", role, prompt, location or None, edge.limits, edge.after)


def _message_of_role(role: str, reason: Any) -> str:
    """The `reason` that the role itself gave with `$SUSPEND`."""
    return (reason.strip() if isinstance(reason, str) else "") or f"Role {role!r} needs a person."


def _message_of_edge(role: str, status: Any, prompt: str) -> str:
    """The rendered prompt of the edge to `$SUSPEND`."""
    return prompt.strip() or f"Role {role!r} returned {status!r}, which needs a person."


def is_back(definition: Definition, role: str, target: str) -> bool:
    """Whether an edge leads back: to the role itself, or to one that is nearer to `$START`."""
    depths = dict.fromkeys((edge.role for edge in definition.graph[START].values()), 1)
    for name in (found := list(depths)):  # grows: breadth first
        for edge in definition.graph.get(name, {}).values():
            if edge.role not in depths:
                depths[edge.role] = depths[name] + 1
                found.append(edge.role)
    return target == role or depths[target] < depths[role]
