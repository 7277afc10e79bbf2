"""Phases -> a workflow, and what each role delivered in the recorded run. Pure.

Each kind of phase is a role, and each change from one to another an edge. The statuses name what
comes next, since only a person or a model could name why.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from uwf_improve.distill.phases import Course, Kind, Phase

_END: Final = "$END"
_NOTE_WIDTH: Final = 96
_MOST_NOTES: Final = 40
MOST_SUMMARY: Final = 4000


@dataclass(frozen=True, kw_only=True)
class RoleText:
    """The words of a role. An agent may replace them."""

    name: str
    description: str
    goal: str
    procedure: str
    prompt: str


ROLES: Final[Mapping[Kind, RoleText]] = {
    "explore": RoleText(
        name="explorer",
        description="Finds out what the task needs.",
        goal="Find out what is there and what the task needs.",
        procedure="Read and search before anything is changed. Change nothing.",
        prompt="Explore what this needs.",
    ),
    "change": RoleText(
        name="developer",
        description="Makes the change.",
        goal="Make the change that the task asks for.",
        procedure="Change as little as you can.",
        prompt="Make the change.",
    ),
    "check": RoleText(
        name="checker",
        description="Checks the change by running programs.",
        goal="Find out by running programs whether the change works.",
        procedure="Run what proves or disproves that it works. Change nothing.",
        prompt="Check the change.",
    ),
    "answer": RoleText(
        name="author",
        description="Answers without tools.",
        goal="Answer what was asked.",
        procedure="Answer from what you know and from what you were given.",
        prompt="Answer.",
    ),
    "person": RoleText(
        name="person",
        description="Reads the result, and sends it back or accepts it.",
        goal="Decide whether the result is what you want, or what is missing.",
        procedure="",
        prompt="Is this what you want?",
    ),
}
_NEXT: Final[Mapping[Kind, str]] = {
    "explore": "needs-exploring",
    "change": "needs-change",
    "check": "needs-check",
    "answer": "needs-answer",
    "person": "needs-person",
}
DONE: Final = "done"


@dataclass(frozen=True, kw_only=True)
class RecordedVisit:
    """One step of the recorded run: the role, its output, its free text and its phase."""

    kind: Kind
    output: Mapping[str, str]
    phase: Phase


@dataclass(frozen=True, kw_only=True)
class WorkflowDraft:
    """A workflow as a document, and the recorded run as steps of it."""

    workflow: Mapping[str, Any]
    visits: Sequence[RecordedVisit]
    notes: Sequence[str]


def draft_of(course: Course, name: str, texts: Mapping[Kind, RoleText] = ROLES) -> WorkflowDraft:
    """The draft of a workflow with that name."""
    kinds = [phase.kind for phase in course.phases]
    follows: dict[Kind, dict[str, Kind | None]] = {kind: {} for kind in kinds}
    visits = []
    for phase, after in zip(course.phases, [*kinds[1:], None], strict=True):
        status = DONE if after is None else _NEXT[after]
        follows[phase.kind][status] = after
        visits.append(_visit(phase, status))
    if "person" in follows:
        follows["person"][DONE] = None
    if "check" in follows and "change" in follows:  # a check that cannot reject is none
        follows["check"].setdefault(_NEXT["change"], "change")
    first = texts[kinds[0]]
    start = {"role": first.name, "prompt": first.prompt}
    workflow = {
        "version": 1,
        "name": name,
        "description": "A draft, distilled from one recorded session.",
        "roles": {
            texts[kind].name: _role(kind, texts[kind], [*after]) for kind, after in follows.items()
        },
        "graph": {
            "$START": {"new": start, "resume": dict(start)},
            **{
                texts[kind].name: {
                    status: _edge(kind, then, texts) for status, then in after.items()
                }
                for kind, after in follows.items()
            },
        },
    }
    return WorkflowDraft(workflow=workflow, visits=visits, notes=[*_notes(course, texts)])


def _visit(phase: Phase, status: str) -> RecordedVisit:
    output = {"$status": status, _field(phase.kind): _summary(phase)}
    return RecordedVisit(kind=phase.kind, output=output, phase=phase)


def _field(kind: Kind) -> str:
    return "text" if kind == "person" else "summary"


def _summary(phase: Phase) -> str:
    """What the phase said last, else which tools it used."""
    said = phase.texts[-1] if phase.texts else ""
    if not said:
        counts: dict[str, int] = {}
        for use in phase.tools:
            counts[use.name] = counts.get(use.name, 0) + 1
        said = "Used " + ", ".join(f"{name} x {number}" for name, number in counts.items())
    return said[:MOST_SUMMARY]


def _role(kind: Kind, text: RoleText, statuses: Sequence[str]) -> dict[str, Any]:
    role: dict[str, Any] = {"description": text.description, "goal": text.goal}
    if kind == "person":
        role["human"] = True
    elif text.procedure:
        role["procedure"] = text.procedure
    variants = [_variant(kind, status) for status in statuses]
    role["frontmatter"] = variants[0] if len(variants) == 1 else {"oneOf": variants}
    return role


def _variant(kind: Kind, status: str) -> dict[str, Any]:
    if kind == "person" and status == DONE:
        return {"properties": {"$status": {"const": status}}, "required": ["$status"]}
    what = "What is missing." if kind == "person" else "What you found or did, for the next role."
    value = {"type": "string", "pattern": r"\S", "description": what}
    field = _field(kind)
    return {
        "properties": {"$status": {"const": status}, field: value},
        "required": ["$status", field],
    }


def _edge(kind: Kind, then: Kind | None, texts: Mapping[Kind, RoleText]) -> dict[str, str]:
    field = f"{{{{{{{_field(kind)}}}}}}}"
    if then is None:
        prompt = "Accepted." if kind == "person" else field
        return {"role": _END, "prompt": prompt}
    who = "The person" if kind == "person" else f"The {texts[kind].name}"
    return {"role": texts[then].name, "prompt": f"{texts[then].prompt}\n\n{who} says:\n{field}"}


def _notes(course: Course, texts: Mapping[Kind, RoleText]) -> Sequence[str]:
    """The course of the session, for the head of the file."""
    notes = [f"task: {course.task}"]
    for number, phase in enumerate(course.phases, 1):
        what = phase.texts[-1] if phase.texts else ", ".join(use.name for use in phase.tools)
        notes.append(f"{number}. {texts[phase.kind].name}: {what}")
    left_out = len(notes) - _MOST_NOTES
    return [*notes[:_MOST_NOTES], *([f"and {left_out} more"] if left_out > 0 else [])]


def as_yaml(draft: WorkflowDraft, source: str) -> str:
    """The file: a comment with the course of the session, then the workflow."""
    import yaml

    head = [
        f"Distilled from a session of {source}. Each status names what came next.",
        "Rename what you know better, add what a role must check, then: uwf workflow check",
        "",
        *draft.notes,
    ]
    comment = "\n".join(f"# {_one_line(each)}".rstrip() for each in head)
    body = yaml.safe_dump(dict(draft.workflow), sort_keys=False, allow_unicode=True, width=100)
    return f"{comment}\n\n{body}"


def _one_line(text: str) -> str:
    """A text that stays within its comment: white space and what is not printable is a space."""
    plain = "".join(each if each.isprintable() else " " for each in text)
    line = re.sub(r"\s+", " ", plain).strip()
    return line if len(line) <= _NOTE_WIDTH else line[: _NOTE_WIDTH - 1] + "…"
