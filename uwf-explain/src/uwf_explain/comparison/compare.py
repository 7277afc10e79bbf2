"""Compare two recorded threads. A pure function of their stored nodes."""

from typing import TYPE_CHECKING, Any

from uwf_core.api.sums import FIELDS, NOTHING_USED, UsagePayload, add_usage, is_exact
from uwf_core.thread.decisions import call_of, session_of
from uwf_explain.comparison.align import Key, align
from uwf_explain.comparison.documents import (
    ComparedStep,
    ComparedThread,
    DiffRow,
    DivergenceDocument,
    StepDifference,
    ThreadDiffDocument,
    difference,
)
from uwf_explain.comparison.neutral import Sides, neutral_words
from uwf_explain.comparison.placed import PlacedStep, placed_steps
from uwf_explain.comparison.sentence import sentence
from uwf_explain.comparison.steps import (
    delivered,
    failures_of,
    kind_of_failure,
    route_of,
    step_differences,
)

if TYPE_CHECKING:
    from uwf_core.api import RecordedStep, RecordedThread
    from uwf_core.client import Client

_RESULT = {"output", "text", "file", "route"}
"""The aspects of a call that follow from the steps of the called thread."""


class _Run:
    """A side: the thread and its steps, oldest first, with those of the threads that it called."""

    def __init__(self, thread: "RecordedThread") -> None:
        self.thread = thread
        self.placed = placed_steps(thread)
        self.steps = [each.step for each in self.placed]
        self.keys: list[Key] = [each.key for each in self.placed]
        above = {each.thread: each.path.rpartition("/")[0] for each in self.placed}
        refs = {
            str(each.step.ref): f"{above[each.thread]} {each.step.number}".strip()
            for each in self.placed
        }
        self.neutral = neutral_words({**above, thread.id: ""}, thread.cwd, refs)


def compare_threads(client: "Client", a: str, b: str) -> ThreadDiffDocument:
    """Compare two threads of a client. Errors as `uwf thread diff`."""
    return compare(client.thread(a), client.thread(b))


def compare(a: "RecordedThread", b: "RecordedThread") -> ThreadDiffDocument:
    """Align the steps of two threads and name their first divergence.

    Raises:
        StoreError: a node of them is missing or damaged.
    """
    mine, other = _Run(a), _Run(b)
    sides = Sides(mine.neutral, other.neutral)
    common, found = _common(mine, other, sides)
    rows = [
        _row(mine, other, left, right, sides, common)
        for left, right in align(mine.keys, other.keys, common)
    ]
    totals = _totals(mine), _totals(other)
    return {
        "a": totals[0],
        "b": totals[1],
        "same": found is None,
        "commonSteps": common,
        "sharedSteps": sum(row["shared"] for row in rows),
        "divergence": found,
        "rows": rows,
        "difference": _difference(*totals),
    }


# -- the first divergence --------------------------------------------------------------------------


def _common(a: _Run, b: _Run, sides: Sides) -> tuple[int, DivergenceDocument | None]:
    """How many steps are the same from the first one on, and where they differ first."""
    task = a.thread.task, b.thread.task
    if not sides.same(*task):  # it is in every prompt, so no step can be the same
        line = sides.line(*task)
        return 0, _divergence(a, b, None, [difference("task", *task, line=line)])
    folders = a.thread.cwd, b.thread.cwd
    length = min(len(a.steps), len(b.steps))
    for place in range(length):
        found = list(step_differences(a.steps[place], b.steps[place], sides, folders))
        if found:
            return place, _below(a, b, place, found, sides) or _divergence(a, b, place, found)
    if len(a.steps) != len(b.steps):
        ends = _end_or_step(a, length), _end_or_step(b, length)
        return length, _divergence(a, b, length, [difference("end", *ends)])
    end = _end(a.thread), _end(b.thread)
    if not sides.same(*end):
        return length, _divergence(a, b, length, [difference("end", *end)])
    return length, _other_version(a, b)


