"""Budgets: the limits above a step, what counts against them, and the grants of persons.

Loaded only where a limit is set, or a thread was called.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from uwf_core.api.sums import (
    NOTHING_COUNTED,
    NOTHING_RESERVED,
    LedgerPayload,
    ReservePayload,
    larger,
)
from uwf_core.engine.events import save_event
from uwf_core.errors import CorruptNodeError, LimitReached, UnknownIdError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import OpenCall, calling_heads, calls_of
from uwf_core.thread.decisions import waits
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.history import newest_first
from uwf_core.thread.limits import (
    DEPTH,
    ROLE,
    UNCHANGED,
    Account,
    Limit,
    Reached,
    elapsed_ms,
    first_reached,
    ledger_sum,
    limits_of_call,
    limits_of_thread,
    reservation,
    role_account,
    unknown_limits,
)
from uwf_core.thread.names import (
    asked_name,
    asked_prefix,
    event_kind,
    events_prefix,
    head_name,
)
from uwf_core.thread.state import ThreadState

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.types import CalledPayload, LimitPayload
    from uwf_core.workflow.definition import Definition, Role

Counted = tuple[Limit, Account]
"""A limit with what counts against it."""


def admit(
    engine: "Engine", state: ThreadState, role: "Role", *, must_fit: bool
) -> ReservePayload | None:
    """What a step of `role` may use, None without any limit. Within the transaction that opens its
    attempt, so that no other step is admitted with the same room.

    Raises:
        LimitReached: `must_fit`, and a limit leaves no room for it.
    """
    counted = list(counted_limits(engine, state, role.name))
    if not counted:
        return None
    own = own_reservation(counted, role)
    reached = first_reached(counted, own, role.name) if must_fit else None
    if reached is not None and reached.limit.name == UNCHANGED:
        reached = reached._replace(cycle=_cycle(engine, state, role.name))
    if reached is not None:
        raise LimitReached(reached.words(state.thread), reached)
    return own


def _cycle(engine: "Engine", state: ThreadState, role: str) -> tuple[str, ...]:
    """The roles from the last visit of a role to its next one."""
    roles, last = [role], state.role(role).step
    for step in newest_first(engine.store, Ref(state.ancestors[0]), Ref("")):
        roles.append(step.payload["role"])
        if step.ref == last:
            break
    return tuple(reversed(roles))


def own_reservation(counted: list[Counted], role: "Role") -> ReservePayload:
    """What the next step may use: nothing if a person plays it, and a program uses only time."""
    if role.human:
        return NOTHING_RESERVED
    largest = NOTHING_RESERVED
    for _, account in counted:
        largest = larger(largest, account.ledger["largest"])
    if role.program is not None:
        return {**NOTHING_RESERVED, "durationMs": largest["durationMs"]}
    return reservation(role.reserve, largest)


def still_reached(engine: "Engine", state: ThreadState) -> bool:
    """Whether there is still no room for the step that a limit holds up."""
    assert state.suspension is not None
    if newest_limit(engine.store, state.thread)["limit"] == DEPTH:
        return state.depth >= engine.settings.limits.depth
    role = definition(engine, state).roles.get(state.suspension.role)
    if role is None:
        return True
    try:
        admit(engine, state, role, must_fit=True)
    except LimitReached:
        return True
    return False


def counted_limits(engine: "Engine", state: ThreadState, role: str | None) -> Iterator[Counted]:
    """The limits that hold for a step of `role`: those of its thread and of all that called it."""
    levels = [(state, role)]
    for above in ancestors(engine, state):
        below = levels[-1][0].caller
        levels.append((above, below.plays if below else None))
    for place, (each, name) in enumerate(levels):
        child = levels[place - 1][0].thread if place else None
        yield from _counted_here(engine, each, name, child)
        if place + 1 < len(levels):
            yield from _counted_in_call(engine, each)


def _counted_here(
    engine: "Engine", state: ThreadState, role: str | None, below: str | None
) -> Iterator[Counted]:
    limits = list(limits_of_thread(state, definition(engine, state), role))
    if not limits:
        return
    children, now_ms = open_children(engine, state), engine.now_ms()
    for limit in limits:
        if limit.scope == ROLE + (role or ""):
            account = _account_of_role(engine, state, role or "", children, below)
            elapsed = elapsed_ms(state, now_ms, role)
        else:
            account, elapsed = account_of(engine, state, children), elapsed_ms(state, now_ms)
        yield (limit, account._replace(elapsed_ms=elapsed))


def _counted_in_call(engine: "Engine", state: ThreadState) -> Iterator[Counted]:
    """The limits of the newest call of a thread, which count what it used since."""
    assert state.caller is not None
    called = _called(engine, state)
    if called["limits"]:
        account = account_of(engine, state).since(called["ledger"])
        account = account._replace(elapsed_ms=max(0, engine.now_ms() - called["atMs"]))
        for limit in limits_of_call(state, state.caller.plays, called["limits"]):
            yield (limit, account)


def ancestors(engine: "Engine", state: ThreadState) -> list[ThreadState]:
    """The threads in whose open calls a thread is, the nearest first."""
    return [head.state for head in calling_heads(engine.store, state)]


def open_children(engine: "Engine", state: ThreadState) -> list[ThreadState]:
    """The threads that a thread has called, and whose result is not recorded yet."""
    found: list[ThreadState] = []
    for call in calls_of(engine.store, ThreadId(state.thread)):
        with suppress(UnknownIdError):  # deleted, or of another store
            found.append(read_head(engine.store, call.child).state)
    return found


def account_of(
    engine: "Engine", state: ThreadState, children: list[ThreadState] | None = None
) -> Account:
    """What a thread has used with all that it called, and what the running steps may use."""
    account = _with_asks(engine.store, state, _with_open(Account(state.ledger), state))
    for child in open_children(engine, state) if children is None else children:
        account = account.plus(_account_of_call(engine, child))
    return account


def ledger_of(engine: "Engine", state: ThreadState) -> LedgerPayload:
    """The ledger of a thread: attempts, recorded and open calls, and questions about its steps."""
    return account_of(engine, state).ledger


def used_by(engine: "Engine", calls: Iterable[OpenCall]) -> LedgerPayload:
    """What called threads have used since they were called."""
    total = NOTHING_COUNTED
    for call in calls:
        child = read_head(engine.store, call.child).state
        total = ledger_sum(total, _account_of_call(engine, child).ledger)
    return total


def _account_of_role(
    engine: "Engine",
    state: ThreadState,
    role: str,
    children: list[ThreadState],
    below: str | None,
) -> Account:
    """What a role has used. `below`: the called thread whose step is to begin, a part of a run of
    the role that it does not hold up. The other branches that have begun are runs by now.
    """
    account = role_account(state, role)
    for child in children:
        if child.caller is not None and child.caller.plays == role:
            used = _account_of_call(engine, child)
            has_begun = used.running > 0 or used.ledger["steps"] > 0
            is_other = has_begun and child.thread != below
            account = account.plus(used)._replace(visits=account.visits + is_other)
    return account


def _account_of_call(engine: "Engine", child: ThreadState) -> Account:
    return account_of(engine, child).since(_called(engine, child)["ledger"])


def _with_open(account: Account, state: ThreadState) -> Account:
    """With the attempt that runs in the thread."""
    if state.attempt is None:
        return account
    reserved = state.attempt.reserved or NOTHING_RESERVED
    return account._replace(running=1, reserved=reserved)


def _with_asks(store: "Store", state: ThreadState, account: Account) -> Account:
    """With the questions, and the late summaries, that count besides the attempts."""
    ledger = account.ledger
    for variable in store.variables(asked_prefix(ThreadId(state.thread))):
        asked = store.get(Ref(variable.value)).payload
        ms = asked.get("completedAtMs", 0) - asked.get("startedAtMs", 0)  # no question has them
        counted = {"usage": asked["usage"], "runningMs": max(ms, 0)}
        ledger = ledger_sum(ledger, {**NOTHING_COUNTED, **counted})  # type: ignore[typeddict-item]
    return account._replace(ledger=ledger)


def count_above(engine: "Engine", state: ThreadState, used: Ref) -> None:
    """Let a question or summary of a thread count in those that called it, too, if their steps
    are recorded already: these have the ledger of that moment. Within a transaction.

    Args:
        engine: the engine. state: of the thread.
        used: a node with `usage`, which the ledger of the thread itself has.
    """
    store = engine.store
    while state.caller is not None:
        above = ThreadId(state.caller.thread)
        if not store.rows(head_name(above), limit=1):
            return  # deleted, or in another store
        if all(call.child != state.thread for call in calls_of(store, above)):
            store.set_variable(asked_name(above, used), used, {}, None)
        state = read_head(store, above).state


def _called(engine: "Engine", state: ThreadState) -> "CalledPayload":
    assert state.caller is not None
    payload: CalledPayload = engine.store.get(Ref(state.caller.event)).payload
    return payload


def definition(engine: "Engine", state: ThreadState) -> "Definition":
    """The workflow of a thread."""
    return engine.definition(Ref(state.workflow))


def save_limit(engine: "Engine", head: Head, reached: Reached, words: str | None = None) -> Head:
    """Suspend a thread at a limit, of itself or of a thread that called it. `words`: the message,
    in place of that of the limit.
    """
    limit, words = reached.limit, words or reached.words(head.thread)
    with engine.store.transaction():
        return save_event(
            engine,
            head,
            "limit",
            limited=limit.thread,
            scope=limit.scope,
            origin=limit.origin,
            limit=limit.name,
            value=limit.value,
            used=reached.used,
            reserved=reached.reserved,
            next=waits("limit", reached.role, words),
        )


def unknown_now(engine: "Engine", state: ThreadState, role: str | None) -> Iterator[str]:
    """A text for each limit whose figures are not known, or not all of them."""
    names = {limit.name for limit, _ in counted_limits(engine, state, role)}
    return unknown_limits(state.totals, names)


def newest_limit(store: "Store", thread: str) -> "LimitPayload":
    """The event of the limit that a thread has reached last."""
    for variable in reversed(store.variables(events_prefix(ThreadId(thread)))):
        if event_kind(variable.name) == "limit":
            payload: LimitPayload = store.get(Ref(variable.value)).payload
            return payload
    raise CorruptNodeError(
        f"the limit that thread {thread} has reached is missing",
        hint=f"next: uwf cas verify {thread} --repair",
    )
