"""Whether each call of a thread is recorded as it must be."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from tests.core.calling import descendants
from tests.step_parts import call_of, session_of

from uwf_core.api.sums import FIELDS, NOTHING_USED, add_usage, known_sum
from uwf_core.client import Client, ThreadFilter

ALL = ThreadFilter(all=True, children=True)
"""The threads that others called as well."""

CALL_AGENT = "workflow"
"""The agent that the step of a call records."""

Calls = Counter[tuple[str, str]]
"""How many calls there are of a caller and a called thread."""


def own_steps(uwf: Client, thread: str) -> list[Mapping[str, Any]]:
    """All steps and attempts that a thread stored, those that were replaced as well."""
    recorded, found = uwf.thread(thread), dict[str, Mapping[str, Any]]()
    steps = [*recorded.steps(), *recorded.pending]
    for step in steps:  # grows
        if step.ref not in found and step.node["thread"] == thread:
            found[step.ref] = step.node
            steps += step.tries()
    return list(found.values())


def miscalled(uwf: Client) -> str | None:
    """A call that is recorded twice, or neither recorded nor open."""
    begun, known = Calls(), Calls()
    for row in uwf.list(ALL):
        thread = row["thread"]
        known.update((thread, call.thread) for call in uwf.thread(thread).open_calls)
        begun.update(
            (event.payload["parent"], thread)
            for event in uwf.thread(thread).events()
            if event.kind == "called"
        )
        for step in own_steps(uwf, thread):
            if step["agent"] == CALL_AGENT:
                known.update((thread, each) for each in recorded_by(step))
    return None if begun == known else f"called: {begun}; recorded or open: {known}"


def recorded_by(step: Mapping[str, Any]) -> list[str]:
    """The threads whose calls a step records."""
    branches = call_of(step)["branches"]
    return [session_of(step)["id"]] if branches is None else [each["thread"] for each in branches]


def miscounted(uwf: Client, root: str) -> str | None:
    """How what a thread says that it used differs from the sum of all attempts in its tree."""
    usage, steps, running_ms = NOTHING_USED, 0, 0
    for thread in (root, *descendants(uwf, root)):
        events = uwf.thread(thread).events()
        asked = [each.payload for each in events if each.kind == "asked"]
        for each in [*own_steps(uwf, thread), *asked]:
            if (each.get("call") or {}).get("usage") is None:
                usage = add_usage(usage, each["usage"])
                running_ms += each["completedAtMs"] - each["startedAtMs"]
        chain = [step.node for step in uwf.thread(thread).steps()]
        steps += sum(each["thread"] == thread and call_of(each)["usage"] is None for each in chain)
    total = uwf.unattended.ledger(root)
    for name, _ in FIELDS:
        if known_sum(total["usage"], name) != known_sum(usage, name):
            return f"{name}: {total['usage']}, and the attempts used {usage}"
    told = total["steps"], total["runningMs"]
    return None if told == (steps, running_ms) else f"{told}, and there are {steps, running_ms}"
