"""What a recorded call says about the thread that it called, checked against that thread."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.replay.walk import Difference
from uwf_core.thread.decisions import call_of, session_of
from uwf_core.thread.history import Step, body_of, read_start, read_step
from uwf_core.yaml.text import frontmatter

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.replay.chain import Chain, Recorded
    from uwf_core.replay.walk import Replayed
    from uwf_core.thread.links import CalledThread
    from uwf_core.workflow.definition import Definition


def kind_difference(attempt: "Recorded", definition: "Definition") -> Difference | None:
    """Whether a workflow played the role and none does now, or the other way round."""
    role = attempt.payload["role"]
    is_call = definition.roles[role].calls
    if is_call == attempt.is_call or attempt.is_failure:
        return None
    now = f"the role {role} is played by"
    words = f"{now} an agent, a person or a program", f"{now} other threads"
    return Difference("called", words[attempt.is_call], words[is_call])


def difference_below(below: "Sequence[Replayed]") -> Iterator[Difference]:
    """The first step of a called thread that is not the same, as a difference of the call."""
    for each in below:
        if each.verdict != "same":
            number, role = each.attempt.payload["number"], each.attempt.payload["role"]
            step = f"step {number} ({role}, {each.attempt.ref}) of thread {each.thread}"
            yield Difference("called", f"{step} is recorded", f"{step} is {each.verdict}")
            return


def result_differences(store: "Store", attempt: "Recorded") -> Iterator[Difference]:
    """Whether a step of a call has recorded what the last step of the called thread delivered."""
    payload: Any = attempt.payload
    child, thread = call_of(payload)["child"], session_of(payload)["id"]
    if child is None:
        yield Difference("called", "a result", "the called thread delivered none")
        return
    last = read_step(store, Ref(child))
    found: Any = last.payload
    if (found["output"], found["body"]) != (payload["output"], payload["body"]):
        recorded = _delivered(store, Step(Ref(attempt.ref), payload))
        yield Difference("called", recorded, _delivered(store, last))
    if found["thread"] != thread:
        yield Difference("called", f"thread {thread}", f"the result is of {found['thread']}")
    if found["next"]["status"] != "completed":
        recorded = f"step {last.ref} completed thread {thread}"
        yield Difference("called", recorded, f"it is {found['next']['status']} after that step")


def event_of(attempt: "Recorded", child: "Chain", prev: str | None) -> str | None:
    """The event of a call in the called thread: that after the step `prev`; without an attempt in
    that call the one of the number.
    """
    if prev is not None:
        entry = child.entries.get(prev)
        return None if entry is None else entry.event
    own = attempt.payload["thread"], attempt.payload["number"]
    found = (e.ref for e in child.calls if (e.payload["parent"], e.payload["number"]) == own)
    return next(found, None)


def link_differences(
    store: "Store",
    attempt: "Recorded",
    called: "CalledThread",
    child: "Chain",
    prev: str | None,
) -> Iterator[Difference]:
    """Whether a called thread names the call that called it, after the step `prev`."""
    payload, ref = attempt.payload, event_of(attempt, child, prev)
    call = f"step {payload['number']} of thread {payload['thread']} called thread {child.thread}"
    if ref is None:
        yield Difference("called", call, "that thread has no record of it")
        return
    event = store.payload(Ref(ref))
    asked = payload["attempt"]
    head = asked["replaces"] or payload["prev"]
    names = {"parent": "thread", "number": "number", "role": "role"}
    wrong = [name for name, own in names.items() if event[name] != payload[own]]
    own = {"plays": called.role, "index": called.place, "branch": called.name}
    own["purpose"] = asked["purpose"]
    wrong += [name for name, value in own.items() if event[name] != value]
    wrong += ["parentHead"] * (head is not None and event["parentHead"] != head)
    if prev == child.start:
        start = read_start(store, Ref(prev))
        wrong += ["start"] * (start["parent"] != event["parentHead"])
        wrong += ["task"] * (attempt.is_fan_out and start["prompt"] != event["prompt"])
    wrong += ["prompt"] * (not attempt.is_fan_out and event["prompt"] != asked["prompt"])
    if wrong:
        yield Difference("called", call, f"{ref} is of another call: {', '.join(wrong)}")


def _delivered(store: "Store", step: Step) -> str:
    return frontmatter(store.payload(Ref(step.payload["output"])), body_of(store, step))
