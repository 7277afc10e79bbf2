"""The rules: each reads the histories of a workflow and yields what happens again and again."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from math import fsum
from typing import Final, TypeVar

from uwf_improve.history.visits import SUSPEND, Histories, History, RoleOutline, Visit
from uwf_improve.reflect.finding import (
    CARRIER_OF,
    LEAST_THREADS,
    LEAST_VISITS,
    SHOWN,
    Finding,
    Kind,
    is_habit,
    shared_phrase,
)

Key = TypeVar("Key", bound=Hashable)

_OFTEN: Final = 0.1
_ASKED: Final = 0.2
_SENT_BACK: Final = 0.25
"""A role that finds something in a quarter of its visits does its work; more is a habit."""
_SAME: Final = 0.6
_MOST: Final = 0.9
_MINIMUM_MS: Final = 1000
"""Roles that take less than a second a visit are not slow."""


def sent_back(seen: Histories) -> Iterator[Finding]:
    """An outcome that sends work back to an earlier role, again and again."""
    back = [each for thread in seen.threads for each in thread.sent_back()]
    for role in seen.outline.roles:
        if len(set(role.edges.values()) - {SUSPEND}) < 2 or len(seen.threads) < LEAST_THREADS:
            continue  # it does not decide where its work goes
        of = len(seen.of_role(role.name))
        own = [each for each in back if each.role == role.name]
        for (status, target), found in _groups(own, lambda e: [(e.status, e.target)]).items():
            if is_habit(len(found), of, _SENT_BACK):
                text = f"sent work back to {target} ({status}) in {len(found)} of {of} visits"
                phrase = shared_phrase([each.feedback for each in found])
                place = f"{role.name}.{status}"
                yield _finding("sent-back", place, f"{role.name} {text}", found, of, phrase=phrase)


def asked(seen: Histories) -> Iterator[Finding]:
    """A role that has to ask a person again and again: it lacks context."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        found = [each for each in visits if each.target == SUSPEND]
        threads, of = _threads(found), _threads(visits)
        if of >= LEAST_THREADS and is_habit(threads, of, _ASKED):
            text = f"{role.name} asked a person in {threads} of {of} threads"
            phrase = shared_phrase([each.feedback for each in found])
            yield _finding("asked", role.name, text, found, of, threads, phrase)


def poked(seen: Histories) -> Iterator[Finding]:
    """A role whose work a person had made again."""
    for role, _, found, of in _habits(seen, lambda each: [None] if each.poked else []):
        text = f"a person had {role} work again in {len(found)} of {of} visits"
        yield _finding("poked", role, text, found, of)


def abandoned(seen: Histories) -> Iterator[Finding]:
    """Threads that persons cancelled, by the role that had spoken last."""
    ended: dict[str, list[History]] = {}
    for thread in seen.threads:
        if thread.status == "cancelled" and thread.visits:
            ended.setdefault(thread.visits[-1].role, []).append(thread)
    for role, found in sorted(ended.items()):
        text = f"persons cancelled {len(found)} of {len(seen.threads)} threads after {role}"
        yield from _of_threads("abandoned", role, text, seen, found)


def limited(seen: Histories) -> Iterator[Finding]:
    """A limit that threads reach again and again."""
    for name in sorted({limit for each in seen.threads for limit in each.limits}):
        found = [each for each in seen.threads if name in each.limits]
        text = f"{len(found)} of {len(seen.threads)} threads reached the limit {name}"
        yield from _of_threads("limit", name, text, seen, found)


def corrected(seen: Histories) -> Iterator[Finding]:
    """A field that a role gets wrong again and again."""
    for role, field, found, of in _habits(seen, lambda each: each.fields):
        name = f"the field {field}" if field else "the form of the reply"
        text = f"{role} had to correct {name} in {len(found)} of {of} visits"
        yield _finding("corrected", role, text, found, of)


def denied(seen: Histories) -> Iterator[Finding]:
    """A tool that a role asks for and does not get."""
    for role, tool, found, of in _habits(seen, lambda each: each.denials):
        shown = _cut(" ".join(tool.split()), 60)
        text = f"{role} was denied {shown!r} in {len(found)} of {of} visits"
        yield _finding("denied", role, text, found, of)


