"""The bound of a limit under several workers, on the functions that decide about admission."""

from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uwf_core.api.sums import (
    NOTHING_COUNTED,
    NOTHING_RESERVED,
    NOTHING_USED,
    LedgerPayload,
    ReservePayload,
    larger,
)
from uwf_core.thread.limits import (
    COST,
    MINUTES,
    STEPS,
    TOKENS,
    Account,
    Limit,
    first_reached,
    ledger_sum,
    reservation,
)
from uwf_core.workflow.definition import Reserve

_MINUTE: Final = 60_000
_COUNTS = st.integers(0, 4)
_STEPS = st.tuples(_COUNTS, _COUNTS, _COUNTS)
"""What a step uses: tokens, US dollars, minutes."""
_RESERVES = st.none() | st.builds(
    Reserve, tokens=st.none() | st.integers(1, 4), cost_usd=st.none() | st.integers(1, 4)
)
_LIMITS = st.lists(
    st.builds(
        Limit,
        st.just("thread"),
        st.just("thread"),
        st.just("workflow w"),
        st.sampled_from([STEPS, TOKENS, COST, MINUTES]),
        st.integers(1, 8),
        st.integers(0, 1),
    ),
    min_size=1,
    max_size=2,
)


def used(tokens: int, cost: int, minutes: int) -> LedgerPayload:
    largest: ReservePayload = {
        "tokens": tokens,
        "costUsd": cost,
        "durationMs": minutes * _MINUTE,
    }
    usage = {**NOTHING_USED, "inputTokens": tokens, "costUsd": cost}
    return {
        "steps": 1,
        "runningMs": minutes * _MINUTE,
        "usage": usage,  # type: ignore[typeddict-item]
        "largest": largest,
    }


def figures(ledger: LedgerPayload) -> dict[str, float]:
    """What counts, by the names of limits."""
    return {
        STEPS: ledger["steps"],
        TOKENS: ledger["usage"]["inputTokens"] or 0,
        COST: ledger["usage"]["costUsd"] or 0,
        MINUTES: ledger["runningMs"] / _MINUTE,
    }


def above(step: LedgerPayload, reserved: ReservePayload) -> dict[str, float]:
    """What a step used above its reservation, by the names of limits."""
    room = {
        STEPS: 1,
        TOKENS: reserved["tokens"],
        COST: reserved["costUsd"],
        MINUTES: reserved["durationMs"] / _MINUTE,
    }
    return {name: max(0, value - room[name]) for name, value in figures(step).items()}


@pytest.mark.parametrize("workers", [1, 4, 16])
@settings(max_examples=80)  # it takes a few workers in the right order
@given(
    limits=_LIMITS,
    moves=st.lists(
        st.tuples(st.integers(0, 15), _RESERVES, _STEPS),  # a worker begins or ends a step
        min_size=16,
        max_size=60,
    ),
)
def test_a_limit_is_exceeded_at_most_by_what_running_steps_use_above_their_reservations(
    workers: int,
    limits: list[Limit],
    moves: list[tuple[int, Reserve | None, tuple[int, int, int]]],
) -> None:
    ledger = NOTHING_COUNTED
    running: dict[int, ReservePayload] = {}
    over: dict[str, float] = dict.fromkeys(figures(ledger), 0)
    for number, reserve, usage in moves:
        worker = number % workers
        if worker in running:
            step, reserved = used(*usage), running.pop(worker)
            ledger = ledger_sum(ledger, step)
            over = {name: over[name] + more for name, more in above(step, reserved).items()}
        else:
            reserved = reservation(reserve, larger(NOTHING_RESERVED, ledger["largest"]))
            account = _account(ledger, running)
            if first_reached([(each, account) for each in limits], reserved, "role") is None:
                running[worker] = reserved
                over = dict.fromkeys(over, 0)  # what was used fits with all that now runs
        for limit in limits:
            assert figures(ledger)[limit.name] <= limit.value + over[limit.name] + 1e-9


def _account(ledger: LedgerPayload, running: dict[int, ReservePayload]) -> Account:
    account = Account(ledger)
    for reserved in running.values():
        account = account.plus(Account(NOTHING_COUNTED, 1, reserved))
    return account


@given(limits=_LIMITS, before=_STEPS, reserve=_RESERVES)
def test_a_step_is_admitted_exactly_if_its_reservation_fits(
    limits: list[Limit], before: tuple[int, int, int], reserve: Reserve | None
) -> None:
    """A limit is not reached too early: what fits exactly begins."""
    ledger = used(*before)
    own = reservation(reserve, NOTHING_RESERVED)
    wanted = {STEPS: 1, TOKENS: own["tokens"], COST: own["costUsd"], MINUTES: 0}
    fits = all(
        figures(ledger)[limit.name] < limit.value
        and figures(ledger)[limit.name] + wanted[limit.name] <= limit.value
        for limit in limits
    )
    reached = first_reached([(each, Account(ledger)) for each in limits], own, "role")
    assert (reached is None) == fits
