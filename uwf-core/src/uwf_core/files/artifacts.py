"""Delivered files: check the files that an output names, and store them as nodes.

The bytes that are checked are the bytes that are stored: each file is opened once, beneath the
folder of the step and without following a link, and read to its end.
"""

# Loaded by steps that deliver files: pathlib is not imported for that.

import errno
import os
import stat
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.extract import ExtractProblem
from uwf_core.cas.codec import dotted
from uwf_core.files.secrets import holds_secret
from uwf_core.process.path_walk import PathOutside, PathWalk, open_regular, path_components

if TYPE_CHECKING:
    from uwf_core.api.redact import Redactor
    from uwf_core.cas.store import Store
    from uwf_core.extract.file_fields import FileField
    from uwf_core.ids import Ref

PART_BYTES = 1_000_000
"""The bytes of a part, but of the last one, which may be shorter."""
MAX_BYTES = 50_000_000
"""The most bytes of all files of one output."""
MAX_FILES = 1_000
"""The most files of one output."""
MODE = 0o777
"""The bits of a mode that are stored; a set-id bit never is."""

_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_LONGEST_SHOWN = 200

PutNode = Callable[[str, Mapping[str, Any]], "Ref"]
"""Stores a node of a kind of `thread.types.NODES`."""


class DeliveredFile(NamedTuple):
    """A file that was read and found good: its path as the role wrote it, permissions, bytes."""

    path: str
    mode: int
    data: bytes


class _RejectedError(Exception):
    """Why a file cannot be delivered, as the end of a sentence that begins with its path."""


def file_words(path: str) -> str:
    """How each problem of a delivered file begins."""
    shown = path if len(path) <= _LONGEST_SHOWN else f"{path[:_LONGEST_SHOWN]}…"
    return f"the file {shown!r}"


def read_delivered(
    fields: "Sequence[FileField]", folder: str, redactor: "Redactor"
) -> tuple[list[DeliveredFile], tuple[ExtractProblem, ...]]:
    """The files that an output names, each path once, or what is wrong with them.

    Args:
        fields: where the output names them. folder: the folder of the step.
        redactor: knows the secrets, which no file may hold.
    """
    places = {path: dotted(keys) for keys, path in reversed(fields)}
    paths = list(dict.fromkeys(path for _, path in fields))
    if len(paths) > MAX_FILES:
        why = f"is one of {len(paths):,}; an output may name at most {MAX_FILES:,}"
        return [], (_problem(places, paths[MAX_FILES], why),)
    found, problems, left = list[DeliveredFile](), list[ExtractProblem](), MAX_BYTES
    with ExitStack() as stack:
        try:
            root = os.open(folder, _FOLDER)
        except OSError as fault:
            why = f"cannot be read, because the folder of the step cannot: {fault.strerror}"
            return [], (_problem(places, paths[0], why),)
        stack.callback(os.close, root)
        roots = (os.path.realpath(folder), os.path.normpath(folder))
        for path in paths:
            try:
                each = _read(path, root, roots, left)
                _check_secrets(each.data, redactor)
            except _RejectedError as why:
                problems.append(_problem(places, path, str(why)))
            else:
                left -= len(each.data)
                found.append(each)
    return ([], tuple(problems)) if problems else (found, ())


def store_delivered(store: "Store", put: PutNode, files: Sequence[DeliveredFile]) -> dict[str, str]:
    """Store the files, without waiting for the disk; the reference of each by its path. Nothing
    refers to them until the step does, whose transaction waits.
    """
    stored = {}
    for each in files:
        with store.transaction(durable=False):
            parts = [
                str(put("part", {"data": b64encode(each.data[at : at + PART_BYTES]).decode()}))
                for at in range(0, len(each.data), PART_BYTES)
            ]
            name = os.path.basename(each.path)
            file = {"name": name, "size": len(each.data), "mode": each.mode, "parts": parts}
            stored[each.path] = str(put("file", file))
    return stored


def _problem(places: Mapping[str, str], path: str, why: str) -> ExtractProblem:
    return ExtractProblem(places[path], f"{file_words(path)} {why}")


def _read(path: str, root: int, roots: tuple[str, ...], left: int) -> DeliveredFile:
    """The file at a path.

    Raises:
        _RejectedError: it cannot be delivered, for the reason in the text.
    """
    try:
        with PathWalk(root, path_components(_plain(path), roots), roots=roots) as walk:
            place = walk.end()
            if place.name == ".":
                raise IsADirectoryError
            descriptor, status = open_regular(place.folder, place.name)
    except PathOutside as fault:
        raise _RejectedError("is outside of the folder of the step") from fault
    except OSError as fault:
        raise _RejectedError(_why(fault)) from fault
    try:
        data = _bytes_of(descriptor, status, left)
    finally:
        os.close(descriptor)
    return DeliveredFile(path, stat.S_IMODE(status.st_mode) & MODE, data)


def _plain(path: str) -> str:
    if not path or path.endswith("/"):
        raise _RejectedError("does not exist; give the path of a file")
    if "\0" in path:
        raise _RejectedError("does not exist: no path contains a NUL")
    return path


def _why(fault: OSError) -> str:
    if isinstance(fault, FileNotFoundError | NotADirectoryError):
        return "does not exist; write it in your working folder, or correct the path"
    if isinstance(fault, IsADirectoryError):
        return "is a folder; name each file of it"
    if fault.errno in (errno.EINVAL, errno.ENXIO):  # a socket cannot even be opened
        return "is not a regular file"
    if fault.errno in (errno.ELOOP, errno.EMLINK):
        return "is a link that leads nowhere, or was replaced by one meanwhile"
    return f"cannot be read: {fault.strerror}"


def _bytes_of(descriptor: int, status: os.stat_result, left: int) -> bytes:
    """The bytes of an open file.

    Raises:
        _RejectedError: there are more than `left`, or they change meanwhile.
    """
    if status.st_size > left:
        raise _RejectedError(
            f"has {status.st_size:,} bytes; all files of an output together may have "
            f"{MAX_BYTES:,}, those named before it included"
        )
    parts, size = list[bytes](), 0
    try:
        while size <= status.st_size and (part := os.read(descriptor, PART_BYTES)):
            parts.append(part)
            size += len(part)
    except OSError as fault:
        raise _RejectedError(f"cannot be read: {fault.strerror}") from fault
    after = os.fstat(descriptor)
    if size != status.st_size or after.st_mtime_ns != status.st_mtime_ns:
        raise _RejectedError("changed while it was read; deliver a file that is finished")
    return b"".join(parts)


def _check_secrets(data: bytes, redactor: "Redactor") -> None:
    """Search the bytes for known secrets, plain or in another form.

    Raises:
        _RejectedError: there is one.
    """
    chunks = (data[at : at + PART_BYTES] for at in range(0, len(data), PART_BYTES))
    if holds_secret(chunks, redactor):
        raise _RejectedError("holds a secret that uwf knows; remove it from the file")
