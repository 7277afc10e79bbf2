"""Check the graph of a workflow: unknown, unreachable and endless roles."""

from collections.abc import Collection, Iterator

from uwf_core.cas.walk import reached
from uwf_core.fields.mismatch import nearest, suggestion
from uwf_core.workflow.definition import ANY, END, FAILED, START, SUSPEND
from uwf_core.workflow.outputs import Outputs
from uwf_core.workflow.parsed import ParsedEdge, ParsedWorkflow
from uwf_core.workflow.structure import start_hint
from uwf_core.yaml.problem import Problem, error_at

ENTRIES = ("new", "resume")


def check_graph(outputs: Outputs) -> Iterator[Problem]:
    """Every error in the graph."""
    parsed = outputs.parsed
    if parsed.graph_place is None:
        return
    yield from _sources(parsed)
    yield from _start(parsed)
    for edge in outputs.edges():
        yield from _target(edge, parsed)
    if all(map(parsed.has_edges, parsed.graph)):
        yield from _paths(parsed)
    for name in outputs.schemas:
        if name in parsed.graph and name not in parsed.fan_outs and parsed.has_edges(name):
            yield from _statuses(name, outputs)


def _sources(parsed: ParsedWorkflow) -> Iterator[Problem]:
    for name, (key, _) in parsed.graph.items():
        if name in (END, SUSPEND):
            yield error_at(
                key.place,
                "pseudo-node",
                f"{name} has outgoing edges",
                f"{name} can only be a target; remove this entry",
            )
        elif name in parsed.fan_outs or name == ANY:
            continue
        elif name != START and parsed.roles and name not in parsed.roles:
            hint = suggestion(name, [*parsed.roles, START])
            yield error_at(
                key.place, "unknown-role", f"unknown role {name!r} at graph.{name}", hint
            )
    known = dict.fromkeys((*parsed.roles, START))
    meant = {_meant(name, known) for name in parsed.graph}
    meant |= {_meant(each.role.text, parsed.roles) for each in parsed.branches() if each.role}
    for name, role in parsed.roles.items():
        if name not in meant:
            yield error_at(
                role.key.place,
                "role-not-in-graph",
                f"the role {name!r} has no entry in the graph",
                f"add `{name}:` to the graph with an edge for each of its statuses",
            )


def _start(parsed: ParsedWorkflow) -> Iterator[Problem]:
    assert parsed.graph_place is not None
    key, edges = parsed.graph.get(START, (None, []))
    place = parsed.graph_place if key is None else key.place
    present = {_meant(edge.status, ENTRIES) for edge in edges}
    is_other = key is None and any(_meant(name, [START]) == START for name in parsed.graph)
    is_other = is_other or (key is not None and not parsed.has_edges(START))
    is_other = is_other or any(start_hint(edge.status) for edge in edges)
    for entry in () if is_other else ENTRIES:  # a misspelt $START is one error
        if entry not in present:
            yield error_at(
                place,
                "start-incomplete",
                f"{START} lacks {entry!r}",
                f"add `{entry}: {{role: …, prompt: …}}` to `graph.{START}`",
            )
    for edge in edges:
        if edge.status not in ENTRIES:
            hint = start_hint(edge.status) or suggestion(edge.status, ENTRIES)
            message = f"{START} has no entry {edge.status!r}"
            problem = error_at(edge.key.place, "unknown-key", message, hint)
            yield problem._replace(replacement=nearest(edge.status, ENTRIES) or "")


def _meant(name: str, known: Collection[str]) -> str:
    """The known name that a misspelt one means, so that one typo is one error."""
    return name if name in known else nearest(name, known) or name


