"""Whether the templates of a workflow hold in a thread that continues with it after steps of
another one. Pure.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from uwf_core.cas.walk import walk
from uwf_core.workflow.definition import END, EXPIRED, START, SUSPEND, Definition
from uwf_core.workflow.earlier import Newest, Passage
from uwf_core.workflow.fan_out import branches_of
from uwf_core.workflow.step_names import named_steps


class _Use(NamedTuple):
    """The templates at a place, and the outputs that can be the newest there."""

    place: str
    texts: tuple[str | None, ...]
    at: int


def lost_reference(
    definition: Definition, step: tuple[str, str], has: Callable[[str, list[str]], bool]
) -> str | None:
    """The first reference to an earlier step that does not hold, with its place; None if all do.

    Args:
        definition: the workflow with which a thread continues.
        step: the role and the status of its newest step.
        has: whether the newest step of a role has one of these statuses ("": there is none), and
            an output as the workflow declares it.
    """
    passages = [
        Passage(source, status.removesuffix(f"/{EXPIRED}"), edge.role)
        for source, edges in definition.graph.items()
        for status, edge in edges.items()
        if all(status != each.as_ for each in edges.values())  # no role delivers that
    ]
    newest = Newest(passages, definition.steps.values())
    for name, role in definition.steps.items():
        for use in _uses(definition, newest, step, role):
            is_named = any(name in named_steps(each) for each in use.texts if each)
            if is_named and not has(role, newest.statuses(use.at, role)):
                return f"{use.place} names steps.{name}"
    return None


def _uses(
    definition: Definition, newest: Newest, step: tuple[str, str], role: str
) -> Iterator[_Use]:
    """What is rendered from a step on until the role has run again."""

    def look(edge: tuple[str, str]) -> tuple[list[_Use], list[tuple[str, str]]] | None:
        source, status = edge
        found = definition.graph.get(source, {}).get(status)
        if found is None:
            return None
        at, to = newest.after(source, status.removesuffix(f"/{EXPIRED}")), found.role
        uses = [_Use(f"graph.{source}.{status}", (found.prompt, found.location), at)]
        target = source if to == SUSPEND else to
        if target in definition.roles:
            place, before = definition.roles[target], newest.before(target)
            uses.append(_Use(f"roles.{target}.program", place.command or (), before))
            for each in branches_of(place.fan_out) if place.fan_out is not None else ():
                texts = (each.branch.prompt, each.branch.location)
                uses.append(_Use(f"graph.{target.replace('/', '.')}", texts, before))
        if to == END:
            return uses, [(START, "resume")]
        after = definition.graph.get(target, ())
        return uses, [(target, each) for each in after if target != role or each.startswith("$")]

    for uses in walk([step], look):
        yield from uses
