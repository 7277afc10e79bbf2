"""Whether each call of a thread is recorded as it must be."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from uwf_core.api.sums import FIELDS, NOTHING_USED, add_usage, known_sum
from uwf_core.cas.store import Store
from uwf_core.client import Client, ThreadFilter
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import CALL_AGENT, calls_of, descendants_of, open_calls
from uwf_core.thread.head import read_head
from uwf_core.thread.history import newest_first, own_events, unordered_events

ALL = ThreadFilter(all=True, children=True)
"""The threads that others called as well."""

Calls = Counter[tuple[str, str]]
"""How many calls there are of a caller and a called thread."""


def miscalled(uwf: Client) -> str | None:
    """A call that is recorded twice, or neither recorded nor open."""
    begun, known = Calls(), Calls()
    store = uwf._engine.store
    for row in uwf.list(ALL):
        thread = ThreadId(row["thread"])
        known.update((thread, call.child) for call in calls_of(store, thread))
        for event in own_events(store, thread, read_head(store, thread).ref):
            if event.kind == "called":
                begun[event.payload["parent"], thread] += 1
            elif event.kind == "step" and event.payload["agent"] == CALL_AGENT:
                known.update((thread, each) for each in recorded_by(event.payload))
    return None if begun == known else f"called: {begun}; recorded or open: {known}"


def recorded_by(step: Mapping[str, Any]) -> list[str]:
    """The threads whose calls a step records."""
    branches = step["branches"]
    return [step["session"]] if branches is None else [each["thread"] for each in branches]


def miscounted(store: Store, root: ThreadId) -> str | None:
    """How what a thread says that it used differs from the sum of all attempts in its tree."""
    usage, steps, running_ms = NOTHING_USED, 0, 0
    for thread in (root, *descendants_of(store, root)):
        head = read_head(store, thread)
        stored = own_events(store, thread, head.ref)
        attempts = [each.payload for each in stored if each.kind == "step"]
        asked = [each.payload for each in unordered_events(store, thread) if each.kind == "asked"]
        for each in [*attempts, *asked]:
            if each.get("calledUsage") is None:
                usage = add_usage(usage, each["usage"])
                running_ms += each["completedAtMs"] - each["startedAtMs"]
        own = [] if head.at_start else newest_first(store, head.ref, Ref(""))
        steps += sum(
            each.payload["calledUsage"] is None
            for each in own
            if each.payload["number"] > head.state.inherited_steps
        )
    total = _total(store, root)
    for name, _ in FIELDS:
        if known_sum(total["usage"], name) != known_sum(usage, name):
            return f"{name}: {total['usage']}, and the attempts used {usage}"
    told = total["steps"], total["runningMs"]
    return None if told == (steps, running_ms) else f"{told}, and there are {steps, running_ms}"


def _total(store: Store, thread: ThreadId) -> Any:
    """The ledger of a thread with its open calls."""
    total: Any = read_head(store, thread).state.ledger
    for call in open_calls(store, thread):
        below = _total(store, call.child)
        before = store.payload(call.variable.value)["ledger"]
        usage = {
            name: known_sum(total["usage"], name)
            + known_sum(below["usage"], name)
            - known_sum(before["usage"], name)
            for name, _ in FIELDS
        }
        counts = {key: total[key] + below[key] - before[key] for key in ("steps", "runningMs")}
        total = {"usage": usage, **counts}
    return total
