"""A drafted edit of a workflow, as it is stored."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import unified_diff
from typing import Literal

State = Literal["drafted", "not accepted", "accepted", "applied"]
"""`not accepted`: by the sealed test; this text is never tested again."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """A text that an edit changes: `place` is `roles.writer.goal`, `graph.a.b.prompt` or
    `skills.NAME`.
    """

    place: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class Citation:
    """A finding that an edit answers, as it was when it was cited."""

    number: int
    kind: str
    place: str
    text: str
    steps: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class FileChange:
    """A file that an edit changes, by its path from the folder of the workflow file."""

    path: str
    before: str
    after: str


@dataclass(frozen=True, kw_only=True)
class WorkflowEdit:
    """A drafted edit.

    Attributes:
        edit: its id: that of its normalised changes.
        workflow: the name. file: the file of the workflow.
        champion, challenger: the published versions before and after.
        why: the reason, by the author. author: `person` or the agent; thread: of the agent.
        seen: recorded steps whose texts the author got.
        replayed: how many recorded threads of each verdict were replayed with the challenger.
    """

    edit: str
    workflow: str
    file: str
    champion: str
    challenger: str
    changes: Sequence[Change]
    files: Sequence[FileChange]
    findings: Sequence[Citation] = ()
    why: str = ""
    author: str = "person"
    thread: str | None = None
    seen: Sequence[str] = ()
    replayed: Mapping[str, int] = field(default_factory=dict)
    drafted_at_ms: int = 0

    def patch(self) -> str:
        """The edit as a patch for `git apply` and `patch -p1`."""
        return "".join(
            line
            for each in self.files
            for line in unified_diff(
                _lines(each.before), _lines(each.after), f"a/{each.path}", f"b/{each.path}"
            )
        )


def _lines(text: str) -> list[str]:
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]  # what is after the last line feed
    lines = [each for each in lines if each]
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n\\ No newline at end of file\n"
    return lines


def identity(workflow: str, changes: Sequence[Change]) -> str:
    """The id of an edit: of the texts that it writes, without regard to blanks, capitals and the
    order of its parts. The same words are the same edit at any time.
    """
    normal = sorted((each.place, " ".join(each.after.casefold().split())) for each in changes)
    return hashlib.sha256(repr((workflow, normal)).encode()).hexdigest()[:12]
