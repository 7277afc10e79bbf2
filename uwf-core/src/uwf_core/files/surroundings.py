"""What surrounds a worktree: the user's checkout, and what its repository has for all worktrees. A
step has to leave it as it is; what changed meanwhile is reported.
"""

import os
from hashlib import sha256
from typing import Final

from uwf_core.files.paths import listed
from uwf_core.files.worktree_git import NO_LOCKS, git, lines, names
from uwf_core.named_tuple import NamedTuple
from uwf_core.process.path_walk import read_regular

_SHOWN: Final = 5
_STASH: Final = "refs/stash"
_OWN: Final = "refs/heads/uwf/"
_STATUS: Final = ("status", "--porcelain", "-z", "--untracked-files=normal")
_SETTINGS: Final = ("config", "config.worktree", "info/attributes", "info/exclude")
_MOST_BYTES: Final = 1_000_000


class OutsideState(NamedTuple):
    """What surrounds a worktree at one moment.

    Attributes:
        checkout: the top folder of the user's working tree. head: what is checked out there.
        files: its files that differ from its commit or index: their state and time.
        refs: the references of the repository, without those of uwf. stashes: by their commit.
        settings: the files of the repository that decide what git does, and their digests.
    """

    checkout: str
    head: tuple[str, ...]
    files: dict[str, str]
    refs: dict[str, str]
    stashes: dict[str, str]
    settings: dict[str, str]


def surroundings_of(folder: str, origin: str, without: str) -> OutsideState:
    """What surrounds a worktree now.

    Args:
        folder: of the worktree. origin: a folder in the working tree of the user.
        without: the folder of uwf.

    Raises:
        GitFailed, OSError: it cannot be read.
    """
    words = ("rev-parse", "--path-format=absolute", "--show-toplevel")
    [checkout] = lines(origin, *words)
    [common] = lines(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    listed = lines(folder, "for-each-ref", "--format=%(objectname) %(refname)")
    refs = {each.partition(" ")[2]: each.partition(" ")[0] for each in listed}
    return OutsideState(
        checkout,
        tuple(lines(checkout, "rev-parse", "--symbolic-full-name", "HEAD")),
        _files(checkout, without),
        {name: each for name, each in refs.items() if not name.startswith(_OWN)},
        _stashes(folder) if _STASH in refs else {},
        _settings(common),
    )


def _files(checkout: str, without: str) -> dict[str, str]:
    found = dict[str, str]()
    own = os.path.relpath(os.path.realpath(without), os.path.realpath(checkout))
    for line in names(checkout, *_STATUS, env=NO_LOCKS):
        path = os.fsdecode(line[3:])
        if (own + "/").startswith(path.rstrip("/") + "/") or path.startswith(own + "/"):
            continue
        place, stamp = os.path.join(checkout, path), ""
        if os.path.lexists(place) and not os.path.isdir(place):
            state = os.lstat(place)
            stamp = f"{state.st_mtime_ns} {state.st_size}"
        found[path] = f"{line[:2].decode()} {stamp}"
    return found


def _stashes(folder: str) -> dict[str, str]:
    listed = lines(folder, "log", "-g", "--format=%H %gs", _STASH, "--")
    return {each.partition(" ")[0]: each.partition(" ")[2] for each in listed}


def _settings(common: str) -> dict[str, str]:
    found = dict[str, str]()
    hooks = os.path.join(common, "hooks")
    more = sorted(os.listdir(hooks)) if os.path.isdir(hooks) else []
    for name in (*_SETTINGS, *(f"hooks/{each}" for each in more)):
        place = os.path.join(common, name)
        if os.path.isfile(place) and not os.path.islink(place):
            data = read_regular(name, _MOST_BYTES, within=common, cut=True)
            found[name] = sha256(data).hexdigest()
        elif os.path.lexists(place):
            found[name] = f"link {os.readlink(place)}" if os.path.islink(place) else "other"
    return found


def changes_outside(before: OutsideState, after: OutsideState, branch: str) -> list[str]:
    """What changed outside of the worktree of a branch between two moments: a notice for each
    kind.
    """
    found = list[str]()
    left = [
        each
        for each, text in after.stashes.items()
        if each not in before.stashes and not _is_of_another(text, branch)
    ]
    if left:
        which = "; ".join(f"{after.stashes[each]} ({each[:12]})" for each in left[:_SHOWN])
        found.append(
            f"work was left in the stash of {after.checkout}, on no branch: {which}; `git stash "
            f"list` shows it, and `git stash apply {left[0][:12]}` gets it"
        )
    gone = [each for each in before.stashes if each not in after.stashes]
    if gone:
        which = "; ".join(f"{before.stashes[each]} ({each[:12]})" for each in gone[:_SHOWN])
        found.append(f"an entry was taken out of the stash of {after.checkout}: {which}")
    outside = [
        *_named("", before.files, after.files),
        *([b"HEAD"] if before.head != after.head else []),
        *_named("", {**before.refs, _STASH: ""}, {**after.refs, _STASH: ""}),
        *_named(".git/", before.settings, after.settings),
    ]
    if outside:
        found.append(
            "changed outside of the worktree during this step, by the role or by others, in "
            f"{after.checkout}: {listed(outside)}"
        )
    return found


def _is_of_another(text: str, branch: str) -> bool:
    """Whether an entry of the stash was made at the branch of another thread."""
    at = text.partition(":")[0].rpartition(" ")[2]
    return at.startswith(branch.partition("/")[0] + "/") and at != branch


def _named(prefix: str, before: dict[str, str], after: dict[str, str]) -> list[bytes]:
    changed = [each for each in sorted({*before, *after}) if before.get(each) != after.get(each)]
    return [os.fsencode(prefix + each) for each in changed]


def stashes_of(folder: str, branch: str) -> list[str]:
    """The entries in the stash of a repository that were made at a branch.

    Raises:
        GitFailed: git cannot read them.
    """
    if not git(folder, "for-each-ref", _STASH).strip():
        return []
    begins = tuple(f"{word} {branch}:" for word in ("WIP on", "On"))
    return [each for each in _stashes(folder).values() if each.startswith(begins)]
