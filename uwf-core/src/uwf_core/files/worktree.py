"""Git worktrees of threads, in repositories of the user.

Nothing else of such a repository changes: only the entry of the worktree, its branch, and objects.
Every function raises `GitFailed` with the cause if git cannot do its part.
"""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from uwf_core.files.worktree_entries import beside_others, conflict_at, lock_of
from uwf_core.named_tuple import NamedTuple
from uwf_core.process.folders import make_folder, sync_names
from uwf_core.process.git import NO_ENV, GitFailed, user_git, wait_for_lock
from uwf_core.process.path_walk import read_regular

_QUIET: Final = (
    *("-c", "core.safecrlf=false", "-c", "core.splitIndex=false"),
    *("-c", "core.untrackedCache=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false"),
    *("-c", "worktree.useRelativePaths=false"),
)
_NO_LOCKS: Final = {"GIT_OPTIONAL_LOCKS": "0"}
"""Else a command that only reads may refresh an index of the user."""
_UWF: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "uwf"), ("EMAIL", "uwf@localhost"))
}


class WorkingTree(NamedTuple):
    """The git working tree that a folder lies in.

    Attributes:
        top: its top folder, a real path. inside: the folder relative to it, empty at the top.
        common: the folder of git that all worktrees of the repository share.
        head: the commit that is checked out.
    """

    top: str
    inside: str
    common: str
    head: str


def folder_of(home: str, thread: str) -> str:
    """The folder of a thread's worktree."""
    return os.path.join(home, "worktrees", thread)


