"""Write an edit to the files of its workflow."""

import os
from pathlib import Path

from uwf_core.client import Client
from uwf_core.commands import replaced_file
from uwf_core.errors import WrongStateError
from uwf_improve.edit.catalog import Edits
from uwf_improve.edit.files import read_text
from uwf_improve.edit.records import FileChange, WorkflowEdit


def apply_edit(client: Client, edit: WorkflowEdit, *, untested: bool = False) -> list[str]:
    """Write an accepted edit to its files; the files that changed, none if it was applied before.

    Raises:
        WrongStateError: it is not accepted, or a file has changed since it was drafted.
    """
    state = Edits(client).state(edit.edit)
    if state not in ("accepted", "applied") and not untested:
        raise WrongStateError(
            f"the edit {edit.edit} is {state}",
            hint=f"`uwf improve decide {edit.edit} --set SET` tests it",
        )
    folder = Path(edit.file).parent
    left = [each for each in edit.files if _check(folder, each)]
    for each in left:
        _write((folder / each.path).resolve(), each.after)
    if state == "accepted":
        Edits(client).save(edit, "applied")
    return [str(folder / each.path) for each in left]


def _check(folder: Path, change: FileChange) -> bool:
    """Whether a file is as it was before the edit; False: it is as after it."""
    place = folder / change.path
    now = read_text(place, "utf-8")
    if now not in (change.before, change.after):
        raise WrongStateError(
            "the file has changed since the edit was drafted; nothing is written",
            where=str(place),
            hint="restore that version, or apply the patch of `uwf improve show` by hand",
        )
    return now != change.after


def _write(place: Path, text: str) -> None:
    """Replace a file as a whole, with its permissions."""
    with replaced_file(place, "the file") as file:
        os.fchmod(file.fileno(), place.stat().st_mode & 0o777)
        file.write(text.encode())
