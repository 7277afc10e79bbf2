"""What a recorded call says about the thread that it called, checked against that thread."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.prompt.markdown import frontmatter
from uwf_core.replay.walk import Difference
from uwf_core.thread.history import Step, body_of, read_start, read_step

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.replay.chain import Chain, Recorded
    from uwf_core.replay.walk import Replayed
    from uwf_core.workflow.definition import Definition


def kind_difference(attempt: "Recorded", definition: "Definition") -> Difference | None:
    """Whether a workflow played the role and none does now, or the other way round."""
    role = attempt.payload["role"]
    is_call = definition.roles[role].workflow is not None
    if is_call == attempt.is_call:
        return None
    now = f"the role {role} is played by"
    words = f"{now} an agent, a person or a program", f"{now} a workflow"
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
    if payload["child"] is None:
        yield Difference("called", "a result", "the called thread delivered none")
        return
    last = read_step(store, Ref(payload["child"]))
    found: Any = last.payload
    if (found["output"], found["body"]) != (payload["output"], payload["body"]):
        recorded = _delivered(store, Step(Ref(attempt.ref), payload))
        yield Difference("called", recorded, _delivered(store, last))
    if found["thread"] != payload["session"]:
        yield Difference(
            "called", f"thread {payload['session']}", f"the result is of {found['thread']}"
        )
    if found["next"]["status"] != "completed":
        recorded = f"step {last.ref} completed thread {payload['session']}"
        yield Difference("called", recorded, f"it is {found['next']['status']} after that step")


def link_differences(
    store: "Store", attempt: "Recorded", child: "Chain", prev: str
) -> Iterator[Difference]:
    """Whether a called thread names the call that called it, after the step `prev`."""
    payload, entry = attempt.payload, child.entries.get(prev)
    call = f"step {payload['number']} of thread {payload['thread']} called thread {child.thread}"
    if entry is None:
        yield Difference("called", call, "that thread has no record of it")
        return
    event = store.payload(Ref(entry.event))
    head = payload["replaces"] or payload["prev"]
    names = {"parent": "thread", "number": "number", "role": "role", "purpose": "purpose"}
    wrong = [name for name, own in names.items() if event[name] != payload[own]]
    wrong += ["parentHead"] * (head is not None and event["parentHead"] != head)
    if prev == child.start:
        wrong += ["start"] * (read_start(store, Ref(prev))["parent"] != event["parentHead"])
    wrong += ["prompt"] * (event["prompt"] != payload["prompt"])
    if wrong:
        yield Difference("called", call, f"{entry.event} is of another call: {', '.join(wrong)}")


def _delivered(store: "Store", step: Step) -> str:
    return frontmatter(store.payload(Ref(step.payload["output"])), body_of(store, step))