def find_working_tree(folder: str) -> WorkingTree:
    """The working tree that a folder lies in.

    Raises:
        GitFailed: there is none, or it has no commit.
    """
    real = os.path.realpath(folder)
    words = ("--path-format=absolute", "--show-toplevel", "--git-common-dir")
    top, common = (os.path.realpath(each) for each in _lines(real, "rev-parse", *words))
    try:
        [head] = _lines(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitFailed as error:
        raise GitFailed(f"the repository {top!r} has no commit yet") from error
    inside = os.path.relpath(real, top)
    return WorkingTree(top, "" if inside == os.curdir else inside, common, head)


def has_folder(tree: WorkingTree, commit: str) -> bool:
    """Whether the folder of a working tree is a folder in a commit, too.

    Raises:
        GitFailed: the repository does not have that commit.
    """
    if not tree.inside:
        _git(tree.top, "cat-file", "-e", f"{commit}^{{commit}}")
        return True
    found = _git(tree.top, "ls-tree", "-d", "-z", commit, "--", f"./{tree.inside}")
    return found.startswith(b"040000 tree")


def commit_of_state(tree: WorkingTree, message: str, *, without: str | None = None) -> str:
    """The commit with the state of a working tree: HEAD, or a new one on top of it with what is
    changed or untracked, and not ignored. Index, HEAD and branches stay as they are.

    Repositories in untracked folders are left out: they cannot be in a commit of this one. So is
    the folder `without`, that of uwf.
    """
    top = tree.top
    [index] = _lines(top, "rev-parse", "--path-format=absolute", "--git-path", "index")
    with _copied(index) as copy:
        env = {"GIT_INDEX_FILE": copy, **_NO_LOCKS}
        _add_all(top, env, without=without)
        [files] = _lines(top, "write-tree", env=env)
        [known] = _lines(top, "rev-parse", f"{tree.head}^{{tree}}")
        if files == known:
            return tree.head
        own = _identity(top)
        words = ("commit-tree", files, "-p", tree.head, "-m", message)
        [commit] = _lines(top, *words, env=own)
    return commit


@contextmanager
def making_worktree(tree: WorkingTree, folder: str, branch: str) -> Iterator[int]:
    """A lock for one block, for `add_worktree`. Its file stays if the block is interrupted: by that
    the next one knows what it may remove. The git of a process that was killed in this block holds
    the lock as long as it runs: it is waited for.

    Raises:
        OSError: the lock file cannot be opened.
        GitFailed: the branch or the worktree exists, and no interrupted block has begun it: it may
            be of the user, or of the same thread in another home of uwf.
    """
    import fcntl

    above, path = os.path.dirname(folder), lock_of(folder)
    make_folder(above)
    is_interrupted = os.path.exists(path)
    conflict = None if is_interrupted else conflict_at(tree, folder, branch)
    if conflict is not None:
        raise GitFailed(conflict)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        sync_names(above)
        wait_for_lock(descriptor, fcntl.LOCK_EX)
        if is_interrupted:
            _clear_worktree(tree, folder, branch)
        yield descriptor
        os.unlink(path)  # nobody else waits for it: the caller holds the lock of the thread
    finally:
        os.close(descriptor)


def add_worktree(
    top: str,
    folder: str,
    commit: str,
    branch: str,
    *,
    checkout: bool = True,
    inherits: Sequence[int] = (),
) -> None:
    """Add a worktree with a new branch at a commit. Neither may exist: see `making_worktree`.

    Args:
        top: a working tree of the repository. folder: of the worktree.
        commit: at which the branch begins. branch: its name.
        checkout: whether to write the files; without them, the index is empty too.
        inherits: file descriptors that git keeps open, such as that of `making_worktree`.
    """
    make_folder(os.path.dirname(folder))
    words = ("worktree", "add", "--quiet", "--no-track", *(() if checkout else ("--no-checkout",)))
    beside_others(
        lambda: _git(top, *words, "-b", branch, folder, commit, inherits=inherits),
        lambda: _optional(top, "update-ref", "-d", f"refs/heads/{branch}", commit),  # made first
    )
    if checkout:
        _check_out_beyond(top, folder)


def _check_out_beyond(top: str, folder: str) -> None:
    """Write the files outside of a sparse checkout that the other working tree has nevertheless."""
    pointer = os.fsdecode(read_regular(".git", 4096, within=folder))
    entry = pointer.removeprefix("gitdir: ").rstrip("\n")
    if not os.path.exists(os.path.join(entry, "info", "sparse-checkout")):
        return
    skipped = _git(folder, "ls-files", "-t", "-z").split(b"\0")
    paths = [line[2:] for line in skipped if line.startswith(b"S ")]
    present = [each for each in paths if os.path.lexists(os.path.join(os.fsencode(top), each))]
    if present:
        words = ("checkout", "--quiet", "--ignore-skip-worktree-bits", "--pathspec-from-file=-")
        names = b"\0".join(present)
        _git(folder, "--literal-pathspecs", *words, "--pathspec-file-nul", stdin=names)


def _clear_worktree(tree: WorkingTree, folder: str, branch: str) -> None:
    """Remove what an interrupted `add_worktree` has left behind, if anything."""
    for each in (os.path.join(tree.common, "worktrees", os.path.basename(folder)), folder):
        if os.path.lexists(each):
            shutil.rmtree(each, onerror=_make_writable)
    name = f"refs/heads/{branch}"
    if _git(tree.top, "for-each-ref", name).strip():
        _git(tree.top, "update-ref", "-d", name)


def is_worktree(folder: str) -> bool:
    """Whether a folder is still a worktree that its repository lists. Runs no program."""
    from uwf_core.config.repository import find_repository

    found = find_repository(folder)
    return found is not None and found.top == os.path.realpath(folder) and found.common is not None


def commit_worktree(folder: str, branch: str, message: str) -> str:
    """Commit all that is uncommitted in a worktree; its HEAD afterwards. A merge that has begun is
    concluded as the files are.

    Raises:
        GitFailed: also if the worktree is at another branch, whose commits `branch` does not reach.
    """
    _add_all(folder, _NO_LOCKS)
    if _lines(folder, "diff-index", "--cached", "--name-only", "HEAD") or _is_merging(folder):
        words = ("--quiet", "--no-verify", "--no-gpg-sign", "--allow-empty", "-m", message)
        _git(folder, "commit", *words, env=_identity(folder))
    [head] = _lines(folder, "rev-parse", "HEAD")
    name = f"refs/heads/{branch}"
    tip = _optional(folder, "rev-parse", "--verify", "--quiet", name)
    if tip != head:
        base = None if tip is None else _optional(folder, "merge-base", tip, head)
        if base != tip:
            raise GitFailed(
                f"the worktree {folder!r} is at {head[:12]}, which does not contain the branch "
                f"{branch}; merge it there"
            )
        _git(folder, "update-ref", "-m", "uwf: follow HEAD", name, head, *([tip] if tip else []))
    return head


class FileChange(NamedTuple):
    """A file of a worktree that differs from its base: `status` is A (added), D (deleted), M
    (modified) or T (another type); lines are None for a binary file.
    """

    path: str
    status: str
    added: int | None
    deleted: int | None


def changes_since(folder: str, base: str) -> list[FileChange]:
    """The files of a worktree that differ from a commit, committed or not, untracked ones too."""
    with _with_untracked(folder) as env:
        counts = _git(folder, *_DIFF, "-z", "--numstat", base, env=env).split(b"\0")
        kinds = _git(folder, *_DIFF, "-z", "--name-status", base, env=env).split(b"\0")
    found = []
    for line, status in zip(counts[:-1], kinds[::2], strict=False):
        added, deleted, path = line.split(b"\t", 2)
        numbers = [None if each == b"-" else int(each) for each in (added, deleted)]
        found.append(FileChange(path.decode(errors="replace"), status.decode(), *numbers))
    return found


def patch_since(folder: str, base: str) -> bytes:
    """The same changes as a patch for `git apply`, after a summary."""
    with _with_untracked(folder) as env:
        return _git(folder, *_DIFF, "--stat=100", "--patch", "--binary", base, env=env)


_DIFF: Final = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=dirty"),
)


def has_changes(folder: str) -> bool:
    """Whether anything in a worktree is uncommitted; ignored files do not count."""
    words = ("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none")
    return bool(_git(folder, *words, env=_NO_LOCKS))


