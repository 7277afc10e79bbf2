"""A session -> a folder with the draft and its first test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from uwf_core.errors import UsageError
from uwf_improve.distill.draft import RoleText, as_yaml, draft_of
from uwf_improve.distill.phases import Course, Kind
from uwf_improve.distill.record import record_draft


def write_draft(
    folder: Path, name: str, course: Course, source: str, texts: Mapping[Kind, RoleText]
) -> dict[str, Any]:
    """Write `NAME.yaml` and `recorded/NAME.thread`; nothing stays if the draft is not right.

    Raises:
        UsageError: the folder holds something, or cannot be written. DraftError.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError("the folder is not empty", where=str(folder), hint="choose another: -o")
    draft = draft_of(course, name, texts)
    file, bundle = folder / f"{name}.yaml", folder / "recorded" / f"{name}.thread"
    try:
        bundle.parent.mkdir(parents=True)
        file.write_text(as_yaml(draft, source), encoding="utf-8", errors="replace")
        steps = record_draft(draft, file, course.task, bundle)
    except OSError as error:
        raise UsageError(f"cannot write: {error.strerror}", where=str(folder)) from error
    except BaseException:
        _remove(file, bundle)
        raise
    return {
        "name": name,
        "folder": str(folder),
        "workflow": str(file),
        "recorded": str(bundle),
        "format": source,
        "roles": list(draft.workflow["roles"]),
        "steps": steps,
    }


def _remove(file: Path, bundle: Path) -> None:
    file.unlink(missing_ok=True)
    bundle.unlink(missing_ok=True)
    bundle.parent.rmdir()
    file.parent.rmdir()
