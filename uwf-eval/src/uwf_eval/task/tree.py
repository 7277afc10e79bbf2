"""Folders as they are: walked, digested, copied. Nothing is followed that leads out of them."""

# A walk goes over thousands of names, and names are texts here.
# ruff: noqa: PTH101, PTH108, PTH112, PTH114, PTH115, PTH117, PTH118, PTH120

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from uwf_core.api import open_regular
from uwf_core.errors import UwfError

CACHE: Final = "__pycache__"
MAX_FILES: Final = 200_000
MAX_BYTES: Final = 4_000_000_000
_CHUNK = 1 << 20

Kind = Literal["file", "folder", "link", "other"]


class TreeError(UwfError):
    """A folder that cannot be copied as it is."""

    code = "folder"
    exit_code = 4


class Entry(NamedTuple):
    """Something in a folder: `name` is its path below it, with slashes. `seen` changes whenever
    its content does: device, inode, size, times of change of content and of state (the latter
    cannot be set by programs).
    """

    name: str
    kind: Kind
    executable: bool
    size: int
    seen: tuple[int, ...]


def walk(folder: Path, *, without: frozenset[str] = frozenset()) -> Iterator[Entry]:
    """Everything below a folder, parents first, sorted within each; links are not followed.

    Args:
        folder: where to begin.
        without: names of entries that are passed over, with all that is in them.
    """
    waiting = [""]
    while waiting:
        inner = waiting.pop()
        with os.scandir(folder / inner) as found:
            there = sorted(found, key=lambda each: each.name)
        folders = []
        for each in there:
            if each.name in without:
                continue
            name = f"{inner}/{each.name}" if inner else each.name
            entry = _entry(name, each.stat(follow_symlinks=False))
            if entry.kind == "folder":
                folders.append(name)
            yield entry
        waiting.extend(reversed(folders))


def _entry(name: str, status: os.stat_result) -> Entry:
    mode = status.st_mode
    kind: Kind = "other"
    if stat.S_ISREG(mode):
        kind = "file"
    elif stat.S_ISDIR(mode):
        kind = "folder"
    elif stat.S_ISLNK(mode):
        kind = "link"
    seen = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return Entry(name, kind, bool(mode & 0o100), status.st_size, seen)


def digest_of_file(file: Path) -> str:
    """SHA-256 over a file's content, in hexadecimal."""
    with open(open_regular(None, str(file), follow=True)[0], "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of_tree(folder: Path, *, without: frozenset[str] = frozenset()) -> str:
    """SHA-256 over kinds, names, executable bits and contents of all that is in a folder, in
    hexadecimal. Times and owners do not count: a copy has the digest of the original.
    """
    total = hashlib.sha256()
    for entry in sorted(walk(folder, without=without)):
        path = folder / entry.name
        content = ""
        if entry.kind == "file":
            content = digest_of_file(path)
        elif entry.kind == "link":
            content = os.readlink(path)
        executable = "x" if entry.kind == "file" and entry.executable else "-"
        line = "\0".join((entry.kind, executable, entry.name, content)) + "\n"
        total.update(line.encode("utf-8", "surrogateescape"))
    return total.hexdigest()


EMPTY_DIGEST: Final = hashlib.sha256().hexdigest()
"""The digest of an empty folder."""


def leads_out(folder: Path, name: str) -> bool:
    """Whether the symbolic link `name` below `folder` leads to something outside of it."""
    target = os.readlink(folder / name)
    if os.path.isabs(target):
        return True
    there = os.path.normpath(os.path.join(os.path.dirname(name), target))
    return there == ".." or there.startswith("../")


def obstacles(folder: Path, *, without: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
    """What keeps a folder from being copied as it is: (name, why), at most ten."""
    found: list[tuple[str, str]] = []
    for entry in walk(folder, without=without):
        if entry.kind == "other":
            found.append((entry.name, "is not a file, folder or link"))
        elif entry.kind == "link" and leads_out(folder, entry.name):
            found.append((entry.name, "is a link that points outside the folder"))
        elif entry.kind == "file" and entry.name.rpartition("/")[2] == ".git":
            found.append((entry.name, "points to a git repository elsewhere, which an agent "
                                      "would then write to: make it a clone"))  # fmt: skip
        if len(found) >= 10:
            break
    return found


def copy_tree(
    source: Path, target: Path, *, without: frozenset[str] = frozenset(), strict: bool = True
) -> None:
    """Copy a folder: contents, executable bits, times of files, links within it as links.

    Args:
        source: what to copy.
        target: made anew, or an empty folder.
        without: names that are left out.
        strict: reject what `obstacles` lists; otherwise leave it out, and read what its owner had
            made unreadable.

    Raises:
        TreeError: the source cannot be copied, or is larger than any folder should be.
        OSError: it cannot be read or written.
    """
    make_private(target)
    if strict and (bad := obstacles(source, without=without)):
        name, why = bad[0]
        raise TreeError(f"{name} {why}", where=str(source), hint="remove it")
    if not strict:
        _open_up(source)
    files = size = 0
    for entry in walk(source, without=without):
        files, size = files + 1, size + entry.size * (entry.kind == "file")
        if files > MAX_FILES or size > MAX_BYTES:
            raise TreeError(
                f"the folder contains more than {MAX_FILES:,} files or {MAX_BYTES / 1e9:g} GB",
                where=str(source),
            )
        _copy_entry(source, target, entry)


def _copy_entry(source: Path, target: Path, entry: Entry) -> None:
    there, here = source / entry.name, target / entry.name
    if entry.kind == "folder":
        here.mkdir(mode=0o755)
    elif entry.kind == "file":
        import shutil

        shutil.copyfile(there, here, follow_symlinks=False)
        here.chmod(0o755 if entry.executable else 0o644)
        os.utime(here, ns=(entry.seen[3], entry.seen[3]))
    elif entry.kind == "link" and not leads_out(source, entry.name):
        here.symlink_to(os.readlink(there))


def _open_up(folder: Path) -> None:
    """Let the owner read all files of a folder that uwf-eval made."""
    for entry in _walk_opening(folder):
        if entry.kind == "file" and not os.access(folder / entry.name, os.R_OK):
            (folder / entry.name).chmod(0o700 if entry.executable else 0o600)


def _walk_opening(folder: Path) -> Iterator[Entry]:
    if not os.access(folder, os.R_OK | os.X_OK):
        folder.chmod(0o700)
    for entry in walk(folder):
        if entry.kind == "folder" and not os.access(folder / entry.name, os.R_OK | os.X_OK):
            (folder / entry.name).chmod(0o700)
        yield entry


def make_private(folder: Path) -> None:
    """Make a folder, and what is missing above it, each for its owner alone."""
    if not folder.parent.exists():
        make_private(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


def remove_tree(folder: Path) -> None:
    """Remove a folder and all that is in it, whatever its modes; none is fine."""
    import shutil

    def retry(function: object, path: str, _error: object) -> None:
        parent = os.path.dirname(path)
        os.chmod(parent, 0o700)
        if os.path.isdir(path) and not os.path.islink(path):
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        elif os.path.lexists(path):
            os.unlink(path)

    if folder.exists():
        shutil.rmtree(folder, onerror=retry)
