"""The names in a home of the original: its threads and its registered workflows."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.api.importers import Ending
from uwf_core.definitions import parse_yaml
from uwf_core.errors import BundleError, DefinitionError, StoreError
from uwf_core.ids import B32, ThreadId, b32
from uwf_import_original.database import rows_of
from uwf_import_original.fields import LATEST_MS
from uwf_import_original.home import OriginalHome, read_plain

_THREADS, _REGISTRY, _HISTORY = "@uwf/thread/", "@uwf/registry/", "@uwf/history/"
_TURNS = "@uwf/active-turn-head/"
_MOST = 1_000_000
_ENDED: Mapping[str, Ending] = {
    "end": "completed",
    "completed": "completed",
    "cancelled": "cancelled",
}


class OriginalThread(NamedTuple):
    """A thread as its name records it.

    Attributes:
        id: its id there. head: its newest step, or its start.
        status: idle, suspended, completed or cancelled. role, message: of a suspension.
        turns: the newest turn of its chain of turns, None in versions without one.
    """

    id: str
    head: str
    status: Ending
    role: str | None = None
    message: str | None = None
    turns: str | None = None

    @property
    def thread(self) -> ThreadId:
        """Its id here. The original pads a ULID to 130 bits at its end, the standard at its
        beginning: the same bits are another text, which sorts and gives the time of creation.
        """
        number = 0
        for letter in self.id:
            number = number << 5 | B32.index(letter)
        return ThreadId(b32(number >> 2, ThreadId.LENGTH))


class OriginalNames(NamedTuple):
    """The threads, oldest first, and the workflows by name."""

    threads: list[OriginalThread]
    workflows: dict[str, str]


def read_names(home: OriginalHome) -> OriginalNames:
    """All names of a home; what a database says wins over the lists of earlier versions.

    Raises:
        BundleError: one of its files cannot be read.
    """
    threads, workflows, turns = dict[str, OriginalThread](), dict[str, str](), dict[str, str]()
    for file in home.lists:
        for each in _listed(file):
            threads[each.id] = each
        workflows |= _listed_workflows(file)
    for file in reversed(home.databases):
        for name, value, tags in _variables(file):
            if name.startswith(_REGISTRY):
                workflows[name.removeprefix(_REGISTRY)] = value
            elif name.startswith(_TURNS):
                turns[name.removeprefix(_TURNS)] = value
            elif (found := _thread(name, value, tags)) is not None:
                threads[found.id] = found
    ours = [each._replace(turns=turns.get(each.id)) for each in threads.values()]
    return OriginalNames(sorted(ours), dict(sorted(workflows.items())))


def _thread(name: str, value: str, tags: Mapping[str, Any]) -> OriginalThread | None:
    for prefix, status in ((_THREADS, tags.get("status")), (_HISTORY, tags.get("reason", "end"))):
        if name.startswith(prefix):
            return _named(name.removeprefix(prefix), {**tags, "head": value, "status": status})
    return None


def _named(thread: str, entry: Mapping[str, Any]) -> OriginalThread | None:
    """The thread of an entry; None if its id is not one."""
    if not _is_id(thread):
        return None
    head, status = entry.get("head"), entry.get("status")
    role, message = entry.get("suspendedRole"), entry.get("suspendMessage")
    return OriginalThread(
        thread,
        head if isinstance(head, str) else "",
        "suspended" if status == "suspended" else _ENDED.get(str(status), "idle"),
        role if isinstance(role, str) else None,
        message if isinstance(message, str) else None,
    )


def _is_id(thread: str) -> bool:
    """Whether the original can have made this id: its two spare bits are 0, and its time a date.
    With others, two of its ids would be one here.
    """
    if len(thread) != ThreadId.LENGTH or not set(thread) <= set(B32):
        return False
    is_spare_zero = B32.index(thread[-1]) % 4 == 0
    return is_spare_zero and OriginalThread(thread, "", "idle").thread.created_ms <= LATEST_MS


def _variables(file: Path) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, value and tags of the variables in a database; none without one."""
    content, log = _unchanging(file)
    if content is None:
        return
    try:
        rows = rows_of(content, log, _MOST)
    except StoreError as error:
        raise BundleError(error.message, where=str(file)) from error
    for name, value, tags in rows:
        try:
            texts = json.loads(tags)
        except (TypeError, ValueError, RecursionError) as error:
            raise BundleError(f"the tags of {name!r} are not JSON", where=str(file)) from error
        if not (isinstance(name, str) and isinstance(value, str) and isinstance(texts, dict)):
            raise BundleError("a name in the database is not text", where=str(file))
        yield name, value, texts


def _unchanging(file: Path) -> tuple[bytes | None, bytes | None]:
    """A database and its write-ahead log at one moment.

    Raises:
        BundleError: a process writes them, or was stopped while it did.
    """
    files = [file, file.with_name(f"{file.name}-wal")]
    if (read_plain(file.with_name(f"{file.name}-journal")) or b"").startswith(_HOT):
        raise BundleError("a change of it is incomplete", where=str(file), hint=_OPEN_AGAIN)
    for _ in range(_TRIES):
        before = _stamps(files)
        content, log = map(read_plain, files)
        if _stamps(files) == before:
            return content, log
    raise BundleError("it changes while it is read", where=str(file), hint="stop the original uwf")


_TRIES = 5
_HOT = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The beginning of a rollback journal in use. It is not applied: a journal can name any file to be
deleted.
"""
_OPEN_AGAIN = "run any command of the original uwf, which completes or removes the change"


def _stamps(files: list[Path]) -> list[tuple[int, ...] | None]:
    """What changes when a file is written."""
    found: list[tuple[int, ...] | None] = []
    for each in files:
        try:
            now = each.lstat()
        except OSError:  # reading it reports what is wrong
            found.append(None)
        else:
            found.append((now.st_ino, now.st_size, now.st_mtime_ns))
    return found


def _listed(file: Path) -> Iterator[OriginalThread]:
    """The threads in a list of an early version."""
    if file.name == "threads.yaml":
        for thread, entry in _yaml(file).items():
            found = _named(thread, {"head": entry} if isinstance(entry, str) else _mapping(entry))
            if found is not None:
                yield found
    elif file.name == "history.jsonl":
        for line in _text(file).split("\n"):
            try:
                entry = _mapping(json.loads(line)) if line.strip() else {}
            except (ValueError, RecursionError):  # the original skips it as well
                continue
            status = "cancelled" if entry.get("reason") == "cancelled" else "end"
            found = _named(str(entry.get("thread", "")), {**entry, "status": status})
            if found is not None:
                yield found


def _listed_workflows(file: Path) -> dict[str, str]:
    if file.name != "workflows.yaml":
        return {}
    return {name: ref for name, ref in _yaml(file).items() if isinstance(ref, str)}


def _yaml(file: Path) -> dict[str, Any]:
    try:
        return _mapping(parse_yaml(_text(file), file=str(file)))
    except DefinitionError as error:
        raise BundleError(error.message, where=error.where or str(file)) from error


def _text(file: Path) -> str:
    return (read_plain(file) or b"").decode("utf-8", "replace")


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
