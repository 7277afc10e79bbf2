"""The graph of a workflow: who leads where, who is never reached, who never comes to an end."""

from collections.abc import Iterable, Iterator, Mapping

from uwf_core.workflow.problem import Problem, error_at
from uwf_core.workflow.sketch import END, START, SUSPEND, Edge, Sketch, suggestion
from uwf_core.workflow.variants import Analysis

ENTRIES = ("new", "resume")


def check_graph(sketch: Sketch, analyses: Mapping[str, Analysis]) -> Iterator[Problem]:
    """Every fault of the graph. `analyses` has what is known of each role's statuses."""
    if sketch.graph_place is None:
        return
    yield from _sources(sketch)
    yield from _start(sketch)
    for edge in sketch.edges():
        yield from _target(edge, sketch)
    yield from _paths(sketch)
    for name, analysis in analyses.items():
        if name in sketch.graph:
            yield from _statuses(sketch, name, analysis)


def _sources(sketch: Sketch) -> Iterator[Problem]:
    for name, (key, _) in sketch.graph.items():
        if name in (END, SUSPEND):
            yield error_at(
                key.place,
                "pseudo-node",
                f"{name} has outgoing edges",
                f"{name} is only ever a target; remove this entry",
            )
        elif name != START and sketch.roles and name not in sketch.roles:
            hint = suggestion(name, [*sketch.roles, START])
            yield error_at(key.place, "unknown-role", f"the role {name!r} is not there", hint)
    for name, (key, _) in sketch.roles.items():
        if name not in sketch.graph:
            yield error_at(
                key.place,
                "role-not-in-graph",
                f"the role {name!r} is missing from the graph",
                f"add `{name}:` to the graph with an edge for each of its statuses",
            )


def _start(sketch: Sketch) -> Iterator[Problem]:
    assert sketch.graph_place is not None
    key, edges = sketch.graph.get(START, (None, []))
    place = sketch.graph_place if key is None else key.place
    present = {edge.status for edge in edges}
    for entry in ENTRIES:
        if entry not in present:
            yield error_at(
                place,
                "start-incomplete",
                f"{START} lacks {entry!r}",
                f"add `{entry}: {{role: …, prompt: …}}` to `graph.{START}`",
            )
    for edge in edges:
        if edge.status not in ENTRIES:
            yield error_at(
                edge.key.place,
                "unknown-key",
                f"{START} has no entry {edge.status!r}",
                suggestion(edge.status, ENTRIES),
            )


def _target(edge: Edge, sketch: Sketch) -> Iterator[Problem]:
    if edge.role is None:
        return
    target = edge.role.text
    if target == START:
        yield error_at(
            edge.role.place,
            "pseudo-node",
            f"{START} is only ever a source",
            "name the role to go to",
        )
    elif target in (END, SUSPEND):
        if edge.source == START:
            yield error_at(
                edge.role.place,
                "start-target",
                f"{START} leads to {target} before any role has spoken",
                "name the role to begin with",
            )
    elif sketch.roles and target not in sketch.roles:
        hint = suggestion(target, [*sketch.roles, END, SUSPEND])
        yield error_at(edge.role.place, "unknown-role", f"the role {target!r} is not there", hint)


def _paths(sketch: Sketch) -> Iterator[Problem]:
    targets: dict[str, set[str]] = {}
    for edge in sketch.edges():
        if edge.source not in (END, SUSPEND) and edge.role is not None:
            targets.setdefault(edge.source, set()).add(edge.role.text)
    reached = _closure([START], targets)
    for name, (key, _) in sketch.roles.items():
        if START in sketch.graph and name in sketch.graph and name not in reached:
            yield error_at(
                key.place,
                "unreachable-role",
                f"no path leads from {START} to {name!r}",
                "let an edge lead to it, or remove the role",
            )
    sources: dict[str, set[str]] = {}
    for source, names in targets.items():
        for target in names:
            sources.setdefault(target, set()).add(source)
    ends = {name for names in targets.values() for name in names} - set(sketch.roles) - {START}
    leaving = _closure(ends, sources)
    for name in sketch.roles:
        if name in reached and name in targets and name not in leaving:
            yield error_at(
                sketch.graph[name][0].place,
                "no-way-out",
                f"no path leads from {name!r} to {END} or {SUSPEND}",
                f"let a status of the loop lead to {END}",
            )


def _closure(begin: Iterable[str], steps: Mapping[str, set[str]]) -> set[str]:
    """Everything that can be reached from `begin`, that included."""
    found, waiting = set(begin), list(begin)
    while waiting:
        for name in steps.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return found


def _statuses(sketch: Sketch, name: str, analysis: Analysis) -> Iterator[Problem]:
    key, edges = sketch.graph[name]
    possible = [variant.status for variant in analysis.variants]
    given = {edge.status for edge in edges}
    for status in possible:
        if status not in given:
            yield error_at(
                key.place,
                "status-without-edge",
                f"{name!r} can give the status {status!r}, which has no edge",
                f"add `{status}: {{role: …, prompt: …}}` to `graph.{name}`",
            )
    for edge in edges:
        if edge.status == SUSPEND:
            yield error_at(
                edge.key.place,
                "reserved-status",
                f"{SUSPEND} needs no edge: every role may answer it, and is then resumed",
                "remove this edge",
            )
        elif analysis.complete and edge.status not in possible:
            yield error_at(
                edge.key.place,
                "unknown-status",
                f"the schema of {name!r} cannot give the status {edge.status!r}",
                suggestion(edge.status, possible),
            )
