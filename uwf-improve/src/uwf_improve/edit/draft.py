"""Draft an edit: check it, guard it, replay it, store it. No trial runs here."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from uwf_core.api import read_regular
from uwf_core.client import Client, ThreadFilter
from uwf_core.errors import DefinitionError, UsageError, UwfError
from uwf_improve.edit.catalog import Edits
from uwf_improve.edit.files import SKILL, SKILLS, copy_with, skill_files
from uwf_improve.edit.guard import refusals
from uwf_improve.edit.parts import editable
from uwf_improve.edit.records import Change, Citation, FileChange, WorkflowEdit, identity

_REPLAYED: Final = 10
"""So many of the newest threads are replayed with the edited workflow."""


class EditRefused(UsageError):
    """The guard refuses an edit; `problems` are all its reasons."""

    code = "edit-refused"


@dataclass(frozen=True, kw_only=True)
class Draft:
    """What an author proposes.

    Attributes:
        file: of the workflow. texts: the new files by their paths from its folder.
        findings: that it answers. seen: recorded steps whose texts the author got.
        secrets: texts of tasks and judges that it must not contain.
    """

    file: Path
    texts: Mapping[str, str]
    findings: Sequence[Citation] = ()
    why: str = ""
    author: str = "person"
    thread: str | None = None
    seen: Sequence[str] = ()
    secrets: Iterable[tuple[str, str]] = ()


def draft_edit(client: Client, draft: Draft) -> WorkflowEdit:
    """Check, guard and replay an edit, and store it as drafted.

    Raises:
        DefinitionError, EditRefused: as `prepare_edit`.
    """
    made = prepare_edit(client, draft)
    Edits(client).save(made, Edits(client).state(made.edit) or "drafted")
    return made


def prepare_edit(client: Client, draft: Draft) -> WorkflowEdit:
    """Check, guard and replay an edit, and publish both versions; nothing lists it.

    Raises:
        DefinitionError: the edited workflow has errors. EditRefused: the guard refuses it, or it
            was tested before and not accepted.
    """
    _check_paths(draft)
    with TemporaryDirectory(prefix="uwf-improve-") as scratch:
        before = copy_with(draft.file, Path(scratch, "before"), {})
        after = copy_with(draft.file, Path(scratch, "after"), draft.texts)
        _check(client, after, draft.file)
        shown = client.workflow(str(before)), client.workflow(str(after))
        changes = _changes(shown, before, after)
        _guard(shown, changes, draft)
        workflow = str(shown[0]["name"])
        edit = identity(workflow, changes)
        folder = str(draft.file.parent)
        champion = str(client.unattended.publish(str(before), folder))
        challenger = str(client.unattended.publish(str(after), folder))
        _check_known(client, edit, champion, challenger)
        replayed = _replayed(client, workflow, champion, challenger)
    return WorkflowEdit(
        edit=edit, workflow=workflow, file=str(draft.file), champion=champion,
        challenger=challenger, changes=changes, files=_files(draft), findings=draft.findings,
        why=draft.why, author=draft.author, thread=draft.thread, seen=draft.seen, replayed=replayed,
        drafted_at_ms=time.time_ns() // 1_000_000,
    )  # fmt: skip


def _check_paths(draft: Draft) -> None:
    """Only the workflow file and the skills beside it may change."""
    for path in draft.texts:
        parts = Path(path).parts
        skill = len(parts) == 3 and parts[0] == SKILLS and parts[2] == SKILL
        known = skill and (draft.file.parent / path).is_file()
        if path != draft.file.name and not known:
            raise _refused([f"it changes the file {path!r}, which no edit may change"])


def _check(client: Client, after: Path, original: Path) -> None:
    checked = client.check_workflow(after)
    errors = [dict(each) for each in checked["problems"] if each["severity"] == "error"]
    for each in errors:
        each["file"] = str(each["file"]).replace(str(after.parent), str(original.parent))
    if errors:
        first = errors[0]
        raise DefinitionError(
            f"the edited workflow is not valid: {first['message']}",
            where=f"{first['file']}:{first['line']}:{first['column']}",
            hint=first["hint"],
            problems=errors,
        )


def _changes(
    shown: tuple[Mapping[str, Any], Mapping[str, Any]], before: Path, after: Path
) -> list[Change]:
    old, new = editable(shown[0]), editable(shown[1])
    skills = skill_files(before), skill_files(after)
    old |= {f"skills.{name}": text for name, text in skills[0].items()}
    new |= {f"skills.{name}": text for name, text in skills[1].items()}
    return [
        Change(place=place, before=old.get(place, ""), after=new.get(place, ""))
        for place in sorted({*old, *new})
        if old.get(place, "") != new.get(place, "")
    ]


def _guard(
    shown: tuple[Mapping[str, Any], Mapping[str, Any]], changes: Sequence[Change], draft: Draft
) -> None:
    found = refusals(*shown, changes, draft.secrets)
    if found:
        raise _refused(found)


def refuse_unfit(client: Client, edit: WorkflowEdit, secrets: Iterable[tuple[str, str]]) -> None:
    """Guard a stored edit again, now with the texts of a set.

    Raises:
        EditRefused: it contains such texts, or was stored by other means than `draft_edit`.
    """
    shown = client.workflow(edit.champion), client.workflow(edit.challenger)
    found = refusals(*shown, edit.changes, secrets)
    if identity(edit.workflow, edit.changes) != edit.edit:
        found.append("its texts are not those that were checked")
    if found:
        raise _refused(found)


def _refused(reasons: Sequence[str]) -> EditRefused:
    others = len(reasons) - 1
    more = f" (and {others} more reason{'s' if others > 1 else ''})" if others else ""
    return EditRefused(
        f"the edit is refused: {reasons[0]}{more}",
        hint="an edit changes goals, procedures, outputs, descriptions, edge prompts or skills",
        problems=[{"message": each} for each in reasons],
    )


def _check_known(client: Client, edit: str, champion: str, challenger: str) -> None:
    """A verdict holds for these texts; an acceptance also for these versions alone."""
    state = Edits(client).state(edit)
    if state == "not accepted":
        raise _refused([f"it was tested before and not accepted (edit {edit})"])
    if state in ("accepted", "applied"):
        known, _ = Edits(client).find(edit)
        if (known.champion, known.challenger) != (champion, challenger):
            raise _refused([f"it was accepted for another version of the workflow (edit {edit})"])


def _replayed(client: Client, workflow: str, champion: str, challenger: str) -> dict[str, int]:
    """Replay the newest threads; an edit of texts keeps every route.

    Raises:
        EditRefused: a recorded thread takes another route with the edit than without it.
    """
    counts: Counter[str] = Counter()
    rows = client.list(ThreadFilter(all=True, workflow=workflow, limit=_REPLAYED))
    for row in rows:
        try:
            now = client.replay(row["thread"], challenger)
            was = client.replay(row["thread"], champion)
        except UwfError:
            counts["unreadable"] += 1
            continue
        counts[now["verdict"]] += 1
        broken = [
            one
            for one, other in zip(now["steps"], was["steps"], strict=False)
            if one["verdict"] == "different" and other["verdict"] in ("same", "stale")
        ]
        if broken:
            step = broken[0]
            raise _refused([
                f"the recorded step {step['step']} of thread {row['thread']} no longer fits: "
                f"{step['differences'][0]['part'] if step['differences'] else step['role']}"
            ])  # fmt: skip
    return dict(counts)


def _files(draft: Draft) -> list[FileChange]:
    return [
        FileChange(
            path=path,
            before=read_regular(path, within=str(draft.file.parent)).decode("utf-8"),
            after=text,
        )
        for path, text in sorted(draft.texts.items())
    ]
