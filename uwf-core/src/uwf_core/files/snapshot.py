"""Record the files of a folder: a tree in `files.git`, which a reference of the thread keeps."""

import os
from collections.abc import Collection
from typing import Final

from uwf_core.files.changes import (
    Changes,
    RecordedFolder,
    TooManyFiles,
    find_changes,
    rules_file,
)
from uwf_core.files.freeing import join_packs
from uwf_core.files.hazards import words_of
from uwf_core.files.incoming import Incoming, incoming
from uwf_core.files.index import IndexState, ThreadIndex, indexed_bytes
from uwf_core.files.packs import check_indexes
from uwf_core.files.paths import place_in, shown
from uwf_core.files.repository import open_repository
from uwf_core.files.user_rules import UserTree, commit_of, rules_of, tree_around
from uwf_core.process import crash_points
from uwf_core.process.git import GitFailed, GitStopped
from uwf_core.thread.types import SnapshotPayload, WorkspacePayload

_BATCH: Final = 10_000
"""For each file that git packs, it looks through all that this command has packed before."""
_LONGEST_REASON: Final = 300
"""In characters. It may have a path, and each step has it."""
_MOST_REFUSED: Final = 10
"""If git refuses more files than these, it is not because of them."""
MOST_FILES: Final = 100_000
MOST_BYTES: Final = 1_000_000_000


class _NotRecorded(Exception):
    """The files may not be recorded. The message is the reason."""


def before_step(home: str, thread: str, cwd: str) -> WorkspacePayload:
    """Record the files before a step that works in `cwd`."""
    tree = tree_around(cwd)
    folder = cwd if tree is None else tree.top
    return {"folder": folder, "before": record(home, thread, folder, tree), "after": None}


def after_step(home: str, thread: str, workspace: WorkspacePayload) -> WorkspacePayload:
    """Record the files of the same folder after the step."""
    return {**workspace, "after": record(home, thread, workspace["folder"])}


def record(home: str, thread: str, folder: str, tree: UserTree | None = None) -> SnapshotPayload:
    """Record the files of a folder. If that fails, the result has the reason; if some cannot be
    recorded, it has the tree of the others, and their paths.

    When it returns, the tree is on the disk and the reference of the thread keeps it.

    Args:
        home: the folder of uwf, which is left out if it lies in `folder`.
        thread: the thread, which the caller has locked.
        folder: the top of a git working tree, or a folder outside of git.
        tree: the working tree, if it is known.
    """
    try:
        return _record(home, thread, folder, tree)
    except (GitFailed, OSError, _NotRecorded) as error:
        reason = (str(error) or type(error).__name__)[:_LONGEST_REASON]
        return _payload(None, reason, None, {}, IndexState())


def _record(home: str, thread: str, folder: str, tree: UserTree | None) -> SnapshotPayload:
    left_out = place_in(folder, home)
    if left_out == b"":
        raise _NotRecorded("the folder is the one of uwf")
    repository = open_repository(home)
    rules = rules_of(folder, tree)
    with repository.lock(), rules_file(repository, rules) as excludes:
        index = ThreadIndex(repository, thread, folder)
        place = RecordedFolder(repository, folder, index.path, excludes, rules, left_out)
        state, changes = _up_to_date(place, index, thread)
    join_packs(repository)
    commits = {shown(path): commit_of(_inner(folder, path)) or "" for path in changes.nested}
    missing = words_of(changes.left_out, _LONGEST_REASON) or None
    return _payload(state.tree, missing, rules.tree and rules.tree.commit, commits, state)


def _up_to_date(
    place: RecordedFolder, index: ThreadIndex, thread: str
) -> tuple[IndexState, Changes]:
    """The state of the index once it has the files of the folder, and what has changed."""
    state = index.read()
    try:
        return _update(place, index, thread, state)
    except GitFailed as failed:
        if state == IndexState() or isinstance(failed, GitStopped):
            raise
        index.discard()  # it is damaged, or objects are missing that it refers to
    return _update(place, index, thread, IndexState())


