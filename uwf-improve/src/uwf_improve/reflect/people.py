"""Findings about what persons had to do: answer, poke, give up."""

from collections.abc import Iterator

from uwf_improve.history.visits import SUSPEND, Histories, History, Visit
from uwf_improve.reflect.finding import (
    LEAST_THREADS,
    Finding,
    Kind,
    is_habit,
    shared_phrase,
    shown_steps,
)

_OFTEN = 0.1
_ASKED = 0.2


def asked(seen: Histories) -> Iterator[Finding]:
    """A role that has to ask a person again and again: it lacks context."""
    for role in seen.outline.roles:
        found = [each for each in seen.of_role(role.name) if each.target == SUSPEND]
        threads = {each.thread for each in found}
        of = len({each.thread for each in seen.of_role(role.name)})
        if of < LEAST_THREADS or not is_habit(len(threads), of, _ASKED):
            continue
        steps, _ = shown_steps(found)
        yield Finding(
            kind="asked",
            place=role.name,
            text=f"{role.name} asked a person in {len(threads)} of {of} threads",
            count=len(threads),
            of=of,
            carrier="memory",
            phrase=shared_phrase([each.feedback for each in found]),
            steps=steps,
            threads=len(threads),
        )


def poked(seen: Histories) -> Iterator[Finding]:
    """A role whose work a person had made again."""
    for role in seen.outline.roles:
        visits = seen.of_role(role.name)
        found = [each for each in visits if each.poked]
        if is_habit(len(found), len(visits), _OFTEN):
            yield _made_again(role.name, found, len(visits))


def _made_again(role: str, found: list[Visit], of: int) -> Finding:
    steps, threads = shown_steps(found)
    return Finding(
        kind="poked",
        place=role,
        text=f"a person had {role} work again in {len(found)} of {of} visits",
        count=len(found),
        of=of,
        carrier="procedure",
        steps=steps,
        threads=threads,
    )


def limited(seen: Histories) -> Iterator[Finding]:
    """A limit that threads reach again and again."""
    for name in sorted({limit for each in seen.threads for limit in each.limits}):
        found = [each for each in seen.threads if name in each.limits]
        text = f"{len(found)} of {len(seen.threads)} threads reached the limit {name}"
        yield from _of_threads("limit", name, text, seen, found)


def abandoned(seen: Histories) -> Iterator[Finding]:
    """Threads that persons cancelled, by the role that had spoken last."""
    ended: dict[str, list[History]] = {}
    for thread in seen.threads:
        if thread.status == "cancelled" and thread.visits:
            ended.setdefault(thread.visits[-1].role, []).append(thread)
    for role, found in sorted(ended.items()):
        text = f"persons cancelled {len(found)} of {len(seen.threads)} threads after {role}"
        yield from _of_threads("abandoned", role, text, seen, found)


def _of_threads(
    kind: Kind, place: str, text: str, seen: Histories, found: list[History]
) -> Iterator[Finding]:
    if is_habit(len(found), len(seen.threads), _OFTEN):
        steps, threads = shown_steps(each.visits[-1] for each in found if each.visits)
        yield Finding(
            kind=kind, place=place, text=text, count=len(found), of=len(seen.threads),
            carrier="procedure", steps=steps, threads=threads,
        )  # fmt: skip