def _target(edge: ParsedEdge, parsed: ParsedWorkflow) -> Iterator[Problem]:
    if edge.role is None:
        return
    target, is_branch = edge.role.text, edge.branch is not None
    if edge.is_expiry and target in (START, SUSPEND):
        message = f"{target} cannot follow a question that nobody answered ({edge.place})"
        yield error_at(edge.role.place, "pseudo-node", message, "use the name of a role")
        return
    if is_branch and target in (START, END, SUSPEND):
        message = f"{target} cannot be the role of a branch ({edge.place})"
        yield error_at(edge.role.place, "pseudo-node", message, "use the name of a role")
    elif target == START:
        yield error_at(
            edge.role.place,
            "pseudo-node",
            f"{START} can only be a source",
            "use the name of a role",
        )
    elif target in (END, SUSPEND):
        if edge.source == START:
            yield error_at(
                edge.role.place,
                "start-target",
                f"{START} leads to {target} before any role has run",
                "use the name of the first role",
            )
    elif parsed.roles and target not in parsed.roles and not _is_its_fan_out(edge, parsed):
        hint = suggestion(target, [*parsed.roles, *(() if is_branch else (END, SUSPEND))])
        message = f"unknown role {target!r} at {edge.place}"
        yield error_at(edge.role.place, "unknown-role", message, hint)


def _is_its_fan_out(edge: ParsedEdge, parsed: ParsedWorkflow) -> bool:
    """Whether it is the edge to branches itself: no other edge leads to a fan-out."""
    assert edge.role is not None
    is_own = edge.role.text == f"{edge.source}/{edge.status}"
    return is_own and edge.role.text in parsed.fan_outs


def _paths(parsed: ParsedWorkflow) -> Iterator[Problem]:
    targets: dict[str, set[str]] = {}
    known = dict.fromkeys((*parsed.roles, *parsed.fan_outs, START, END, SUSPEND))
    for edge in parsed.edges():
        if edge.source not in (END, SUSPEND) and edge.role is not None:
            target = _meant(edge.role.text, known)
            source = START if edge.source == ANY else _meant(edge.source, known)
            targets.setdefault(source, set()).add(target)
    connected = set(reached([START], lambda name: targets.get(name, ())))
    for name, role in parsed.roles.items():
        if START in parsed.graph and name in parsed.graph and name not in connected:
            yield error_at(
                role.key.place,
                "unreachable-role",
                f"no path leads from {START} to {name!r}",
                "add an edge to it, or remove the role",
            )
    sources: dict[str, set[str]] = {}
    for source, names in targets.items():
        for target in names:
            sources.setdefault(target, set()).add(source)
    inner = {*parsed.roles, *parsed.fan_outs, START}
    ends = {name for names in targets.values() for name in names} - inner
    leaving = set(reached(ends, lambda name: sources.get(name, ())))
    for name in parsed.roles:
        if name in connected and name in targets and name in parsed.graph and name not in leaving:
            yield error_at(
                parsed.graph[name][0].place,
                "no-way-out",
                f"no path leads from {name!r} to {END} or {SUSPEND}",
                f"add an edge from a status of the loop to {END}",
            )


def _statuses(name: str, outputs: Outputs) -> Iterator[Problem]:
    key, edges = outputs.parsed.graph[name]
    analysis, possible = outputs.schemas[name].analysis, outputs.statuses(name)
    edges = [edge for edge in edges if not edge.is_expiry and edge.status != FAILED]
    given = {_meant(edge.status, possible) for edge in edges}
    for status in possible:
        if status not in given:
            yield error_at(
                key.place,
                "status-without-edge",
                f"no edge for the status {status!r} of {name!r}",
                f"add `{status}: {{role: …, prompt: …}}` to `graph.{name}`",
            )
    for edge in edges:
        if edge.status == SUSPEND:
            yield error_at(
                edge.key.place,
                "reserved-status",
                f"an edge for {SUSPEND} is not allowed: uwf runs the role that suspended again",
                "remove this edge",
            )
        elif analysis.complete and edge.status not in possible:
            yield error_at(
                edge.key.place,
                "unknown-status",
                f"the schema of {name!r} does not allow the status {edge.status!r}",
                suggestion(edge.status, possible),
            )