def _below(
    a: _Run, b: _Run, place: int, found: list[StepDifference], sides: Sides
) -> DivergenceDocument | None:
    """The first divergence of the called threads, if two calls differ by their results alone."""
    path, folders = f"{a.placed[place].path}/", (a.thread.cwd, b.thread.cwd)
    if not _RESULT.issuperset(each["aspect"] for each in found):
        return None
    for at in range(place + 1, min(len(a.steps), len(b.steps))):
        if a.keys[at] != b.keys[at] or not a.placed[at].path.startswith(path):
            return None
        below = list(step_differences(a.steps[at], b.steps[at], sides, folders))
        if below:
            return _below(a, b, at, below, sides) or _divergence(a, b, at, below)
    return None


def _other_version(a: _Run, b: _Run) -> DivergenceDocument | None:
    """Where another version of the workflow ran without any consequence.

    Only then is it the divergence: else every comparison of two versions would name the version,
    and never the step that shows what it changed.
    """
    for place, (mine, other) in enumerate(zip(a.steps, b.steps, strict=True)):
        versions = mine.node["workflow"], other.node["workflow"]
        if versions[0] != versions[1]:
            return _divergence(a, b, place, [difference("workflow", *versions)])
    refs = a.thread.workflow.ref, b.thread.workflow.ref
    if refs[0] != refs[1]:
        return _divergence(a, b, None, [difference("workflow", *refs)])
    return None


def _divergence(
    a: _Run, b: _Run, place: int | None, found: list[StepDifference]
) -> DivergenceDocument:
    mine, other = _placed_at(a, place), _placed_at(b, place)
    also = list(dict.fromkeys(each["aspect"] for each in found[1:]))
    if mine and other and mine.step.node["workflow"] != other.step.node["workflow"]:
        also.append("workflow")
    first = found[0]
    return {
        **first,
        "sentence": sentence(first, mine, other, min(len(a.steps), len(b.steps))),
        "stepA": None if mine is None else mine.step.ref,
        "stepB": None if other is None else other.step.ref,
        "numberA": None if mine is None else mine.step.number,
        "numberB": None if other is None else other.step.number,
        "pathA": None if mine is None else mine.path,
        "pathB": None if other is None else other.path,
        "also": [each for each in also if each != first["aspect"]],
    }


def _placed_at(run: _Run, place: int | None) -> PlacedStep | None:
    return run.placed[place] if place is not None and place < len(run.placed) else None


def _step_at(run: _Run, place: int | None) -> "RecordedStep | None":
    return run.steps[place] if place is not None and place < len(run.steps) else None


def _end_or_step(run: _Run, place: int) -> str:
    found = _placed_at(run, place)
    return _end(run.thread) if found is None else f"step {found.step.number} ({found.path})"


def _end(thread: "RecordedThread") -> str:
    """How a thread ends so far. A run in progress does not count."""
    state = thread.state
    words: str = "idle" if state.status == "running" else state.status
    if state.suspension is not None:
        words += f" ({state.suspension.kind or state.suspension.reason})"
        words += f": {state.suspension.message}" if not state.suspension.kind else ""
    failed = [kind_of_failure(each) for each in thread.pending]
    return words + (f", after failed attempts: {', '.join(failed)}" if failed else "")


# -- the rows --------------------------------------------------------------------------------------


def _row(
    a: _Run, b: _Run, left: int | None, right: int | None, sides: Sides, common: int
) -> DiffRow:
    mine, other = _step_at(a, left), _step_at(b, right)
    key = a.keys[left] if left is not None else b.keys[right or 0]
    found: list[StepDifference] = []
    if mine and other and (left or 0) >= common:
        folders = a.thread.cwd, b.thread.cwd
        after = (left or 0) > common or left != right
        found = list(step_differences(mine, other, sides, folders, after=after))
    is_whole = bool(found) or not (mine and other)
    return {
        "role": key[0],
        "visit": key[1][-1],
        "a": None if mine is None else _side(mine, is_whole=is_whole),
        "b": None if other is None else _side(other, is_whole=is_whole),
        "shared": bool(mine and other and mine.ref == other.ref),
        "differences": found,
    }