def failed(seen: Histories) -> Iterator[Finding]:
    """A kind of failure that a role has again and again, also where no attempt succeeded."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        tried = [(each.thread, each.number, a) for each in visits for a in each.attempts]
        tried += [
            (thread.thread, 0, attempt)  # 0: the step that never succeeded
            for thread in seen.threads
            for name, attempt in thread.pending
            if name == role.name
        ]
        of = len(visits) + len({thread for thread, number, _ in tried if not number})
        for kind in sorted({attempt.kind for _, _, attempt in tried}):
            found = [each for each in tried if each[2].kind == kind]
            count = len({(thread, number) for thread, number, _ in found})
            if is_habit(count, of, _OFTEN):
                yield Finding(
                    kind="failed",
                    place=role.name,
                    text=f"{role.name} failed ({kind}) in {count} of {of} visits",
                    count=count,
                    of=of,
                    carrier=CARRIER_OF["failed"],
                    steps=[attempt.ref for _, _, attempt in found[::-1][:SHOWN]],
                    threads=len({thread for thread, _, _ in found}),
                )


def never_rejects(seen: Histories) -> Iterator[Finding]:
    """A role that could send work back, and always lets it pass."""
    for role in seen.outline.roles:
        visits = [each for each in seen.of_role(role.name) if each.status in role.edges]
        taken, of = {each.status for each in visits}, len(visits)
        back = sorted(_back_edges(seen, role) - taken)
        if role.plays == "program" or of < LEAST_VISITS or len(taken) != 1 or not back:
            continue
        text = (
            f"{role.name} answered {taken.pop()} in all {of} visits, never {' or '.join(back)}; "
            f"on new work that would be at most {1 - 0.05 ** (1 / of):.0%} of the time"
        )
        yield _finding("never-rejects", role.name, text, visits, of)


def never_reached(seen: Histories) -> Iterator[Finding]:
    """A role of the workflow that no thread has come to."""
    done = [each for each in seen.threads if each.status == "completed"]
    if len(done) < LEAST_VISITS:
        return
    visited = {each.role for each in seen.visits()}
    near = {to for r in seen.outline.roles if r.name in visited for to in r.edges.values()}
    for role in seen.outline.roles:
        if role.name in near - visited:
            text = f"none of {len(done)} completed threads came to {role.name}"
            last = [each.visits[-1] for each in done if each.visits]
            yield _finding("never-reached", role.name, text, last, len(done), len(done))


def costly(seen: Histories) -> Iterator[Finding]:
    """A role that takes most of the cost."""
    visits = [each for each in seen.visits() if each.cost_usd]
    for role, found, share in _largest(seen, visits, [each.cost_usd or 0.0 for each in visits]):
        total = fsum(each.cost_usd or 0 for each in found)
        text = f"{role} took {share:.0%} of the known cost (${total:.4g} in {len(found)} visits)"
        yield _finding("costly", role, text, found, len(visits))


def slow(seen: Histories) -> Iterator[Finding]:
    """A role that takes most of the time."""
    visits = [each for each in seen.visits() if not each.answered]
    for role, found, share in _largest(seen, visits, [float(each.duration_ms) for each in visits]):
        mean = sum(each.duration_ms for each in found) / len(found)
        if mean >= _MINIMUM_MS:
            text = f"{role} took {share:.0%} of the time ({mean / 1000:.3g} s a visit)"
            yield _finding("slow", role, text, found, len(visits))


def same_lookup(seen: Histories) -> Iterator[Finding]:
    """A call of a tool with the same arguments in most threads: its result could be memory."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        of = _threads(visits)
        for call, found in _groups(visits, lambda each: each.tools).items():
            threads = _threads(found)
            if of >= LEAST_THREADS and is_habit(threads, of, _SAME):
                text = f"{role.name} called {_cut(call, 80)} in {threads} of {of} threads"
                yield _finding("same-lookup", role.name, text, found, of, threads)


RULES: Final[Sequence[Callable[[Histories], Iterator[Finding]]]] = (
    sent_back, asked, poked, abandoned, corrected, failed, denied, limited, never_rejects,
    never_reached, costly, slow, same_lookup,
)  # fmt: skip


def _finding(
    kind: Kind,
    place: str,
    text: str,
    visits: Sequence[Visit],
    of: int,
    count: int | None = None,
    phrase: str | None = None,
) -> Finding:
    """A finding that these visits show; `count` is their number unless threads are counted."""
    return Finding(
        kind=kind, place=place, text=text, count=len(visits) if count is None else count, of=of,
        carrier=CARRIER_OF[kind], phrase=phrase,
        steps=[each.ref for each in visits[::-1][:SHOWN]], threads=_threads(visits),
    )  # fmt: skip


def _of_threads(
    kind: Kind, place: str, text: str, seen: Histories, found: Sequence[History]
) -> Iterator[Finding]:
    if is_habit(len(found), len(seen.threads), _OFTEN):
        last = [each.visits[-1] for each in found if each.visits]
        yield _finding(kind, place, text, last, len(seen.threads), len(found))


def _habits(
    seen: Histories, keys: Callable[[Visit], Iterable[Key]]
) -> Iterator[tuple[str, Key, list[Visit], int]]:
    """Role, key, the visits that have it, and the number of all visits: where it is a habit."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        for key, found in _groups(visits, keys).items():
            if is_habit(len(found), len(visits), _OFTEN):
                yield role.name, key, found, len(visits)


def _groups(
    visits: Sequence[Visit], keys: Callable[[Visit], Iterable[Key]]
) -> dict[Key, list[Visit]]:
    groups: dict[Key, list[Visit]] = {}
    for each in visits:
        for key in dict.fromkeys(keys(each)):
            groups.setdefault(key, []).append(each)
    return groups


def _threads(visits: Iterable[Visit]) -> int:
    return len({each.thread for each in visits})


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


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
