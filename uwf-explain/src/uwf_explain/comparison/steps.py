"""In what two steps of two threads differ, in a fixed order of aspects."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.workflow.definition import END, SUSPEND
from uwf_explain.comparison.documents import StepDifference, difference
from uwf_explain.comparison.neutral import Sides, within
from uwf_explain.comparison.prompts import prompt_differences
from uwf_explain.explanation.guidance import texts_of

if TYPE_CHECKING:
    from uwf_core.api import RecordedStep


def route_of(decision: Mapping[str, Any]) -> str:
    """Where a step leads: a role, `$END` or `$SUSPEND`."""
    if decision["status"] == "suspended":
        return SUSPEND
    return decision["role"] or END


def kind_of_failure(attempt: "RecordedStep") -> str:
    """The kind of the failure of an attempt."""
    return attempt.failure["kind"] if attempt.failure else ""


def delivered(step: "RecordedStep") -> dict[str, str]:
    """The nodes of the files that a step delivered, by path."""
    return {each.path: each.ref for each in step.files}


def failures_of(step: "RecordedStep") -> list[str]:
    """The kinds of failure of the attempts before a step."""
    return (
        [kind_of_failure(each) for each in step.attempts] if step.node["previousAttempts"] else []
    )


def step_differences(
    a: "RecordedStep",
    b: "RecordedStep",
    sides: Sides,
    folders: tuple[str, str],
    *,
    after: bool = False,
) -> Iterator[StepDifference]:
    """In what two steps differ: who ran, where, with which prompt, and what came of it.

    Times, sessions, agents and usage are different in every run, so they do not count.

    Args:
        a: one step.
        b: the other.
        sides: the comparison of texts.
        folders: the folders of the two threads.
        after: the threads have diverged before.
    """
    if a.ref == b.ref:
        return
    outputs = list(_output(a, b, sides))
    routes = list(_route(a.node["next"], b.node["next"], sides))
    if a.role != b.role:
        yield difference("role", a.role, b.role)
    elif not outputs:
        # The graph has changed. The prompt lists where each status leads, so it differs as well.
        yield from routes
    yield from _folder(a, b, folders)
    if a.role == b.role:
        yield from _guidance(a, b)
    if a.role == b.role:
        yield from prompt_differences(a, b, sides, after=after)
    yield from outputs
    if a.node["body"] != b.node["body"] and not sides.same(a.body, b.body):
        yield difference("text", a.body, b.body, line=sides.line(a.body, b.body))
    yield from _delivered(a, b)
    if outputs or a.role != b.role:
        yield from routes
    if failures_of(a) != failures_of(b):
        yield difference("attempts", failures_of(a), failures_of(b))
    yield from _corrections(a, b, sides)


def _folder(
    a: "RecordedStep", b: "RecordedStep", folders: tuple[str, str]
) -> Iterator[StepDifference]:
    mine, other = a.node["attempt"]["cwd"], b.node["attempt"]["cwd"]
    inside = within(mine, folders[0]), within(other, folders[1])
    # A folder outside of both threads is the same if its path is.
    if mine != other and inside[0] != inside[1]:
        yield difference("folder", *inside)


def _guidance(a: "RecordedStep", b: "RecordedStep") -> Iterator[StepDifference]:
    """The skills, memory and rules of one side, and those with another text."""
    mine, other = (texts_of(step) for step in (a, b))
    for name in dict.fromkeys((*mine, *other)):
        if mine.get(name) != other.get(name):
            yield difference("skills", mine.get(name), other.get(name), part=name)


def _output(a: "RecordedStep", b: "RecordedStep", sides: Sides) -> Iterator[StepDifference]:
    if a.node["output"] == b.node["output"]:
        return
    mine, other = _status_first(a.output), _status_first(b.output)
    for name in [*mine, *(name for name in other if name not in mine)]:
        if name in mine and name in other and sides.same(mine[name], other[name]):
            continue
        path, left, right = sides.field(mine.get(name), other.get(name))
        yield difference("output", left, right, part=".".join((name, *path)))


def _status_first(output: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: output[key] for key in ("$status",) if key in output}, **output}


def _delivered(a: "RecordedStep", b: "RecordedStep") -> Iterator[StepDifference]:
    """The delivered files of one side, and those with other bytes or permissions."""
    mine, other = delivered(a), delivered(b)
    if mine == other:
        return
    for path in sorted({*mine, *other}):
        if mine.get(path) != other.get(path):
            yield difference("file", *(_file(side, path) for side in (a, b)), part=path)


def _file(step: "RecordedStep", path: str) -> str | None:
    found = next((each for each in step.files if each.path == path), None)
    return None if found is None else f"{found.size} bytes, mode {found.mode:04o}, {found.ref}"


def _route(a: Mapping[str, Any], b: Mapping[str, Any], sides: Sides) -> Iterator[StepDifference]:
    mine, other = _words(a), _words(b)
    if not sides.same(mine, other):
        yield difference("route", mine, other)


def _words(decision: Mapping[str, Any]) -> str:
    to = route_of(decision)
    return f"{to}: {decision['message']}" if to == SUSPEND and decision["message"] else to


def _corrections(a: "RecordedStep", b: "RecordedStep", sides: Sides) -> Iterator[StepDifference]:
    if a.node["corrections"] == b.node["corrections"]:
        return
    mine, other = (
        [f"{'; '.join(each.errors)}\n\n{each.raw}" for each in step.corrections] for step in (a, b)
    )
    if not sides.same(mine, other):
        yield difference("corrections", mine, other)