def _update(
    place: RecordedFolder, index: ThreadIndex, thread: str, state: IndexState
) -> tuple[IndexState, Changes]:
    try:
        changes = find_changes(place, state, MOST_FILES)
    except TooManyFiles:
        raise _NotRecorded(f"there are more than {MOST_FILES:,} files; {_limits()}") from None
    files, size = _totals(place, state, changes)
    if files > MOST_FILES or size > MOST_BYTES:
        raise _NotRecorded(f"there are {files:,} files with {size:,} bytes; {_limits()}")
    tree = state.tree
    if tree is None or not changes.is_none:
        with incoming(place.repository) as objects:
            tree, refused = _write(place, changes, objects)
            for path, why in refused.items():
                changes.left_out[path] = why
                files, size = files - 1, size - changes.sizes[path]
            if tree != state.tree:
                _keep(objects, thread, tree)
    new = IndexState(
        *(files, size, tree, changes.rules, changes.forced, changes.missing, changes.folders)
    )
    if new != state:
        index.save(new)
    return new, changes


def _limits() -> str:
    return f"at most {MOST_FILES:,} files with {MOST_BYTES:,} bytes are recorded"


def _totals(place: RecordedFolder, state: IndexState, changes: Changes) -> tuple[int, int]:
    """How many files the index will have, and how large they are together."""
    removed = len(changes.gone) + len(changes.dropped)
    files = state.files + len(changes.sizes.keys() - changes.known) - removed
    size = state.size + sum(changes.sizes.values()) - _old_bytes(place, changes.known)
    return files, size


def _old_bytes(place: RecordedFolder, paths: set[bytes]) -> int:
    """The bytes of paths as the index has them."""
    known, paths = indexed_bytes(place.index_file, paths)
    if not paths:
        return known
    names = b"".join(b":0:" + path + b"\n" for path in paths if b"\n" not in path)
    said = place.git("cat-file", "--batch-check=%(objectsize)", stdin=names).splitlines()
    said += [
        place.git("cat-file", "-s", ":0:" + os.fsdecode(path)) for path in paths if b"\n" in path
    ]
    try:
        return known + sum(map(int, said))
    except ValueError as error:
        raise GitFailed("a recorded file is missing") from error


def _write(
    place: RecordedFolder, changes: Changes, objects: Incoming
) -> tuple[str, dict[bytes, str]]:
    """Bring the index up to date, and make a tree of it; the files that git refuses, and why."""
    _remove(place, changes.dropped)
    present = sorted({*changes.sizes, *changes.gone})
    options, env = objects.writing(len(changes.sizes), sum(changes.sizes.values()))
    waiting = [present[at : at + _BATCH] for at in range(0, len(present), _BATCH)]
    refused = dict[bytes, str]()
    while waiting:
        batch = waiting.pop()
        words = (*options, "update-index", "-z", "--add", "--remove", "--replace", "--stdin")
        try:
            place.git(*words, env=env, stdin=b"".join(path + b"\0" for path in batch), strict=True)
        except GitFailed as failed:
            if isinstance(failed, GitStopped) or len(refused) == _MOST_REFUSED:
                raise
            if len(batch) == 1:
                refused[batch[0]] = str(failed)
            else:
                waiting += [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
    if refused:
        _check_store(place)
        _remove(place, refused)
    options, env = objects.writing()
    return place.git(*options, "write-tree", env=env).decode().strip(), refused


def _check_store(place: RecordedFolder) -> None:
    """Git also fails on a sound file where the packs, which it looks through, are damaged."""
    try:
        check_indexes(place.repository.packs)
    except (OSError, ValueError) as error:
        raise GitFailed(f"{error}; `uwf cas verify` lists the lost files") from error


def _remove(place: RecordedFolder, paths: Collection[bytes]) -> None:
    """Remove paths from the index, also those that it does not have."""
    if paths:
        names = b"".join(path + b"\0" for path in paths)
        place.git("update-index", "-z", "--force-remove", "--stdin", stdin=names)


def _keep(objects: Incoming, thread: str, tree: str) -> None:
    """Add a commit with a tree to the chain of the thread."""
    commit = objects.add_commit(tree, objects.repository.newest(thread))
    objects.keep()
    crash_points.reach("snapshot")
    objects.repository.set_newest(thread, commit)


def _inner(folder: str, path: bytes) -> str:
    return os.path.join(folder, os.fsdecode(path))


def _payload(
    tree: str | None,
    reason: str | None,
    commit: str | None,
    nested: dict[str, str],
    state: IndexState,
) -> SnapshotPayload:
    return {
        "tree": tree,
        "reason": reason,
        "commit": commit,
        "nested": nested,
        "files": state.files,
        "bytes": state.size,
    }
