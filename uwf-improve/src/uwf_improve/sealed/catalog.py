"""The stored sets. Each record of a set has a name, `@uwf/improve/set/<SET>/<NUMBER>`, so that none
is collected, and contains the reference of the one before it, so that none can be taken out; the
newest one is also named outside of the store.

In its folder beside the store, a set also has an anchor: the number and reference of its newest
record. The chain in the store shows a record that was taken out of its middle, but not that the
newest ones were deleted: what is left is a whole chain. The anchor names the end that was there.
"""

import re
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from uwf_core.api import read_regular
from uwf_core.client import Client
from uwf_core.commands import replaced_file
from uwf_core.errors import StoreError, UnknownIdError, UsageError
from uwf_core.fields.records import payload_schema, read_payload, write_record
from uwf_eval.run.folder import locked
from uwf_improve.gate.bar import MOST_TESTS
from uwf_improve.gate.sides import sealed_units
from uwf_improve.sealed.records import Event, SetRecord

if TYPE_CHECKING:
    from uwf_improve.documents import SetRow

_ANCHOR: Final = "head"


def _write_anchor(folder: Path, number: int, ref: str) -> None:
    """Store the end of a chain durably; an older end never replaces a newer one."""
    known = _anchor(folder)
    if known is not None and known[0] >= number:
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with replaced_file(folder / _ANCHOR, "the end of a set's records") as file:
        file.write(f"{number} {ref}\n".encode())


def _check_anchor(folder: Path, name: str, refs: dict[int, str]) -> None:
    """Check that the end that was there is still there; `refs`: the records by number.

    Raises:
        StoreError: newer records were deleted, or the end was replaced.
    """
    known = _anchor(folder)
    if known is None or refs.get(known[0]) == known[1]:
        return
    missing = known[0] - len(refs)
    what = f"the newest {missing} records" if missing > 1 else "the newest record"
    raise StoreError(
        f"{what} of the set {name!r} {'were' if missing > 1 else 'was'} deleted or replaced",
        where=str(folder / _ANCHOR),
        hint="its tests cannot be trusted: restore the store, or seal a new set of new tasks",
    )


def _anchor(folder: Path) -> tuple[int, str] | None:
    try:
        number, ref = (folder / _ANCHOR).read_text(encoding="ascii").split()
        return int(number), ref
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise StoreError(
            "the end of a set's records cannot be read", where=str(folder / _ANCHOR),
            hint="restore the file from a backup",
        ) from error  # fmt: skip


_SET: Final = "@uwf/improve/set/"
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}\Z")
FORMAT: Final = "1"
_READ: Final = (".md", ".txt", ".yaml", ".yml", ".json", ".py", ".sh", ".csv", ".toml")
_MOST: Final = 200_000


