"""The number and reference of a set's newest record, kept in its folder beside the store.

The chain in the store shows a record that was taken out of its middle, but not that the newest
ones were deleted: what is left is a whole chain. The anchor names the end that was there.
"""

import os
from pathlib import Path
from typing import Final

from uwf_core.errors import StoreError

_FILE: Final = "head"


def write_anchor(folder: Path, number: int, ref: str) -> None:
    """Store the end of a chain durably; an older end never replaces a newer one."""
    known = _read(folder)
    if known is not None and known[0] >= number:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = folder / f".{_FILE}.{os.getpid()}"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as stream:
        stream.write(f"{number} {ref}\n")
        stream.flush()
        os.fsync(stream.fileno())
    draft.replace(folder / _FILE)


def check_anchor(folder: Path, name: str, refs: dict[int, str]) -> None:
    """Check that the end that was there is still there; `refs`: the records by number.

    Raises:
        StoreError: newer records were deleted, or the end was replaced.
    """
    known = _read(folder)
    if known is None or refs.get(known[0]) == known[1]:
        return
    missing = known[0] - len(refs)
    what = f"the newest {missing} records" if missing > 1 else "the newest record"
    raise StoreError(
        f"{what} of the set {name!r} {'were' if missing > 1 else 'was'} deleted or replaced",
        where=str(folder / _FILE),
        hint="its tests cannot be trusted: restore the store, or seal a new set of new tasks",
    )


def _read(folder: Path) -> tuple[int, str] | None:
    try:
        number, ref = (folder / _FILE).read_text(encoding="ascii").split()
        return int(number), ref
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StoreError(
            "the end of a set's records cannot be read", where=str(folder / _FILE),
            hint="restore the file from a backup",
        ) from error  # fmt: skip
