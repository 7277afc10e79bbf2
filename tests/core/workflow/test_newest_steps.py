"""Which outputs can be the newest of each role at a place: exactly those that some path brings."""

import time
from collections.abc import Iterator
from random import Random

import pytest

from uwf_core.workflow import earlier
from uwf_core.workflow.earlier import Newest, Passage

ROLES = ("a", "b", "c")
STATUSES = ("ok", "bad", "$failed")


def random_passages(rng: Random) -> list[Passage]:
    targets = [*ROLES, "$END", "$SUSPEND"]
    start = [Passage("$START", word, rng.choice(ROLES)) for word in ("new", "resume")]
    return start + [
        Passage(role, status, rng.choice(targets))
        for role in ROLES
        for status in rng.sample(STATUSES, rng.randint(1, 3))
    ]


State = tuple[str, ...]
"""The status of the newest step of each role; "" is none."""


def walked(passages: list[Passage]) -> Iterator[tuple[Passage, State, str, State]]:
    """Every passage of every walk: the state at it, the role that then begins, and its state."""
    state = ("",) * len(ROLES)
    waiting = [(each, state) for each in passages if each[:2] == ("$START", "new")]
    seen = set(waiting)
    for each, state in waiting:  # grows
        if each.source in ROLES and not each.status.startswith("$"):
            at = ROLES.index(each.source)
            state = (*state[:at], each.status, *state[at + 1 :])
        target = {"$SUSPEND": each.source, "$END": "$START"}.get(each.target, each.target)
        yield each, state, target, state
        for follows in passages:
            is_next = follows.source == target and (target != "$START" or follows.status != "new")
            if is_next and (follows, state) not in seen:
                seen.add((follows, state))
                waiting.append((follows, state))


def test_the_outputs_at_each_place_are_those_that_some_walk_brings() -> None:
    for seed in range(300):
        passages = random_passages(Random(seed))
        newest = Newest(passages, ROLES)
        at_edge: dict[tuple[str, str], set[State]] = {}
        at_role: dict[str, set[State]] = {}
        for each, state, role, begins in walked(passages):
            at_edge.setdefault(each[:2], set()).add(state)
            at_role.setdefault(role, set()).add(begins)
        for number, role in enumerate(ROLES):
            for edge, states in at_edge.items():
                found = set(newest.statuses(newest.after(*edge), role))
                assert found == {state[number] for state in states}, (seed, edge, role)
            for name in set(ROLES) & at_role.keys():
                found = set(newest.statuses(newest.before(name), role))
                assert found == {state[number] for state in at_role[name]}, (seed, name, role)


def entangled(roles: int) -> list[Passage]:
    rng, names = Random(1), [f"r{number}" for number in range(roles)]
    found = [Passage("$START", "new", "r0"), Passage("$START", "resume", "r0")]
    for number, name in enumerate(names):
        after = names[number + 1] if number + 1 < roles else "$END"
        found += [
            Passage(name, "ok", after),
            Passage(name, "bad", names[rng.randrange(number + 1)]),
            Passage(name, "late", rng.choice(names)),
        ]
    return found


def test_a_graph_of_3000_roles_is_followed_within_two_seconds() -> None:
    passages, began = entangled(3_000), time.process_time()
    newest = Newest(passages, [f"r{number}" for number in range(3_000)])
    assert time.process_time() - began < 2
    assert newest.statuses(newest.after("r0", "ok"), "r0") == ["ok"]
    assert "" not in newest.statuses(newest.before("r2999"), "r0")


def test_where_the_work_is_too_much_every_output_is_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(earlier, "MOST_PASSED", 20)
    newest = Newest(entangled(30), ["r0", "r29"])
    assert newest.statuses(newest.before("r29"), "r29") == ["", "ok", "bad", "late"]
    assert newest.statuses(newest.after("r0", "ok"), "r0") == ["ok"]
