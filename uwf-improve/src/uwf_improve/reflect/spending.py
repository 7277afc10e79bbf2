"""Findings about where cost and time go, and what a role looks up each time."""

from collections.abc import Iterator, Sequence
from math import fsum

from uwf_improve.history.visits import Histories, Visit
from uwf_improve.reflect.finding import LEAST_THREADS, Finding, is_habit, shown_steps

_MOST = 0.9
_MINIMUM_MS = 1000
"""Roles that take less than a second a visit are not slow."""
_SAME = 0.6


def costly(seen: Histories) -> Iterator[Finding]:
    """A role that takes most of the cost."""
    visits = [each for each in seen.visits() if each.cost_usd]
    for role, found, share in _largest(seen, visits, [each.cost_usd or 0.0 for each in visits]):
        total = fsum(each.cost_usd or 0 for each in found)
        text = f"{role} took {share:.0%} of the known cost (${total:.4g} in {len(found)} visits)"
        yield _finding(role, "costly", text, found, len(visits))


def slow(seen: Histories) -> Iterator[Finding]:
    """A role that takes most of the time."""
    visits = [each for each in seen.visits() if not each.answered]
    for role, found, share in _largest(seen, visits, [float(each.duration_ms) for each in visits]):
        mean = sum(each.duration_ms for each in found) / len(found)
        if mean >= _MINIMUM_MS:
            text = f"{role} took {share:.0%} of the time ({mean / 1000:.3g} s a visit)"
            yield _finding(role, "slow", text, found, len(visits))


def _largest(
    seen: Histories, visits: Sequence[Visit], amounts: Sequence[float]
) -> Iterator[tuple[str, list[Visit], float]]:
    """The role that takes at least twice its fair share, and at least half."""
    total = fsum(amounts)
    roles = {each.role for each in visits}
    if total <= 0 or len(seen.threads) < LEAST_THREADS or len(roles) < 2:
        return
    least = max(0.5, min(_MOST, 2 / len(roles)))
    for role in sorted(roles):
        pairs = zip(visits, amounts, strict=True)
        share = fsum(amount for each, amount in pairs if each.role == role) / total
        if share >= least:
            yield role, [each for each in visits if each.role == role], share


def _finding(role: str, kind: str, text: str, found: list[Visit], of: int) -> Finding:
    steps, threads = shown_steps(found)
    return Finding(
        kind=kind, place=role, text=text, count=len(found), of=of, carrier="agent",  # type: ignore[arg-type]
        steps=steps, threads=threads,
    )  # fmt: skip


def same_lookup(seen: Histories) -> Iterator[Finding]:
    """A call of a tool with the same arguments in most threads: its result could be memory."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        of = len({each.thread for each in visits})
        if of < LEAST_THREADS:
            continue
        calls: dict[str, list[Visit]] = {}
        for each in visits:
            for call in dict.fromkeys(each.tools):
                calls.setdefault(call, []).append(each)
        for call, found in calls.items():
            threads = {each.thread for each in found}
            if is_habit(len(threads), of, _SAME):
                steps, _ = shown_steps(found)
                cut = call if len(call) <= 80 else call[:79] + "…"
                yield Finding(
                    kind="same-lookup",
                    place=role.name,
                    text=f"{role.name} called {cut} in {len(threads)} of {of} threads",
                    count=len(threads),
                    of=of,
                    carrier="memory",
                    steps=steps,
                    threads=len(threads),
                )
