"""The documents of `thread diff`; the conventions are those of `engine.documents`."""

from typing import Any, Literal, TypedDict

from uwf_core.api.sums import UsagePayload


class StepDifference(TypedDict):
    """One aspect in which two steps differ, with the value of each side: a text, the JSON value of
    a field, or null where a side has none.

    `part`: of a prompt (`form`, `role`, `task`, `history`, `person`, `instruction`), the path of a
    field or of a delivered file, or the name of a skill, memory or rules. `line`: the first line of
    a text that differs, from 1.
    """

    aspect: Literal[
        "task", "role", "folder", "prompt", "output", "text", "file", "route", "attempts",
        "corrections", "end", "workflow", "skills",
    ]  # fmt: skip
    part: str | None
    line: int | None
    a: Any
    b: Any


def difference(
    aspect: Any, a: Any, b: Any, *, part: str | None = None, line: int | None = None
) -> StepDifference:
    """One aspect in which two steps differ."""
    return {"aspect": aspect, "part": part, "line": line, "a": a, "b": b}


class DivergenceDocument(StepDifference):
    """The first divergence: the step of each side (null where it has none), in what they differ
    first, and in one sentence; a path is a role after those that call its thread (`work/writer`).
    `also` are the other aspects in which these steps differ.
    """

    sentence: str
    stepA: str | None
    stepB: str | None
    numberA: int | None
    numberB: int | None
    pathA: str | None
    pathB: str | None
    also: list[str]


class ComparedStep(TypedDict):
    """A step of one side. `attempts` are the kinds of failure of the attempts before it,
    `corrections` counts rejected replies; `usage` and `durationMs` contain both. `route` is the
    next role, `$END` or `$SUSPEND`. `files` are the delivered ones, each with its node, and `tree`
    the recorded ones after the step, or null. `instruction`, `output` and `text` are null in a row
    without a difference.
    """

    step: str
    number: int
    status: str | None
    route: str
    agent: str | None
    alias: str | None
    model: str | None
    session: str | None
    workflow: str
    cwd: str
    startedAtMs: int
    durationMs: int
    usage: UsagePayload
    attempts: list[str]
    corrections: int
    files: dict[str, str]
    tree: str | None
    instruction: str | None
    output: dict[str, Any] | None
    text: str | None


class DiffRow(TypedDict):
    """Aligned steps, or a step of one side. The steps of a called thread follow the call, with a
    `role` such as `work/writer`; `visit` counts the steps of the role in its thread and call.
    `shared`: both threads contain the same node.
    """

    role: str
    visit: int
    a: ComparedStep | None
    b: ComparedStep | None
    shared: bool
    differences: list[StepDifference]


class ComparedThread(TypedDict):
    """A side as a whole. Its totals contain inherited steps and failed attempts."""

    thread: str
    workflow: str
    workflowName: str
    task: str
    cwd: str
    status: str
    steps: int
    attempts: int
    corrections: int
    durationMs: int
    usage: UsagePayload


class ThreadDiffDocument(TypedDict):
    """What `thread diff` gives. The first `commonSteps` rows are the same, the first `sharedSteps`
    of these the same nodes. `difference` is B minus A, null where either is not exactly known.
    """

    a: ComparedThread
    b: ComparedThread
    same: bool
    commonSteps: int
    sharedSteps: int
    divergence: DivergenceDocument | None
    rows: list[DiffRow]
    difference: dict[str, float | None]
