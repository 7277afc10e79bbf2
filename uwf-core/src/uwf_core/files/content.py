"""Delivered files as they are stored: their facts and their bytes, and a folder with copies."""

import os
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.errors import CorruptNodeError, UsageError
from uwf_core.files.artifacts import MODE
from uwf_core.ids import Ref
from uwf_core.process.path_walk import ENTER, PathOutside, PathWalk, WalkedPath

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.types import FilePayload

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_SHOWN = 10


class RecordedFile:
    """A file that a role delivered, as it was when its step was stored.

    Attributes:
        path: the path as the role wrote it; in a step of branches with the name or number of the
            branch and a slash before it.
        ref: the reference of its node.
    """

    def __init__(self, store: "Store", path: str, ref: str) -> None:
        self._store = store
        self.path, self.ref = path, ref

    @property
    def node(self) -> "FilePayload":
        """The node's payload."""
        found: FilePayload = self._store.payload(Ref(self.ref))
        return found

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.node["size"]

    @property
    def mode(self) -> int:
        """Its permissions, such as 0o644."""
        return self.node["mode"] & MODE

    def chunks(self) -> Iterator[bytes]:
        """Its bytes, in chunks of at most 1 MB.

        Raises:
            CorruptNodeError: the parts are not base64, or not as many bytes as the node says.
        """
        node, size = self.node, 0
        for part in node["parts"]:
            try:
                chunk = b64decode(self._store.payload(Ref(part))["data"], validate=True)
            except (Base64Error, ValueError) as error:
                raise CorruptNodeError(f"the part {part} of a file is not base64") from error
            size += len(chunk)
            yield chunk
        if size != node["size"]:
            raise CorruptNodeError(
                f"the file {self.ref} has {size} bytes, but its node says {node['size']}"
            )

    def read(self) -> bytes:
        """All of its bytes."""
        return b"".join(self.chunks())


def content_problem(store: "Store", ref: str) -> str | None:
    """Why the bytes of a file cannot be those that its node describes; None if they are."""
    try:
        for _ in RecordedFile(store, "", ref).chunks():
            pass
    except CorruptNodeError as error:
        return error.message
    return None


class _Target(NamedTuple):
    """Where in the folder a file is written: the parts of its path, and the file."""

    parts: tuple[str, ...]
    file: RecordedFile

    @property
    def name(self) -> str:
        return "/".join(self.parts)


def write_files(files: Sequence[RecordedFile], folder: str, *, force: bool) -> list[str]:
    """Write files below a folder, which is made if it is missing, each with its permissions;
    returns their paths in the folder, in the order of the files.

    An absolute path is written as if the folder were the root; `..` never leads above it.

    Raises:
        UsageError: a file exists and `force` is False (then nothing is written); two paths mean
            the same file; a link in the folder leads outside; or the folder cannot be written.
        CorruptNodeError: a file is damaged.
    """
    targets = [_Target(_parts(each.path), each) for each in files]
    _check_distinct(targets)
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        root = os.open(folder, ENTER & ~os.O_NOFOLLOW)
    except OSError as error:
        raise _unwritable(folder, error) from error
    try:
        if not force:
            _check_new(root, targets, folder)
        for each in {each.parts: each for each in targets}.values():
            _write(root, each, folder, force=force)
    finally:
        os.close(root)
    return [each.name for each in targets]


def _parts(path: str) -> tuple[str, ...]:
    """The components of a path below a folder, whatever the path is."""
    parts = list[str]()
    for part in path.replace("\0", "").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts) or ("file",)


def _check_distinct(targets: Sequence[_Target]) -> None:
    by_parts: dict[tuple[str, ...], _Target] = {}
    for each in targets:
        same = by_parts.setdefault(each.parts, each)
        if same.file.ref != each.file.ref:
            raise UsageError(
                f"{same.file.path!r} and {each.file.path!r} would both be written to {each.name!r}",
                hint=f"next: uwf cas get {each.file.ref}",
            )


def _check_new(root: int, targets: Sequence[_Target], folder: str) -> None:
    there = [each.name for each in targets if _exists(root, each, folder)]
    if there:
        more = f" and {len(there) - _SHOWN} more" if len(there) > _SHOWN else ""
        raise UsageError(
            f"nothing was written, because {folder!r} has already "
            f"{', '.join(map(repr, there[:_SHOWN]))}{more}",
            hint="choose another folder, or replace them with --force",
        )


def _exists(root: int, target: _Target, folder: str) -> bool:
    try:
        with PathWalk(root, target.parts) as walk:
            place = walk.end()
            os.stat(place.name, dir_fd=place.folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except PathOutside as fault:
        raise _outside(target, folder) from fault
    except OSError as error:
        raise _unwritable(f"{folder}/{target.name}", error) from error
    return True


def _write(root: int, target: _Target, folder: str, *, force: bool) -> None:
    try:
        with PathWalk(root, target.parts, make=True) as walk:
            place = walk.end()
            if force:
                draft = place._replace(name=f".{place.name[:200]}.{os.getpid()}.new")
                _fill(draft, target.file)
                _move(draft, place)
            else:
                _fill(place, target.file)
    except PathOutside as fault:
        raise _outside(target, folder) from fault
    except OSError as error:
        raise _unwritable(f"{folder}/{target.name}", error) from error


def _fill(place: WalkedPath, file: RecordedFile) -> None:
    """Create a file with the bytes and permissions of a record; after an error there is none."""
    descriptor = os.open(place.name, _NEW, 0o600, dir_fd=place.folder)
    try:
        with os.fdopen(descriptor, "wb") as out:
            for chunk in file.chunks():
                out.write(chunk)
            os.fchmod(out.fileno(), file.mode)
    except BaseException:
        os.unlink(place.name, dir_fd=place.folder)
        raise


def _move(draft: WalkedPath, place: WalkedPath) -> None:
    try:
        os.rename(draft.name, place.name, src_dir_fd=draft.folder, dst_dir_fd=place.folder)
    except BaseException:
        os.unlink(draft.name, dir_fd=draft.folder)
        raise


def _outside(target: _Target, folder: str) -> UsageError:
    return UsageError(
        f"a link in {folder!r} leads {target.name!r} outside of it", hint="choose another folder"
    )


def _unwritable(path: str, error: OSError) -> UsageError:
    return UsageError(
        f"cannot write {path!r}: {error.strerror}",
        hint="choose a folder that you can write, on a disk with free space",
    )
