"""The first divergence of two threads in one sentence."""

from typing import TYPE_CHECKING, Any

from uwf_core.workflow.definition import END, SUSPEND

if TYPE_CHECKING:
    from uwf_explain.comparison.documents import StepDifference
    from uwf_explain.comparison.placed import PlacedStep

_PARTS = {
    "form": "the prompts differ in the form of the reply",
    "role": "the prompts differ in the text of the role",
    "task": "the prompts differ in the task",
    "history": "the prompts differ in the history",
    "person": "the words of a person differ",
    "instruction": "the prompts differ in the instruction",
    "prompt": "the prompts differ",
}


def sentence(
    found: "StepDifference", a: "PlacedStep | None", b: "PlacedStep | None", common: int
) -> str:
    """Name the step of each side and in what they differ first.

    Args:
        found: the first difference.
        a: the step of A, None if it has none there.
        b: the step of B.
        common: how many steps both threads have at least.
    """
    if found["aspect"] == "end":
        return _end(found, a, b, common)
    if a is None or b is None:
        return f"Before the first step {_what(found)}."
    role = a.path if a.path == b.path else f"{a.path} in A, {b.path} in B"
    return f"At step {a.step.number} ({role}; A {a.step.ref}, B {b.step.ref}) {_what(found)}."


def _end(
    found: "StepDifference", a: "PlacedStep | None", b: "PlacedStep | None", common: int
) -> str:
    steps = "1 step" if common == 1 else f"{common} steps"
    if a is None and b is None:
        return f"After {steps}, A is {_first_line(found['a'])} and B is {_first_line(found['b'])}."
    name, other = ("A", "B") if a is None else ("B", "A")
    ended, step = (found["a"], b) if a is None else (found["b"], a)
    assert step is not None
    return (
        f"After {steps}, {name} is {_first_line(ended)}, and {other} continues with step "
        f"{step.step.number} ({step.path}, {step.step.ref})."
    )


def _what(found: "StepDifference") -> str:
    a, b = found["a"], found["b"]
    at_line = "" if found["line"] is None else f" at line {found['line']}"
    match found["aspect"]:
        case "role":
            return "another role runs"
        case "workflow":
            return f"only the workflow differs: {a} in A, {b} in B"
        case "folder":
            return f"the folders differ: {a} in A, {b} in B"
        case "prompt":
            return _PARTS.get(found["part"] or "", "the prompts differ") + at_line
        case "output":
            return f"the outputs differ in the field {found['part']}"
        case "file" | "skills":
            return _of_one_side(found) or f"{_named_part(found)} differ"
        case "task" | "text":
            what = "tasks" if found["aspect"] == "task" else "texts beside the outputs"
            return f"the {what} differ{at_line}"
        case "route":
            return f"the same output leads to {_target(a)} in A, to {_target(b)} in B"
        case "attempts":
            return f"the failed attempts differ: {_kinds(a)} in A, {_kinds(b)} in B"
        case _:
            return f"the corrections differ: {len(a)} in A, {len(b)} in B"


def _of_one_side(found: "StepDifference") -> str:
    """Which side alone delivers a file, or has a skill; empty if both do."""
    if found["a"] is not None and found["b"] is not None:
        return ""
    what = "delivers the file" if found["aspect"] == "file" else "has the"
    return f"only {'B' if found['a'] is None else 'A'} {what} {found['part']}"


def _named_part(found: "StepDifference") -> str:
    what = "delivered files" if found["aspect"] == "file" else "texts of the"
    return f"the {what} {found['part']}"


def _target(route: str) -> str:
    word = _first_line(route).partition(":")[0]
    return {END: "the end", SUSPEND: "a suspension"}.get(word, word)


def _kinds(kinds: Any) -> str:
    return ", ".join(kinds) or "none"


def _first_line(text: str) -> str:
    return text.strip().split("\n")[0]
