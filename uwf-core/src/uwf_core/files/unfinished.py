"""What is unfinished in a worktree: work that its branch would not get, or not as it is meant."""

import os
import re
from shlex import quote
from typing import Final

from uwf_core.files.hazards import refused_by_user_git, words_of
from uwf_core.files.paths import listed, shown
from uwf_core.files.worktree_git import NO_LOCKS, names, optional
from uwf_core.files.worktree_place import check_place, entry_of, is_worktree
from uwf_core.process.git import GitFailed, ask_git
from uwf_core.process.path_walk import read_regular

_OPERATIONS: Final = (
    ("MERGE_HEAD", "merge", "commit the result (git commit), or give it up (git merge --abort)"),
    ("rebase-merge", "rebase", "git rebase --continue, or git rebase --abort"),
    ("rebase-apply/applying", "am", "git am --continue, or git am --abort"),
    ("rebase-apply", "rebase", "git rebase --continue, or git rebase --abort"),
    ("CHERRY_PICK_HEAD", "cherry-pick", "git cherry-pick --continue, or git cherry-pick --abort"),
    ("REVERT_HEAD", "revert", "git revert --continue, or git revert --abort"),
    ("sequencer", "cherry-pick or revert", "git status shows it; continue or abort it"),
    ("BISECT_START", "bisect", "git bisect reset"),
)
"""Of git: what each leaves in the folder of a worktree, its name, and how to end it."""
_LINK: Final = b"160000 "
_MARK: Final = "^(<<<<<<<|>>>>>>>) "
_LEFT: Final = re.compile(rb"\tcheckout: moving from ([0-9a-f]{40,64}) to ")
_LONGEST_LIST: Final = 1_000


def check_finished(folder: str, branch: str) -> None:
    """Check that nothing is unfinished in a worktree before its files are committed.

    Raises:
        GitFailed: something is; it names all of that.
    """
    found = find_unfinished(folder, branch)
    if found:
        raise GitFailed("; ".join(found))


def find_unfinished(folder: str, branch: str) -> list[str]:
    """What is unfinished in a worktree, each with the place and what to do: a merge, a rebase or
    another operation of git, unmerged files, commits of its branch that it does not reach, and
    repositories whose files git does not take.

    Raises:
        GitFailed: git cannot read the worktree.
    """
    if not is_worktree(folder):
        return [_not_a_worktree(folder, branch)]
    check_place(folder)
    found = operations(folder)
    if not found:
        found = _beside_branch(folder, branch)
    return found + _nested(folder)


def operations(folder: str) -> list[str]:
    """The operations of git that are under way in a worktree, with the unmerged files."""
    entry = entry_of(folder)
    unmerged = dict.fromkeys(
        line.split(b"\t", 1)[1] for line in names(folder, "ls-files", "-u", "-z", env=NO_LOCKS)
    )
    files = f" with conflicts in {listed([*unmerged])}" if unmerged else ""
    for name, what, cure in _OPERATIONS:
        if os.path.lexists(os.path.join(entry, name)):
            return [f"git {what} is not finished{files} in {folder}: {cure}"]
    if not unmerged:
        return []
    cure = "resolve them, then git add and git commit (git status shows what each file needs)"
    return [f"files are unmerged: {listed([*unmerged])} in {folder}: {cure}"]


