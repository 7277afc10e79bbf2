"""Put a recorded tree over a folder."""

import os
from collections.abc import Iterable
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Final

from uwf_core.errors import StoreError
from uwf_core.escape import in_line
from uwf_core.files.changes import RecordedFolder, listed_paths, rules_file
from uwf_core.files.hazards import find_hazards
from uwf_core.files.incoming import RESTORED
from uwf_core.files.paths import below, parents, place_in, shown
from uwf_core.files.repository import FilesRepository, find_repository
from uwf_core.files.user_rules import rules_of
from uwf_core.process.git import GitFailed

_SHOWN_PATHS: Final = 5


def restore(home: str, tree: str, folder: str) -> None:
    """Put a recorded tree over a folder: afterwards the folder has its files.

    A file that the tree lacks is deleted, unless it is ignored or lies in a nested repository.
    Ignored means: by the rules that the tree has, and by those of the user.

    Args:
        home: the folder of uwf.
        tree: the SHA-256 id of the tree.
        folder: the top of a git working tree, or a folder outside of git; it must exist.

    Raises:
        StoreError: the tree is missing or damaged (then nothing has changed), or a file of the tree
            lies where the folder has a nested repository or ignored files.
    """
    repository = find_repository(home)
    if repository is None or not has_tree(repository, tree):
        raise StoreError(
            f"the recorded files {tree} are missing or damaged",
            where=home,
            hint="next: uwf cas verify",
        )
    try:
        rules = rules_of(folder)
        with (
            repository.lock(),
            TemporaryDirectory(dir=repository.path, prefix=RESTORED) as work,
            rules_file(repository, rules) as excludes,
        ):
            index = os.path.join(work, "index")
            left_out = place_in(folder, home) or None
            _restore(RecordedFolder(repository, folder, index, excludes, rules, left_out), tree)
    except (GitFailed, OSError) as error:
        raise StoreError(
            f"cannot restore the recorded files: {error}",
            where=folder,
            hint="check the folder and its permissions, then repeat the command",
        ) from error


def has_tree(repository: FilesRepository, tree: str) -> bool:
    """Whether a tree is stored with all that it contains, undamaged."""
    try:
        repository.git("rev-list", "--verify-objects", "--quiet", tree)
    except GitFailed:
        return False
    return True


def _restore(place: RecordedFolder, tree: str) -> None:
    hazards = find_hazards(place.folder)
    unrecorded = {*hazards.left_out, *(() if place.left_out is None else (place.left_out,))}
    place.git("read-tree", tree)
    place.git("update-index", "-q", "--refresh")
    wanted = listed_paths(place.git("ls-files", "-z"))
    _check_conflicts(place, wanted)
    place.git("checkout-index", "-a", "-f", "-q", strict=True, private=False)
    seen: set[bytes] = set()
    # With a `.gitignore` that is deleted, the files that only it ignored are to be deleted too.
    while others := _others(place, wanted, unrecorded) - seen:
        _delete(place.folder, others)
        seen |= others


def _others(place: RecordedFolder, wanted: set[bytes], unrecorded: set[bytes]) -> set[bytes]:
    """The files that a folder has beside the wanted ones, and that do not have to stay."""
    listed = listed_paths(place.git("ls-files", "-z", "-o", "--exclude-standard", strict=True))
    nested = {path[:-1] for path in listed if path.endswith(b"/")}
    others = {path for path in listed if not path.endswith(b"/")}
    others |= set(place.rules.tracked_though_ignored()) - wanted
    return {path for path in others if not below(path, nested | unrecorded)}


def _check_conflicts(place: RecordedFolder, wanted: set[bytes]) -> None:
    """Reject a tree with a file where the folder has something that must stay.

    Raises:
        StoreError: it has.
    """
    top = os.fsencode(place.folder)
    folders = {folder for path in wanted for folder in parents(path)}
    nested = [path for path in folders if os.path.lexists(os.path.join(top, path, b".git"))]
    taken = [path for path in wanted if _is_folder(os.path.join(top, path))]
    kept = [path for path in taken if _keeps(place, path)]
    if nested or kept:
        names = ", ".join(in_line(shown(path)) for path in sorted({*nested, *kept})[:_SHOWN_PATHS])
        raise StoreError(
            f"recorded files lie where the folder has ignored files or a repository: {names}",
            where=place.folder,
            hint="move these away, or restore into an empty folder",
        )


def _is_folder(path: bytes) -> bool:
    return os.path.isdir(path) and not os.path.islink(path)


def _keeps(place: RecordedFolder, path: bytes) -> bool:
    """Whether a folder has ignored files or a repository."""
    spec = f":(literal){os.fsdecode(path)}/"
    if place.git("ls-files", "-z", "-o", "-i", "--exclude-standard", "--", spec):
        return True
    top = os.path.join(os.fsencode(place.folder), path)
    return any(b".git" in (*folders, *files) for _, folders, files in os.walk(top))


def _delete(folder: str, paths: Iterable[bytes]) -> None:
    """Delete files, and folders that are empty afterwards."""
    top, emptied = os.fsencode(folder), set[bytes]()
    for path in paths:
        try:
            os.unlink(os.path.join(top, path))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except IsADirectoryError:
            continue  # a submodule, which the user's repository tracks
        emptied.update(parents(path))
    for path in sorted(emptied, key=len, reverse=True):
        with suppress(OSError):
            os.rmdir(os.path.join(top, path))