def remove_worktree(folder: str, branch: str, base: str) -> bool:
    """Remove a worktree without changes, and its branch if nothing of it would be lost: every
    commit is in another branch, or is the one at which it begins, the state of the folder of its
    user, with what is before that.

    Returns:
        Whether the branch was removed.

    Raises:
        GitFailed: git refuses to remove it; submodules that are checked out are a reason. Or it is
            a worktree of something else.
    """
    [common] = _lines(folder, "rev-parse", "--path-format=absolute", "--git-common-dir")
    if not _is_of_branch(folder, branch):
        raise GitFailed(f"it is not at the branch {branch}, so it may be your worktree")
    loose = ("rev-list", "--max-count=1", "HEAD", "--not", "--branches", "--remotes")
    if _git(folder, *loose).strip():
        raise GitFailed("no branch has the commit that is checked out in it")
    is_known = _is_in_others(folder, branch, base)
    env = {"GIT_DIR": common}
    beside_others(lambda: _git(common, "worktree", "remove", folder, env=env))
    if is_known:
        _git(common, "update-ref", "-d", f"refs/heads/{branch}", env=env)
    return is_known


def _is_of_branch(folder: str, branch: str) -> bool:
    """Whether a worktree was made for a branch: a bundle can name any folder of the user."""
    if branch.endswith("/" + os.path.basename(folder)):
        return True
    return _optional(folder, "symbolic-ref", "--quiet", "HEAD") == f"refs/heads/{branch}"


def _is_in_others(folder: str, branch: str, base: str) -> bool:
    name = f"refs/heads/{branch}"
    if _optional(folder, "rev-parse", "--verify", "--quiet", name) is None:
        return False
    others = ("--not", base, f"--exclude={branch}", "--branches", "--remotes")
    return not _git(folder, "rev-list", "--max-count=1", name, *others).strip()


# -- what the functions above use ------------------------------------------------------------------


def _git(
    folder: str,
    *words: str,
    env: Mapping[str, str] = NO_ENV,
    stdin: bytes = b"",
    inherits: Sequence[int] = (),
) -> bytes:
    return user_git(folder, *_QUIET, *words, env=env, stdin=stdin, inherits=inherits)


def _lines(folder: str, *words: str, env: Mapping[str, str] = NO_ENV) -> list[str]:
    return [os.fsdecode(each) for each in _git(folder, *words, env=env).splitlines()]


def _optional(folder: str, *words: str) -> str | None:
    """The first line of the output; None if the command fails, which may just mean no."""
    try:
        return next(iter(_lines(folder, *words)), None)
    except GitFailed:
        return None


def _is_merging(folder: str) -> bool:
    return _optional(folder, "rev-parse", "--verify", "--quiet", "MERGE_HEAD") is not None


def _add_all(
    folder: str, env: Mapping[str, str], *, without: str | None = None, kind: str = "--all"
) -> None:
    """`git add -A`, but no repository in an untracked folder."""
    listed = _git(folder, "ls-files", "--others", "--exclude-standard", "-z", env=env)
    left_out = [each for each in listed.split(b"\0") if each.endswith(b"/")]
    if without is not None and _is_below(without, folder):
        left_out.append(os.fsencode(os.path.relpath(os.path.realpath(without), folder)))
    paths = [b".", *(b":(exclude,top,literal)" + each.rstrip(b"/") for each in left_out)]
    words = ("add", kind, "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
    beside_others(lambda: _git(folder, *words, env=env, stdin=b"\0".join(paths)))


@contextmanager
def _with_untracked(folder: str) -> Iterator[Mapping[str, str]]:
    """Variables that name a copy of the index in which untracked files are known, for one block."""
    [index] = _lines(folder, "rev-parse", "--path-format=absolute", "--git-path", "index")
    with _copied(index) as copy:
        env = {"GIT_INDEX_FILE": copy, **_NO_LOCKS}
        _add_all(folder, env, kind="--intent-to-add")
        yield env


def _is_below(folder: str, top: str) -> bool:
    real = os.path.realpath(folder)
    return os.path.commonpath((real, top)) == top and real != top


@contextmanager
def _copied(index: str) -> Iterator[str]:
    """A copy of an index, for one block; of one that does not exist, its future place."""
    with tempfile.TemporaryDirectory(prefix="uwf-") as folder:
        copy = os.path.join(folder, "index")
        if os.path.exists(index):
            shutil.copy2(index, copy)  # by its time, git knows which files may have changed since
        yield copy


def _identity(folder: str) -> Mapping[str, str]:
    """Variables that name uwf as the author, if the user has configured no name."""
    words = ("-c", "user.useConfigOnly=true", "var", "GIT_COMMITTER_IDENT")
    return _UWF if _optional(folder, *words) is None else NO_ENV


def _make_writable(action: Callable[..., Any], path: str, _error: Any) -> None:
    """Repeat a deletion in a folder that was not writable."""
    os.chmod(os.path.dirname(path), stat.S_IRWXU)
    action(path)