def _beside_branch(folder: str, branch: str) -> list[str]:
    """Commits of the branch that the worktree does not have, so that its files lack their work."""
    head = optional(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    name = f"refs/heads/{branch}"
    if head is None and optional(folder, "symbolic-ref", "--quiet", "HEAD") == name:
        return [
            f"the branch {branch} of the worktree {folder} was deleted: make it again at its last "
            f"commit (git update-ref {name} {_last_commit(folder)})"
        ]
    tip = optional(folder, "rev-parse", "--verify", "--quiet", name)
    if head is None:
        return [
            f"the worktree {folder} is at a new branch without a commit: commit the work to the "
            f"branch {branch} (git stash -u or git symbolic-ref HEAD refs/heads/{branch})"
        ]
    if tip in (None, head) or optional(folder, "merge-base", str(tip), head) == tip:
        return []
    return [
        f"the worktree {folder} is at {head[:12]}, which does not contain the branch {branch}: "
        f"merge it there (git merge {branch}), or check it out (git checkout {branch})"
    ]


def _last_commit(folder: str) -> str:
    """What a worktree was last at, by its own log."""
    try:
        old, new = _log(folder)[-1].decode().split()[:2]
    except (IndexError, ValueError):
        return "COMMIT"
    return new if new.strip("0") else old


def _log(folder: str) -> list[bytes]:
    """What git has noted of the commits at which a worktree was; the newest one is the last."""
    try:
        return read_regular("logs/HEAD", within=entry_of(folder)).splitlines()
    except OSError:
        return []


def left_behind(folder: str) -> list[str]:
    """The commits that were made in a worktree on no branch, and left for another one."""
    left = dict.fromkeys(found[1].decode() for found in map(_LEFT.search, _log(folder)) if found)
    words = ("rev-list", "--max-count=1")
    return [each for each in left if optional(folder, *words, each, "--not", "HEAD", "--all")]


def _nested(folder: str) -> list[str]:
    """Repositories in the worktree whose files no commit of its branch gets."""
    others = names(folder, "ls-files", "--others", "--exclude-standard", "-z", env=NO_LOCKS)
    nested = [each.rstrip(b"/") for each in others if each.endswith(b"/")]
    linked = _linked(folder)
    if linked:
        known = _submodules(folder)
        nested += [each for each in linked if each not in known]
    if not nested:
        return []
    each = "is a separate repository" if len(nested) == 1 else "are separate repositories"
    first = quote(f"{shown(nested[0])}/.git")
    return [
        f"{listed(nested)} in {folder} {each}, and git adds no file of it to the branch: remove "
        f"{first} if the files belong to the work, move it away, or add it to .gitignore"
    ]


def _linked(folder: str) -> list[bytes]:
    """The paths at which the index has the commit of another repository, not a file, and of which
    the folder has that repository.
    """
    staged = names(folder, "ls-files", "-s", "-z", env=NO_LOCKS)
    paths = [line.split(b"\t", 1)[1] for line in staged if line.startswith(_LINK)]
    top = os.fsencode(folder)
    return [each for each in paths if os.path.lexists(os.path.join(top, each, b".git"))]


def _submodules(folder: str) -> set[bytes]:
    """The paths that `.gitmodules` names."""
    words = ("config", "--file", ".gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    try:
        return {each.partition(b"\n")[2] for each in names(folder, *words)}
    except GitFailed:
        return set()  # there is no such file


def doubtful(folder: str, base: str) -> list[str]:
    """What may not be meant in a worktree: marks of a conflict in files that differ from a commit,
    names that no commit can have, and commits that are on no branch.
    """
    words = ("diff", "--name-only", "-z", "--diff-filter=d", f"-G{_MARK}", base, "--")
    found, marked = list[str](), names(folder, *words, env=NO_LOCKS)
    found += [
        f"commits of {folder} are on no branch: `git branch NAME {each[:12]}` keeps them"
        for each in left_behind(folder)
    ]
    if marked:
        found.append(f"marks of a conflict are in {listed(marked)} in {folder}")
    others = names(folder, "ls-files", "--others", "--exclude-standard", "-z", env=NO_LOCKS)
    refused = refused_by_user_git(others)
    if refused:
        found.append(f"not on the branch, in {folder}: {words_of(refused, _LONGEST_LIST)}")
    return found


def changed_submodules(folder: str) -> list[str]:
    """What is in the submodules of a worktree alone: changes that are not committed there, and
    commits that no remote repository has, as far as is known here.
    """
    found = list[str]()
    for path in _linked(folder):
        inner = os.path.join(folder, os.fsdecode(path))
        count = _unknown_commits(inner)
        what = [f"{count} commits that no remote repository has"] if count else []
        if ask_git(inner, "status", "--porcelain"):
            what.append("changes that are not committed")
        if what:
            found.append(f"the submodule {shown(path)} in {folder} has {' and '.join(what)}")
    return found


def _unknown_commits(inner: str) -> int:
    words = ("rev-list", "--count", "HEAD", "--branches", "--not", "--remotes")
    said = ask_git(inner, *words)
    return int(said) if said is not None and said.strip().isdigit() else 0


def _not_a_worktree(folder: str, branch: str) -> str:
    if not os.path.isdir(folder):
        return f"the worktree {folder} of the branch {branch} is gone"
    if not os.path.lexists(os.path.join(folder, ".git")):
        return f"{folder} is not a worktree of the branch {branch} any more: git has forgotten it"
    lost = f"{folder} is not a worktree of the branch {branch} any more: "
    entry = _lost_entry(folder)
    if entry is not None:
        return (
            f"{lost}{entry}, which its .git names, is not there: if the repository was moved, `git "
            f"-C REPOSITORY worktree repair {quote(folder)}` connects both again; if git has "
            "forgotten the worktree, take the files out of that folder: they are still there"
        )
    commits = ask_git(folder, "rev-list", "--count", "--all")
    what = "and is of no repository" if commits is None else "by that of another repository with "
    what += "" if commits is None else f"{commits.strip()} commits"
    return (
        f"{lost}its .git was replaced {what}, so its files are on no branch: move "
        f"{folder}/.git to another folder, and uwf restores that of the worktree"
    )


def _lost_entry(folder: str) -> str | None:
    """The folder that the `.git` file of a worktree names, if it is not there."""
    try:
        entry = entry_of(folder)
    except OSError:
        return None
    return None if os.path.isdir(entry) else entry
