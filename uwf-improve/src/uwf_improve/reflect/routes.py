"""Findings about routes: what is never taken, and what leads back."""

from collections.abc import Iterator

from uwf_improve.history.visits import SUSPEND, Histories, RoleOutline, Visit
from uwf_improve.reflect.finding import (
    LEAST_THREADS,
    LEAST_VISITS,
    Finding,
    is_habit,
    shared_phrase,
    shown_steps,
)

_SENT_BACK = 0.25
"""A role that finds something in a quarter of its visits does its work; more is a habit."""


def never_rejects(seen: Histories) -> Iterator[Finding]:
    """A role that could send work back, and always lets it pass."""
    for role in seen.outline.roles:
        visits = [each for each in seen.of_role(role.name) if each.status in role.edges]
        taken = {each.status for each in visits}
        back = sorted(_back_edges(seen, role) - taken)
        if role.plays == "program" or len(visits) < LEAST_VISITS or len(taken) != 1 or not back:
            continue
        steps, threads = shown_steps(visits)
        most = 1 - 0.05 ** (1 / len(visits))
        yield Finding(
            kind="never-rejects",
            place=role.name,
            text=f"{role.name} answered {taken.pop()} in all {len(visits)} visits, never "
            f"{' or '.join(back)}; on new work that would be at most {most:.0%} of the time",
            count=len(visits),
            of=len(visits),
            carrier="workflow",
            steps=steps,
            threads=threads,
        )


def _back_edges(seen: Histories, role: RoleOutline) -> set[str]:
    """The statuses that lead to a role from which this one can be reached."""
    roles = {each.name: set(each.edges.values()) for each in seen.outline.roles}
    return {
        status
        for status, target in role.edges.items()
        if target in roles and role.name in _reachable(roles, target)
    }


def _reachable(roles: dict[str, set[str]], start: str) -> set[str]:
    found, left = {start}, [start]
    while left:
        new = roles.get(left.pop(), set()) - found
        found |= new
        left += sorted(new)
    return found


def never_reached(seen: Histories) -> Iterator[Finding]:
    """A role of the workflow that no thread has come to."""
    done = [each for each in seen.threads if each.status == "completed"]
    if len(done) < LEAST_VISITS:
        return
    visited = {each.role for each in seen.visits()}
    for role in seen.outline.roles:
        if role.name in visited or not any(
            role.name in each.edges.values() for each in seen.outline.roles if each.name in visited
        ):
            continue
        last = [each.visits[-1] for each in done if each.visits]
        steps, threads = shown_steps(last)
        yield Finding(
            kind="never-reached",
            place=role.name,
            text=f"none of {len(done)} completed threads came to {role.name}",
            count=len(done),
            of=len(done),
            carrier="workflow",
            steps=steps,
            threads=threads,
        )


def sent_back(seen: Histories) -> Iterator[Finding]:
    """An outcome that sends work back to an earlier role, again and again."""
    back = [each for thread in seen.threads for each in thread.sent_back()]
    for role in seen.outline.roles:
        if len(set(role.edges.values()) - {SUSPEND}) < 2:
            continue  # it does not decide where its work goes
        visits = seen.of_role(role.name)
        groups: dict[tuple[str, str], list[Visit]] = {}
        for each in back:
            if each.role == role.name:
                groups.setdefault((each.status, str(each.target)), []).append(each)
        for (status, target), found in groups.items():
            if len(seen.threads) < LEAST_THREADS or not is_habit(
                len(found), len(visits), _SENT_BACK
            ):
                continue
            phrase = shared_phrase([each.feedback for each in found])
            steps, threads = shown_steps(found)
            yield Finding(
                kind="sent-back",
                place=f"{role.name}.{status}",
                text=f"{role.name} sent work back to {target} ({status}) in {len(found)} of "
                f"{len(visits)} visits",
                count=len(found),
                of=len(visits),
                carrier="procedure",
                phrase=phrase,
                steps=steps,
                threads=threads,
            )
