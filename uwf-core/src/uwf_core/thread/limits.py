"""Limits and what counts against them. Pure; `engine.budget` reads the threads.

A limit holds for a *scope* of a thread: the whole thread (`thread`), a role in it (`role/NAME`), or
its newest call (`call`), each with all that it calls.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from uwf_core.api.sums import (
    NOTHING_RESERVED,
    TOKEN_FIELDS,
    LedgerPayload,
    ReservePayload,
    UsageField,
    UsagePayload,
    add_usage,
    is_exact,
    known_sum,
    larger,
    subtract_usage,
)
from uwf_core.errors import UsageError
from uwf_core.fields.durations import seconds_of
from uwf_core.thread.state import CALL, ThreadState

if TYPE_CHECKING:
    from uwf_core.workflow.definition import Definition, Limits, Reserve, RoleLimits

THREAD: Final = "thread"
ROLE: Final = "role/"

STEPS: Final = "maxSteps"
TOKENS: Final = "maxTokens"
COST: Final = "maxCostUsd"
MINUTES: Final = "maxMinutes"
VISITS: Final = "maxVisits"
ELAPSED: Final = "maxElapsed"
UNCHANGED: Final = "maxUnchanged"
DEPTH: Final = "depth"
"""A setting, not a limit of a workflow."""

WORDS: Final = {
    "cost": COST,
    "tokens": TOKENS,
    "steps": STEPS,
    "minutes": MINUTES,
    "visits": VISITS,
    "elapsed": ELAPSED,
    "unchanged": UNCHANGED,
}
"""The limits by their words in `--max-<word>` and `--grant <word>=<amount>`."""

_MS_PER_MINUTE = 60_000
_ROUNDING = 1e-9
"""Sums of costs are rounded: a step that fills a limit exactly is admitted."""


class Limit(NamedTuple):
    """A limit in force.

    Attributes:
        thread, scope: what it holds for. origin: where it is set, for people.
        name: as in a workflow file. base: the value there. granted: what persons added.
    """

    thread: str
    scope: str
    origin: str
    name: str
    base: float
    granted: float = 0

    @property
    def value(self) -> float:
        """Its value with what was granted."""
        return self.base + self.granted


class Account(NamedTuple):
    """What counts against the limits of a scope.

    Attributes:
        ledger: what has been used. visits: how often the role has run.
        running: the number of steps that run. reserved: what these may use together.
        elapsed_ms: the time, waiting included. unchanged: the equal results in a row of the role.
    """

    ledger: LedgerPayload
    running: int = 0
    reserved: ReservePayload = NOTHING_RESERVED
    visits: int = 0
    elapsed_ms: int = 0
    unchanged: int = 0

    def plus(self, other: "Account") -> "Account":
        """Both together; what only a role or a thread has is that of the first."""
        return self._replace(
            ledger=ledger_sum(self.ledger, other.ledger),
            running=self.running + other.running,
            reserved=_reserve_sum(self.reserved, other.reserved),
        )

    def since(self, before: LedgerPayload) -> "Account":
        """What counts since a ledger of the same thread."""
        return self._replace(ledger=ledger_since(self.ledger, before))


class Reached(NamedTuple):
    """A limit that leaves no room for another step.

    Attributes:
        role: the role whose step is held up.
        used: what has been used. reserved: what the running steps and the next one may use.
        cycle: of equal results the roles from the last visit of the role to its next one.
    """

    limit: Limit
    role: str
    used: float
    reserved: float
    cycle: tuple[str, ...] = ()

    def words(self, thread: str) -> str:
        """The limit, where it is set, and what was used; `thread` is where people read it."""
        limit = self.limit
        where = "" if limit.thread == thread else f" (thread {limit.thread})"
        name = f"{limit.name} {figure(limit.name, limit.value)} of {limit.origin}{where}"
        if self.cycle:
            return (
                f"{name} is reached: {' -> '.join(self.cycle)} made no progress "
                f"{number(self.used)} times in a row"
            )
        if self.used >= limit.value:
            return f"{name} is reached ({figure(limit.name, self.used)} used)"
        return (
            f"{name} leaves no room for a step ({number(self.used)} used, "
            f"{number(self.reserved)} reserved)"
        )


def number(value: float) -> str:
    """A figure of a limit, for people."""
    return f"{value:.10g}"


def figure(name: str, value: float) -> str:
    """A figure of the limit of this name, for people: a duration as files have it."""
    if name != ELAPSED:
        return number(value)
    exact = (f"{value // size:.0f}{unit}" for unit, size in _UNITS if value and value % size == 0)
    return next(exact, f"{value:.0f}s" if value < 600 else f"{value // 60:.0f}m")


_UNITS = (("d", 86_400), ("h", 3_600), ("m", 60))


def elapsed_ms(state: ThreadState, now_ms: int, role: str | None = None) -> int:
    """The time of a thread, or of the role that is next, waiting included."""
    pending = max(0, now_ms - state.since_ms) if state.since_ms else 0
    roles = state.roles.values() if role is None else [state.role(role)]
    return pending + sum(each.elapsed_ms for each in roles)


def limits_of_thread(
    state: ThreadState, definition: "Definition", role: str | None
) -> Iterator[Limit]:
    """The limits of a thread and of a role in it, without those of its newest call."""
    both: dict[str, tuple[float, str]] = {}
    workflow = f"workflow {definition.name}"
    for name, value in named(definition.limits):
        both[name] = (value, workflow)
    options = {name: f"--max-{word}" for word, name in WORDS.items()}
    for name, value in (state.limits or {}).items():
        if name not in both or value < both[name][0]:
            both[name] = (value, options.get(name, "the start"))
    for name, (value, origin) in both.items():
        yield limit_of(state, THREAD, origin, name, value)
    played = definition.roles.get(role or "")
    if played is None:
        return
    own = {} if played.limits is None else dict(named(played.limits))
    for name, value in {**own, UNCHANGED: played.max_unchanged}.items():
        if value:
            yield limit_of(state, ROLE + played.name, f"role {played.name}", name, value)


def limits_of_call(state: ThreadState, role: str, limits: Mapping[str, float]) -> Iterator[Limit]:
    """The limits of the newest call of a thread, which plays `role`."""
    for name, value in limits.items():
        yield limit_of(state, CALL, f"the call of {role}", name, value)


def limit_of(state: ThreadState, scope: str, origin: str, name: str, value: float) -> Limit:
    """A limit with what was granted in the thread."""
    granted = state.grants.get(scope, {}).get(name, 0)
    return Limit(state.thread, scope, origin, name, value, granted)


def named(limits: "Limits | RoleLimits") -> Iterator[tuple[str, float]]:
    """The limits that are set, by their names in a file."""
    fields = limits._asdict()
    for field, name in _FIELDS.items():
        value = fields.get(field)
        if value is not None:
            yield name, value


_FIELDS = {
    "max_steps": STEPS,
    "max_tokens": TOKENS,
    "max_cost_usd": COST,
    "max_minutes": MINUTES,
    "max_visits": VISITS,
    "max_elapsed": ELAPSED,
    "max_unchanged": UNCHANGED,
}


def first_reached(
    accounts: Iterable[tuple[Limit, Account]],
    own: ReservePayload,
    role: str,
    *,
    at_once: bool = False,
) -> Reached | None:
    """The first limit that leaves no room for another step, None if it may begin.

    Args:
        accounts: the limits, each with what counts against it.
        own: what the step may use. role: the role of the step.
        at_once: only what has been used counts, not what may be.
    """
    for limit, account in accounts:
        used, running, next_ = _figures(limit.name, account, own)
        if at_once:
            running = next_ = 0
        if _is_full(limit, used + running, next_):
            return Reached(limit, role, used, running + next_)
    return None


def lacking(limit: Limit, account: Account, own: ReservePayload) -> float:
    """How much more a limit has to allow for another step to begin, rounded up; 0: it may begin."""
    used, running, next_ = _figures(limit.name, account, own)
    if not _is_full(limit, used + running, next_):
        return 0
    if limit.name == ELAPSED:
        return limit.base  # a grant counts from now
    over = used + running - limit.value
    if limit.name in _WHOLE:
        return math.ceil(max(over + next_, over + 1))
    least = max(over + next_, over * (1 + 1e-6) + 1e-6)
    unit: float = 10.0 ** (math.floor(math.log10(least)) - 2)
    return math.ceil(least / unit) * unit


_WHOLE = (STEPS, TOKENS, VISITS, UNCHANGED)


def _is_full(limit: Limit, used: float, next_: float) -> bool:
    """Whether a limit leaves no room for a step that may use `next_`."""
    return used >= limit.value or used + next_ > limit.value * (1 + _ROUNDING)


def _figures(name: str, account: Account, own: ReservePayload) -> tuple[float, float, float]:
    """What has been used, what running steps may use, and what the next one may use."""
    ledger, reserved = account.ledger, account.reserved
    if name == STEPS:
        return ledger["steps"], account.running, 1
    if name == VISITS:
        return account.visits, 0, 1
    if name == UNCHANGED:
        return account.unchanged, 0, 0
    if name == ELAPSED:
        return account.elapsed_ms / 1000, 0, 0
    if name == TOKENS:
        return known_sum(ledger["usage"], *TOKEN_FIELDS), reserved["tokens"], own["tokens"]
    if name == COST:
        return ledger["usage"]["costUsd"] or 0, reserved["costUsd"], own["costUsd"]
    per = _MS_PER_MINUTE
    return ledger["runningMs"] / per, reserved["durationMs"] / per, own["durationMs"] / per


def reservation(reserve: "Reserve | None", largest: ReservePayload) -> ReservePayload:
    """What a step may use: as its role says, else as much as the largest step so far."""
    found: ReservePayload = {**largest}
    if reserve is not None and reserve.tokens is not None:
        found["tokens"] = reserve.tokens
    if reserve is not None and reserve.cost_usd is not None:
        found["costUsd"] = reserve.cost_usd
    return found


def role_account(state: ThreadState, name: str) -> Account:
    """What the steps of a role have used, without open calls."""
    role = state.role(name)
    ledger: LedgerPayload = {
        "steps": role.leaf_steps,
        "runningMs": role.running_ms,
        "usage": role.usage,
        "largest": state.largest,
    }
    return Account(ledger, visits=role.runs, unchanged=role.unchanged)


def ledger_sum(one: LedgerPayload, other: LedgerPayload) -> LedgerPayload:
    """Two ledgers together."""
    return {
        "steps": one["steps"] + other["steps"],
        "runningMs": one["runningMs"] + other["runningMs"],
        "usage": add_usage(one["usage"], other["usage"]),
        "largest": larger(one["largest"], other["largest"]),
    }


def ledger_since(now: LedgerPayload, before: LedgerPayload) -> LedgerPayload:
    """What a thread has used since an earlier ledger of it; `largest` is that of all its steps."""
    return {
        "steps": now["steps"] - before["steps"],
        "runningMs": now["runningMs"] - before["runningMs"],
        "usage": subtract_usage(now["usage"], before["usage"]),
        "largest": now["largest"],
    }


def _reserve_sum(one: ReservePayload, other: ReservePayload) -> ReservePayload:
    return {
        "tokens": one["tokens"] + other["tokens"],
        "costUsd": one["costUsd"] + other["costUsd"],
        "durationMs": one["durationMs"] + other["durationMs"],
    }


def unknown_limits(usage: UsagePayload, names: Iterable[str]) -> Iterator[str]:
    """A text for each of these limits that cannot be enforced, or only on the part that is known.

    An unreported figure never counts as 0: the known part counts.
    """
    for name, fields in _REPORTED.items():
        if name not in names or is_exact(usage, *fields):
            continue
        if known_sum(usage, *fields):
            yield f"limit {name} counts only what is known: a call did not report all of it"
        else:
            yield f"limit {name} is not enforceable: the agent does not report it"


_REPORTED: Final[Mapping[str, tuple[UsageField, ...]]] = {
    TOKENS: ("inputTokens", "outputTokens"),
    COST: ("costUsd",),
}


def parse_amounts(words: Iterable[str]) -> dict[str, float]:
    """The amounts of `--grant WORD=AMOUNT`, by the names of limits; commas separate several.

    Raises:
        UsageError: a word is unknown, or an amount is not a positive number.
    """
    found: dict[str, float] = {}
    for item in (each.strip() for word in words for each in word.split(",")):
        word, _, text = item.partition("=")
        name = WORDS.get(word.strip())
        seconds = seconds_of(text) if name == ELAPSED else None
        amount = seconds or _amount(text, whole=name in _WHOLE)
        if name is None or amount is None:
            raise UsageError(
                f"{item!r} is not an amount",
                where="--grant",
                hint="write WORD=AMOUNT with one of the words " + ", ".join(WORDS),
            )
        found[name] = found.get(name, 0) + amount
    return found


def _amount(text: str, *, whole: bool) -> float | None:
    try:
        value: float = int(text) if whole else float(text)
    except ValueError:
        return None
    return value if 0 < value < float("inf") else None