class Sets:
    """The sets in a client's store."""

    def __init__(self, client: Client) -> None:
        self._nodes = client.nodes
        self._home = client.home

    def read(self, name: str) -> SetRecord:
        """The newest record of a set; its whole chain is verified.

        Raises:
            UnknownIdError: unknown set. StoreError: a record is missing, damaged or replaced.
        """
        found = self._read(name)
        if found is None:
            raise UnknownIdError(
                f"unknown set {name!r}",
                hint="`uwf improve list` shows all sets; `uwf improve seal` makes one",
            )
        return found

    def exists(self, name: str) -> bool:
        """Whether there is a set of that name.

        Raises:
            UsageError: the name is not valid. StoreError: its records were deleted.
        """
        if not _NAME.match(name):
            raise UsageError(
                f"{name!r} is not a valid name of a set",
                hint="use a letter, then letters, digits, `.`, `_` and `-`; at most 64 characters",
            )
        return self._read(name) is not None

    def known(self) -> Sequence[SetRecord]:
        """The newest record of each set, by name, also where its chain is damaged: its tests cannot
        be trusted then, but its sealed tasks stay sealed, and other sets can be used.

        Raises:
            StoreError: no record of a set can be read.
        """
        names = sorted({each.name.split("/")[-2] for each in self._nodes.names(_SET)})
        return [self._newest(each) for each in names]

    def _newest(self, name: str) -> SetRecord:
        newest, *earlier = self._nodes.names(f"{_SET}{name}/")[::-1]
        for each in earlier:
            try:
                return read_payload(SetRecord, self._nodes.get(newest.ref))
            except StoreError:
                newest = each
        return read_payload(SetRecord, self._nodes.get(newest.ref))

    def append(self, record: SetRecord, event: Event, **changes: Any) -> SetRecord:
        """Store the state after an event; of two processes one gets an error.

        Raises:
            BusyError: another process has appended a record.
        """
        before = self._nodes.name(_name(record.set, record.number))
        new = replace(
            record, number=record.number + 1, prev=None if before is None else before.ref,
            event=event, at_ms=time.time_ns() // 1_000_000, **changes,
        )  # fmt: skip
        with self._nodes.transaction():
            kind = self._nodes.put_type(payload_schema(SetRecord, "uwf sealed set"), trusted=True)
            ref = self._nodes.put(kind, write_record(new), trusted=True)
            tags = {"event": event, "format": FORMAT}
            self._nodes.set_name(_name(new.set, new.number), ref, tags, None)
        _write_anchor(self.folder(new.set), new.number, str(ref))
        return new

    def held(self, name: str) -> AbstractContextManager[None]:
        """Keep other processes from testing the set.

        Raises:
            BusyError: another one does.
        """
        what = f"the set {name!r} is being tested by another process"
        return locked(self.folder(name) / "lock", what)

    def folder(self, name: str) -> Path:
        """The folder of the copies of its tasks."""
        return self._home / "improve" / "sets" / name

    def sealed_store(self, name: str) -> str:
        """The store of its sealed trials: no command opens it."""
        return f"sqlite:{self.folder(name) / 'trials.db'}"

    def _read(self, name: str) -> SetRecord | None:
        records = self._nodes.names(f"{_SET}{name}/")
        newest, prev = None, None
        for number, each in enumerate(records, 1):
            newest = read_payload(SetRecord, self._nodes.get(each.ref))
            if (newest.number, newest.prev, each.name) != (number, prev, _name(name, number)):
                raise StoreError(
                    f"record {number} of the set {name!r} does not follow the one before it",
                    where=each.name,
                    hint="its tests cannot be trusted; seal a new set of new tasks",
                )
            prev = each.ref
        refs = {number: str(each.ref) for number, each in enumerate(records, 1)}
        _check_anchor(self.folder(name), name, refs)
        return newest


def set_row(record: SetRecord) -> "SetRow":
    """A set for lists; `sources`: of the sealed tasks, the units of a test."""
    left = MOST_TESTS - len(record.spent)
    level = record.bar.level(len(record.spent) + 1) if left > 0 else None
    return {
        "set": record.set,
        "sealed": len(record.sealed),
        "sources": len(sealed_units(record.places)),
        "open": len(record.tasks) - len(record.sealed),
        "tests": len(record.tests),
        "left": max(left, 0),
        "nextLevel": level,
    }


def secrets_of(client: Client, name: str | None) -> list[tuple[str, str]]:
    """The texts of the tasks and judges of a set, or of all sets, by what they belong to."""
    sets = Sets(client)
    records = sets.known() if name is None else [sets.read(name)]
    return [each for record in records for each in _texts(sets.folder(record.set))]


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    """The texts of tasks; which task it is stays secret."""
    for file in sorted((folder / "tasks").rglob("*")):
        if file.suffix in _READ and file.is_file() and not file.is_symlink():
            if "agents" in file.parts or file.stat().st_size > _MOST:
                continue
            data = read_regular(str(file), _MOST, within=str(folder))
            yield "a task", data.decode("utf-8", "replace")


def _name(name: str, number: int) -> str:
    return f"{_SET}{name}/{number:06}"
