"""What a page says of branches: their tasks and results, and why the joint status is what it is."""

from collections import Counter
from collections.abc import Iterator

from uwf_core.api import RecordedCall, RecordedStep, RecordedThread
from uwf_explain.explanation.statements import Statement
from uwf_explain.explanation.surroundings import Surroundings
from uwf_explain.explanation.words import plain, quoted

_CANCELLED, _EMPTY, _MIXED = "$cancelled", "$empty", "$mixed"


def is_fan_out(role: str) -> bool:
    """Whether it is the role of a fan-out, `SOURCE/STATUS`."""
    return "/" in role


def rule_of(step: RecordedStep) -> str:
    """The place of the edge of a step in the workflow's file."""
    if step.node["agent"] is None:
        return f"the edge of a failure of {step.role}: its $failed or expired, or $any.$failed"
    source, slash, taken = step.role.rpartition("/")
    place = f"{source}.{taken}.then" if slash else step.role
    return f"rule graph.{place}.{step.status}"


def asked_branches(step: RecordedStep, around: Surroundings) -> Statement:
    """Why branches were next."""
    previous = around.previous
    assert previous is not None
    text = (
        f"Step {previous.number} ({previous.role}) ended with {quoted(previous.status)}, so the "
        f"workflow began {_runs(len(step.calls))}."
    )
    refs = (previous.ref, step.workflow.ref)
    return Statement("asked", text, refs, note=rule_of(previous))


def _runs(count: int) -> str:
    return "1 branch" if count == 1 else f"{count} branches, which work at the same time"


def branch_statements(step: RecordedStep) -> Iterator[Statement]:
    """The task and the result of each branch, in their order."""
    results = step.output["results"]
    for call, result in zip(step.calls, results, strict=True):
        yield from _task(call)
        yield _result(step, call, result)


def _task(call: RecordedCall) -> Iterator[Statement]:
    if call.prompt_ref is not None and call.event is not None:
        text = (
            f"The branch {quoted(call.key)} (the role {quoted(call.role)}) is the run "
            f"{call.thread}, which got this instruction:"
        )
        yield Statement("branch", text, (call.prompt_ref, call.event), call.prompt)


def _result(step: RecordedStep, call: RecordedCall, result: dict[str, object]) -> Statement:
    refs = (str(step.node["output"]), call.end or "", step.ref)
    who = f"The branch {quoted(call.key)}"
    command = f"uwf thread why {call.thread}"
    if call.status == _CANCELLED:
        text = f"{who} was cancelled, so it has no result. To read why the run went as it did:"
        return Statement("delivered", text, refs, command=command)
    hidden = ("$index", "$status", "_body")
    fields = [f"{name}: {plain(value)}" for name, value in result.items() if name not in hidden]
    if result["_body"]:
        fields.append(str(result["_body"]))
    text = f"{who} ended with {quoted(call.status)}. To read why the run went as it did:"
    return Statement("delivered", text, refs, "\n".join(fields) or None, command=command)


def joint_decision(step: RecordedStep) -> Statement:
    """The joint status, and why it is that."""
    refs = (str(step.node["output"]), step.ref, step.workflow.ref)
    text = f"The status of the branches together is {quoted(step.status)}, {_why(step)}."
    return Statement("decided", text, refs)


def _why(step: RecordedStep) -> str:
    calls = step.calls
    counts = Counter(str(call.status) for call in calls)
    if not calls:
        return "because the list was empty"
    if step.status != _MIXED:
        return "because the only branch ended so" if len(calls) == 1 else "because all ended so"
    cancelled = [quoted(call.key) for call in calls if call.status == _CANCELLED]
    if cancelled:
        each = "branch" if len(cancelled) == 1 else "branches"
        were = "was" if len(cancelled) == 1 else "were"
        return f"because the {each} {', '.join(cancelled)} {were} cancelled"
    if len(counts) == 1:
        return f"because the workflow has no rule for the case that all end with {_listed(counts)}"
    return f"because they ended differently: {_listed(counts)}"


def _listed(counts: Counter[str]) -> str:
    if len(counts) == 1:
        return quoted(next(iter(counts)))
    return ", ".join(f"{count} with {quoted(status)}" for status, count in counts.items())


def open_statements(thread: RecordedThread) -> Iterator[Statement]:
    """The calls that are in progress, each with its task and state."""
    for call in thread.open_calls:
        who = f"the role {quoted(call.role)}"
        if call.key is not None:
            who = f"the branch {quoted(call.key)} ({who}) of {call.caller_role}"
        text = (
            f"The next step is open: {who} is played by the run {call.thread}, "
            f"{_STATES.get(call.state or '', 'which cannot be read')}. It got this instruction:"
        )
        refs = (str(call.prompt_ref), str(call.event))
        command = f"uwf thread why {call.thread}"
        yield Statement("open", text, refs, call.prompt, command=command)


_STATES = {
    "idle": "whose next step can be run",
    "running": "which is at work now",
    "suspended": "which waits for a person or for more of a limit",
    "completed": "which has ended",
    "cancelled": "which was cancelled",
}
