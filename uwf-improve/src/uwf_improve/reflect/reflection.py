"""All findings of a workflow, and how often its roles and edges were used."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import fsum

from uwf_improve.history.visits import Histories
from uwf_improve.reflect.finding import Finding
from uwf_improve.reflect.rules import RULES


@dataclass(frozen=True, kw_only=True)
class RoleUse:
    """How a role was used; `cost_usd` is None if no visit reported it."""

    role: str
    visits: int
    threads: int
    corrections: int
    attempts: int
    cost_usd: float | None
    duration_ms: int


@dataclass(frozen=True, kw_only=True)
class EdgeUse:
    """How often an edge was taken; 0: never."""

    role: str
    status: str
    target: str
    taken: int


@dataclass(frozen=True, kw_only=True)
class Reflection:
    """What the histories of a workflow show.

    Attributes:
        workflow, ref: the name and the present version. versions: how many versions the threads
            ran. unreadable: threads that were left out. sealed: threads that were left out because
            sealed tasks were made of them.
    """

    workflow: str
    ref: str
    threads: int
    completed: int
    versions: int
    unreadable: int
    sealed: int
    roles: Sequence[RoleUse]
    edges: Sequence[EdgeUse]
    findings: Sequence[Finding]


def reflect(seen: Histories) -> Reflection:
    """Apply every rule; findings are ordered by rule, then by how often they were seen."""
    findings = [each for rule in RULES for each in sorted(rule(seen), key=lambda f: -f.share)]
    return Reflection(
        workflow=seen.outline.name,
        ref=seen.outline.ref,
        threads=len(seen.threads),
        completed=sum(each.status == "completed" for each in seen.threads),
        versions=len({each.workflow for each in seen.threads}),
        unreadable=seen.unreadable,
        sealed=seen.sealed,
        roles=[_use(seen, each.name) for each in seen.outline.roles],
        edges=list(_edges(seen)),
        findings=[replace(each, number=number) for number, each in enumerate(findings, 1)],
    )


def _use(seen: Histories, role: str) -> RoleUse:
    visits = seen.of_role(role)
    costs = [each.cost_usd for each in visits if each.cost_usd is not None]
    return RoleUse(
        role=role,
        visits=len(visits),
        threads=len({each.thread for each in visits}),
        corrections=sum(bool(each.fields) for each in visits),
        attempts=sum(len(each.attempts) for each in visits),
        cost_usd=fsum(costs) if costs else None,
        duration_ms=sum(each.duration_ms for each in visits),
    )


def _edges(seen: Histories) -> Iterator[EdgeUse]:
    taken = Counter((each.role, each.status) for each in seen.visits())
    for role in seen.outline.roles:
        for status, target in role.edges.items():
            yield EdgeUse(
                role=role.name, status=status, target=target, taken=taken[role.name, status]
            )
