"""What surrounds a worktree: the user's checkout, and what its repository has for all worktrees. A
step has to leave it as it is; what changed meanwhile is reported.
"""

import os
from hashlib import sha256
from typing import Final, NamedTuple

from uwf_core.config.repository import find_repository
from uwf_core.files.paths import listed
from uwf_core.files.worktree_git import NO_LOCKS, git, lines, names, optional, path_of
from uwf_core.process.git import GitFailed
from uwf_core.process.path_walk import ANYWHERE, read_regular

_SHOWN: Final = 5
_STASH: Final = "refs/stash"
_OWN: Final = "refs/heads/uwf/"
_STATUS: Final = (*("status", "--porcelain", "-z", "--untracked-files=all", "--ignored=matching"),)
_IGNORED: Final = "!!"
_OF_THE_USER: Final = ("~/.gitconfig", "~/.config/git/config")
_SETTINGS: Final = ("config", "config.worktree", "info/attributes", "info/exclude")
_MOST_BYTES: Final = 1_000_000


class OutsideState(NamedTuple):
    """What surrounds a worktree at one moment.

    Attributes:
        checkout: the top folder of the user's working tree. head: what is checked out there.
        files: its files that differ from its commit or index, and those that it ignores: their
            state and time; None if git cannot read them.
        refs: the references of the repository, without those of uwf. stashes: by their commit.
        settings: the files that decide what git does there, and their digests.
    """

    checkout: str
    head: str | None
    files: dict[str, str] | None
    refs: dict[str, str]
    stashes: dict[str, str]
    settings: dict[str, str]


def surroundings_of(origin: str, without: str) -> OutsideState:
    """What surrounds a worktree now.

    Args:
        origin: a folder in the working tree of the user. without: the folder of uwf.

    Raises:
        GitFailed, OSError: it cannot be read.
    """
    found = find_repository(origin)
    if found is None:
        raise GitFailed(f"{origin!r} is in no repository")
    checkout = found.top
    listed = lines(checkout, "for-each-ref", "--format=%(objectname) %(refname)")
    refs = {each.partition(" ")[2]: each.partition(" ")[0] for each in listed}
    branch = optional(checkout, "symbolic-ref", "--quiet", "HEAD")
    try:
        files = _files(checkout, without)
    except GitFailed:  # such as after `git config core.bare true`
        files = None
    return OutsideState(
        checkout,
        branch or optional(checkout, "rev-parse", "HEAD"),
        files,
        {name: each for name, each in refs.items() if not name.startswith(_OWN)},
        _stashes(checkout) if _STASH in refs else {},
        _settings(path_of(checkout, "--git-common-dir")),
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
    inside = (*_SETTINGS, *(f"hooks/{each}" for each in more))
    places = {f".git/{each}": os.path.join(common, each) for each in inside}
    places |= {each: os.path.realpath(os.path.expanduser(each)) for each in _OF_THE_USER}
    for name, place in places.items():
        if os.path.islink(place):
            found[name] = f"link {os.readlink(place)}"
        elif os.path.isfile(place):
            data = read_regular(place, _MOST_BYTES, within=ANYWHERE, cut=True)
            found[name] = sha256(data).hexdigest()
        elif os.path.lexists(place):
            found[name] = "other"
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
    if after.files is None and before.files is not None:
        found.append(f"git cannot read the working tree {after.checkout} any more")
    outside = [
        *_named(before.files or {}, _known(before, after)),
        *([b"HEAD"] if before.head != after.head else []),
        *_named({**before.refs, _STASH: ""}, {**after.refs, _STASH: ""}),
        *_named(before.settings, after.settings),
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


def _known(before: OutsideState, after: OutsideState) -> dict[str, str]:
    """The files afterwards, without new ones that are ignored: any program of the user makes such
    files at any time.
    """
    old = before.files or {}
    if after.files is None:
        return old
    return {
        path: state
        for path, state in after.files.items()
        if path in old or not state.startswith(_IGNORED)
    }


def _named(before: dict[str, str], after: dict[str, str]) -> list[bytes]:
    changed = [each for each in sorted({*before, *after}) if before.get(each) != after.get(each)]
    return [os.fsencode(each) for each in changed]


def stashes_of(folder: str, branch: str) -> list[str]:
    """The entries in the stash of a repository that were made at a branch.

    Raises:
        GitFailed: git cannot read them.
    """
    if not git(folder, "for-each-ref", _STASH).strip():
        return []
    begins = tuple(f"{word} {branch}:" for word in ("WIP on", "On"))
    return [each for each in _stashes(folder).values() if each.startswith(begins)]
