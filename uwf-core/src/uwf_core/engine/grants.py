"""Grants: what persons add to reached limits, and the command that does it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from uwf_core.api.sums import NOTHING_RESERVED
from uwf_core.engine.budget import (
    Counted,
    counted_limits,
    definition,
    newest_limit,
    own_reservation,
)
from uwf_core.engine.events import save_event
from uwf_core.errors import UsageError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import Waiting
from uwf_core.thread.decisions import runs
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.limits import DEPTH, ELAPSED, WORDS, figure, first_reached, lacking
from uwf_core.thread.state import ThreadState

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.types import LimitPayload


def grant(engine: "Engine", head: Head, amounts: Mapping[str, float]) -> Head:
    """Store a grant in the limited thread; the head of the thread that waits for it. Arguments and
    errors as `grant_all`.
    """
    # A thread above that has an open call moves its head only in a transaction that reads it again,
    # so that a grant needs no lock while it runs.
    with engine.store.transaction():
        return _grant(engine, head, amounts)


def grant_all(engine: "Engine", heads: Sequence[Head], amounts: Mapping[str, float]) -> None:
    """Store grants for the limits at which several threads of a tree wait, each limit once.

    Args:
        engine: the engine. heads: threads that a limit suspends; their locks are held.
        amounts: what to add, by limit; empty: the allowance of each reached limit once more.

    Raises:
        UsageError: there is no such limit, or the amounts leave no room; nothing has changed.
    """
    limits: dict[tuple[str, str, str], Head] = {}
    for head in heads:
        event = newest_limit(engine.store, head.thread)
        limits.setdefault((event["limited"], event["scope"], event["limit"]), head)
    named = {name for *_, name in limits}
    others = {name: amount for name, amount in amounts.items() if name not in named}
    with engine.store.transaction():
        for (*_, name), head in limits.items():
            if not amounts:
                _grant(engine, head, {})
            elif name in amounts:
                _grant(engine, head, {name: amounts[name]} | others)
                others = {}
        if others:
            _grant(engine, heads[0], others)


def grant_command(engine: "Engine", root: str, waiting: Iterable[Waiting]) -> str:
    """The command that continues a thread: it grants the allowances of the limits at which threads
    of its tree wait once more, or as much as a step needs. No amounts if others hold the step up as
    well, or the depth of calls does, which is a setting.
    """
    words, amounts = {name: word for word, name in WORDS.items()}, dict[str, float]()
    for head, suspension in waiting:
        event = newest_limit(engine.store, head.thread)
        counted = list(counted_limits(engine, head.state, suspension.role))
        role = definition(engine, head.state).roles.get(suspension.role)
        own = NOTHING_RESERVED if role is None else own_reservation(counted, role)
        for limit, account in counted:
            is_reached = (limit.thread, limit.scope) == (event["limited"], event["scope"])
            needed = lacking(limit, account, own)
            if needed and not is_reached:
                return f"uwf thread resume {root}"
            if is_reached and (needed or limit.name == event["limit"]):
                word = words[limit.name]
                amounts[word] = max(amounts.get(word, 0), limit.base, needed)
    granted = ",".join(f"{word}={figure(WORDS[word], each)}" for word, each in amounts.items())
    return f"uwf thread resume {root}" + (f" --grant {granted}" if granted else "")


def _grant(engine: "Engine", head: Head, amounts: Mapping[str, float]) -> Head:
    store, waiting = engine.store, head.state.suspension
    assert waiting is not None
    event = newest_limit(store, head.thread)
    if event["limit"] == DEPTH and not amounts:
        return head  # nothing of the thread is limited: `exec` looks at the setting again
    is_own = event["limited"] == head.thread
    to = runs(waiting.role) if is_own else None
    target = head if is_own else read_head(store, ThreadId(event["limited"]))
    in_force = _limits_in(engine, head.state, waiting.role, event)
    _check_known(amounts or (event["limit"],), in_force, event)
    added = dict(amounts) or {event["limit"]: in_force[event["limit"]][0].base}
    if ELAPSED in added:  # it counts from now
        limit, account = in_force[ELAPSED]
        added[ELAPSED] += max(0, account.elapsed_ms / 1000 - limit.value)
    fields = {"scope": event["scope"], "amounts": added, "next": to}
    granted = save_event(engine, target, "granted", by=engine.person(), **fields)
    head = granted if is_own else head
    if amounts:
        _check_room(engine, head.state, waiting.role, reserve=event["limit"] not in amounts)
    return head


def _limits_in(
    engine: "Engine", state: ThreadState, role: str, event: "LimitPayload"
) -> dict[str, Counted]:
    """The limits of the scope whose limit was reached, by their names."""
    return {
        limit.name: (limit, account)
        for limit, account in counted_limits(engine, state, role)
        if (limit.thread, limit.scope) == (event["limited"], event["scope"])
    }


def _check_known(
    names: Iterable[str], in_force: Mapping[str, Counted], event: "LimitPayload"
) -> None:
    for name in names:
        if name not in in_force:
            raise UsageError(
                f"there is no limit {name} of {event['origin']}",
                where="--grant",
                hint=(
                    "its limits are " + ", ".join(in_force)
                    if in_force
                    else "to allow deeper calls: uwf config set limits.depth N"
                ),
            )


def _check_room(engine: "Engine", state: ThreadState, role: str, *, reserve: bool) -> None:
    """Check that a step can begin after a grant, whatever it then uses; with `reserve`, for
    what it may use: the grant is for another limit than the one that holds the step up.
    """
    counted = list(counted_limits(engine, state, role))
    played = definition(engine, state).roles.get(role)
    if reserve and played is not None:
        reached = first_reached(counted, own_reservation(counted, played), role)
    else:
        reached = first_reached(counted, NOTHING_RESERVED, role, at_once=True)
    if reached is not None:
        raise UsageError(
            f"the grant leaves no room: {reached.words(state.thread)}",
            where="--grant",
            hint="grant more, or leave --grant out to grant the same allowance once more",
        )