def _side(step: "RecordedStep", *, is_whole: bool) -> ComparedStep:
    node = step.node
    return {
        "step": step.ref,
        "number": step.number,
        "status": step.status,
        "route": route_of(node["next"]),
        "agent": node["agent"],
        "alias": step.alias,
        "model": node["model"],
        "session": session_of(node)["id"],
        "workflow": node["workflow"],
        "cwd": node["attempt"]["cwd"],
        "startedAtMs": node["startedAtMs"],
        "durationMs": _duration(step),
        "usage": _usage(step),
        "attempts": failures_of(step),
        "corrections": len(node["corrections"]),
        "files": delivered(step),
        "tree": _tree_after(step),
        "instruction": step.edge_prompt if is_whole else None,
        "output": dict(step.output) if is_whole else None,
        "text": step.body if is_whole else None,
    }


def _tree_after(step: "RecordedStep") -> str | None:
    files = step.node["files"]
    after = files and files["workspace"] and files["workspace"]["after"]
    return after and after["tree"]


def _usage(step: "RecordedStep") -> UsagePayload:
    total = _used(step)[0]
    for each in _attempts(step):
        total = add_usage(total, _used(each)[0])
    return total


def _duration(step: "RecordedStep") -> int:
    return sum(_used(each)[1] for each in (step, *_attempts(step)))


def _used(step: "RecordedStep") -> tuple[UsagePayload, int]:
    """What a step used and how long it took; for a call what the called thread did."""
    called = call_of(step.node)["usage"]
    if called is None:
        return step.node["usage"], step.duration_ms
    return called["usage"], called["runningMs"]


def _attempts(step: "RecordedStep") -> "list[RecordedStep]":
    """What was paid for beside the step: failed attempts, and the steps that it replaced."""
    return [*step.tries()][:-1]


# -- the totals ------------------------------------------------------------------------------------


def _totals(run: _Run) -> ComparedThread:
    thread = run.thread
    # A fork's own totals begin at the fork.
    own = [each.step for each in run.placed if each.thread == thread.id]
    inherited = [step for step in own if step.node["thread"] != thread.id]
    usage, running_ms = NOTHING_USED, 0
    for step in inherited:
        usage, running_ms = add_usage(usage, _usage(step)), running_ms + _duration(step)
    workflow = thread.workflow
    return {
        "thread": thread.id,
        "workflow": workflow.ref,
        "workflowName": workflow.name,
        "task": thread.task,
        "cwd": thread.cwd,
        "status": thread.state.status,
        "steps": len(own),
        "attempts": sum(len(step.node["previousAttempts"]) for step in run.steps)
        + len(thread.pending),
        "corrections": sum(len(step.node["corrections"]) for step in run.steps),
        "durationMs": running_ms + thread.running_ms,
        "usage": add_usage(usage, thread.usage),
    }


def _difference(a: ComparedThread, b: ComparedThread) -> dict[str, float | None]:
    """B minus A; unknown stays unknown, since a difference of lower bounds says nothing."""
    found: dict[str, Any] = {
        "steps": b["steps"] - a["steps"],
        "attempts": b["attempts"] - a["attempts"],
        "corrections": b["corrections"] - a["corrections"],
        "durationMs": b["durationMs"] - a["durationMs"],
    }
    mine: Any = a["usage"]
    other: Any = b["usage"]
    for name, _ in FIELDS:
        field: Any = name
        if name != "durationMs":
            exact = is_exact(mine, field) and is_exact(other, field)
            found[name] = other[name] - mine[name] if exact else None
    return found
