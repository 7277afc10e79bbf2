"""The log: one JSON line for each command that ran or changed something.

Files `uwf.log`, `uwf.log.1`, … under `$UWF_HOME/logs`, 0600 in a folder of 0700. A line is a
`LogEntry` with the format's version. A writer locks the folder, so that
lines stay whole and no process rotates a file that another one has just created.
"""

# `log` is answered without pathlib, which takes longer than reading the log:
# ruff: noqa: PTH105, PTH110, PTH116

import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NotRequired, TypedDict

from uwf_core.errors import AmbiguousIdError, StoreError, UnknownIdError
from uwf_core.ids import b32
from uwf_core.process import crash_points
from uwf_core.process.folders import make_folder

FORMAT: Final = 1
FILE_BYTES: Final = 2 * 1024 * 1024
KEPT_FILES: Final = 4
_LONGEST_TEXT: Final = 16_000
_ID_LENGTH: Final = 14


_TYPES: Final = {
    "id": str, "atMs": int, "command": list, "cwd": str, "thread": str | None, "exitCode": int,
    "durationMs": int, "pid": int, "uwf": str, "error": dict | None,
}  # fmt: skip
"""The fields of every entry and their types; a line without them is damaged."""


class LoggedError(TypedDict):
    """The error of a command, as in its error document."""

    code: str
    message: str
    where: str | None
    hint: str | None


class LogEntry(TypedDict):
    """One command. `command` are its words without `uwf`; times and durations are ms."""

    version: int
    id: str
    atMs: int
    command: list[str]
    cwd: str
    thread: str | None
    exitCode: int
    durationMs: int
    pid: int
    uwf: str
    error: LoggedError | None
    traceback: NotRequired[str | None]


def new_id(at_ms: int) -> str:
    """An id that sorts by time: 45 bits of ms since 1970, then 25 random bits."""
    return b32((at_ms << 25) | (int.from_bytes(os.urandom(4), "big") & 0x1FFFFFF), _ID_LENGTH)


class LogFile:
    """The log of one home.

    Args:
        home: `$UWF_HOME`; created by writing, never by reading.
        redact: removes secrets from a text before it is written.
        file_bytes: the size from which a file is rotated before the next line.
    """

    def __init__(
        self, home: str, redact: Callable[[str], str], *, file_bytes: int = FILE_BYTES
    ) -> None:
        self.folder = f"{home}/logs"
        self._redact = redact
        self._file_bytes = file_bytes

    def append(self, entry: LogEntry) -> None:
        """Write an entry, its texts redacted and cut to 16,000 characters.

        Raises:
            StoreError: the log cannot be written.
        """
        line = json.dumps(self._safe(entry), ensure_ascii=True).encode() + b"\n"
        try:
            with self._locked():
                self._rotate()
                crash_points.reach("log")
                _append_all(self._file(0), line)
        except OSError as error:
            raise StoreError(
                f"the log cannot be written: {error.strerror}", where=self.folder
            ) from error

    def entries(self) -> Iterator[LogEntry]:
        """The entries, newest first, without lines that are damaged or of a newer uwf.

        Raises:
            StoreError: a file of the log cannot be read.
        """
        for number in range(KEPT_FILES):
            try:
                with open(self._file(number), "rb") as file:
                    lines = file.read().splitlines()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StoreError(
                    f"the log cannot be read: {error.strerror}", where=self._file(number)
                ) from error
            yield from (entry for line in reversed(lines) if (entry := _entry(line)))

    def find(self, word: str) -> LogEntry:
        """The entry with that id or unique prefix of an id, or the newest (`@last`).

        Raises:
            UnknownIdError: none matches. AmbiguousIdError: several match.
        """
        found = None
        for entry in self.entries():
            if word == "@last" or entry["id"] == word.upper():
                return entry
            if entry["id"].startswith(word.upper()):
                if found is not None:
                    raise AmbiguousIdError(
                        f"several entries of the log begin with {word!r}",
                        hint="give more of its characters; `uwf log list` shows the ids",
                    )
                found = entry
        if found is None:
            raise UnknownIdError(f"no entry {word!r} in the log", hint="`uwf log list` shows them")
        return found

    def _safe(self, value: Any) -> Any:
        if isinstance(value, str):
            text = self._redact(value)
            return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…"
        if isinstance(value, Mapping):
            return {key: self._safe(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._safe(each) for each in value]
        return value

    def _file(self, number: int) -> str:
        return f"{self.folder}/uwf.log" + (f".{number}" if number else "")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_folder(self.folder)
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _rotate(self) -> None:
        try:
            if os.stat(self._file(0)).st_size < self._file_bytes:
                return
        except FileNotFoundError:
            return
        for number in range(KEPT_FILES - 1, 0, -1):
            if os.path.exists(self._file(number - 1)):
                os.replace(self._file(number - 1), self._file(number))


def _append_all(file: str, data: bytes) -> None:
    """Append all of `data`, or nothing: a line cut by a full disk is removed."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def _entry(line: bytes) -> LogEntry | None:
    try:
        entry: LogEntry = json.loads(line)
        whole = entry["version"] == FORMAT and all(
            isinstance(entry[key], type_)  # type: ignore[literal-required]
            for key, type_ in _TYPES.items()
        )
        return entry if whole else None
    except (ValueError, KeyError, TypeError):  # damaged, or not ours: the other lines still count
        return None
