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
from typing import Any, Final, NamedTuple

from uwf_core.files.hazards import refused_by_user_git, words_of
from uwf_core.files.unfinished import check_finished
from uwf_core.files.worktree_entries import WorkingTree, beside_others, conflict_at, lock_of
from uwf_core.files.worktree_git import NO_LOCKS, git, lines, names, optional, path_of
from uwf_core.files.worktree_place import check_place
from uwf_core.process.folders import make_folder, sync_names
from uwf_core.process.git import NO_ENV, GitFailed, wait_for_lock
from uwf_core.process.path_walk import read_regular

_LONGEST_LIST: Final = 1_000
"""In characters, of the names in the message of a commit."""
_UWF: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "uwf"), ("EMAIL", "uwf@localhost"))
}


def folder_of(home: str, thread: str) -> str:
    """The folder of a thread's worktree."""
    return os.path.join(home, "worktrees", thread)


def find_working_tree(folder: str) -> WorkingTree:
    """The working tree that a folder lies in.

    Raises:
        GitFailed: there is none, or it has no commit.
    """
    real = os.path.realpath(folder)
    top, common = (
        os.path.realpath(path_of(real, each)) for each in ("--show-toplevel", "--git-common-dir")
    )
    inside = os.path.relpath(real, top)
    if inside.startswith(os.pardir):
        raise GitFailed(
            f"git takes {top!r} for the working tree, by core.worktree of its configuration; "
            f"`git -C {real} config --show-origin core.worktree` shows where that is set"
        )
    try:
        [head] = lines(top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except GitFailed as error:
        raise GitFailed(f"the repository {top!r} has no commit yet") from error
    return WorkingTree(top, "" if inside == os.curdir else inside, common, head)


def has_folder(tree: WorkingTree, commit: str) -> bool:
    """Whether the folder of a working tree is a folder in a commit, too.

    Raises:
        GitFailed: the repository does not have that commit.
    """
    if not tree.inside:
        git(tree.top, "cat-file", "-e", f"{commit}^{{commit}}")
        return True
    found = git(tree.top, "ls-tree", "-d", "-z", commit, "--", f"./{tree.inside}")
    return found.startswith(b"040000 tree")


def commit_of_state(tree: WorkingTree, message: str, *, without: str | None = None) -> str:
    """The commit with the state of a working tree: HEAD, or a new one on top of it with what is
    changed or untracked, and not ignored. Index, HEAD and branches stay as they are.

    Repositories in untracked folders are left out: they cannot be in a commit of this one. So is
    the folder `without`, that of uwf.
    """
    top = tree.top
    with _copied(path_of(top, "--git-path", "index")) as copy:
        env = {"GIT_INDEX_FILE": copy, **NO_LOCKS}
        _add_all(top, env, without=without)
        [files] = lines(top, "write-tree", env=env)
        [known] = lines(top, "rev-parse", f"{tree.head}^{{tree}}")
        if files == known:
            return tree.head
        own = _identity(top)
        words = ("commit-tree", files, "-p", tree.head, "-m", message)
        [commit] = lines(top, *words, env=own)
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
        lambda: git(top, *words, "-b", branch, folder, commit, inherits=inherits),
        lambda: optional(top, "update-ref", "-d", f"refs/heads/{branch}", commit),  # made first
    )
    check_place(folder)
    if checkout:
        _check_out_beyond(top, folder)


def _check_out_beyond(top: str, folder: str) -> None:
    """Write the files outside of a sparse checkout that the other working tree has nevertheless."""
    pointer = os.fsdecode(read_regular(".git", 4096, within=folder))
    entry = pointer.removeprefix("gitdir: ").rstrip("\n")
    if not os.path.exists(os.path.join(entry, "info", "sparse-checkout")):
        return
    skipped = git(folder, "ls-files", "-t", "-z").split(b"\0")
    paths = [line[2:] for line in skipped if line.startswith(b"S ")]
    present = [each for each in paths if os.path.lexists(os.path.join(os.fsencode(top), each))]
    if present:
        words = ("checkout", "--quiet", "--ignore-skip-worktree-bits", "--pathspec-from-file=-")
        wanted = b"\0".join(present)
        git(folder, "--literal-pathspecs", *words, "--pathspec-file-nul", stdin=wanted)


def _clear_worktree(tree: WorkingTree, folder: str, branch: str) -> None:
    """Remove what an interrupted `add_worktree` has left behind, if anything."""
    for each in (os.path.join(tree.common, "worktrees", os.path.basename(folder)), folder):
        if os.path.lexists(each):
            shutil.rmtree(each, onerror=_make_writable)
    name = f"refs/heads/{branch}"
    if git(tree.top, "for-each-ref", name).strip():
        git(tree.top, "update-ref", "-d", name)


def commit_worktree(folder: str, branch: str, message: str) -> str:
    """Commit all that is uncommitted in a worktree; its HEAD afterwards.

    Raises:
        GitFailed: also if its work is not finished: see `unfinished.find_unfinished`.
    """
    check_finished(folder, branch)
    _go_to_branch(folder, branch)
    _show_hidden(folder)
    refused = _add_all(folder, NO_LOCKS)
    if refused:
        message = f"{message}\n\nNot in it: {words_of(refused, _LONGEST_LIST)}"
    if lines(folder, "diff-index", "--cached", "--name-only", "HEAD"):
        words = ("--quiet", "--no-verify", "--no-gpg-sign", "--allow-empty", "-m", message)
        git(folder, "commit", *words, env=_identity(folder))
    return lines(folder, "rev-parse", "HEAD")[0]


def _go_to_branch(folder: str, branch: str) -> None:
    """Let HEAD be the branch of the worktree, and the branch the commit that is checked out: a
    commit of uwf is never added to another branch, which may be that of the user.
    """
    name, message = f"refs/heads/{branch}", ("-m", "uwf: follow HEAD")
    [head] = lines(folder, "rev-parse", "HEAD")
    if optional(folder, "symbolic-ref", "--quiet", name) is not None:
        git(folder, "symbolic-ref", "--delete", name)
    tip = optional(folder, "rev-parse", "--verify", "--quiet", name)
    if tip != head:
        git(folder, "update-ref", "--no-deref", *message, name, head, *([tip] if tip else []))
    if optional(folder, "symbolic-ref", "--quiet", "HEAD") != name:
        git(folder, "symbolic-ref", *message, "HEAD", name)


def _show_hidden(folder: str, env: Mapping[str, str] = NO_ENV) -> None:
    """Let git look at files that an index marks as unchanged or skipped."""
    flagged = names(folder, "ls-files", "-v", "-z", env={**NO_LOCKS, **env})
    top = os.fsencode(folder)
    hidden = [
        line[2:]
        for line in flagged
        if line[:1].islower() or (line[:1] == b"S" and os.path.lexists(os.path.join(top, line[2:])))
    ]
    for flag in ("--no-assume-unchanged", "--no-skip-worktree") if hidden else ():
        given = b"\0".join(hidden) + b"\0"
        git(folder, "update-index", flag, "-z", "--stdin", env=env, stdin=given)


def has_changes(folder: str) -> bool:
    """Whether anything in a worktree is uncommitted; ignored files do not count."""
    with _all_shown(folder) as env:
        return bool(git(folder, *_CHANGES, env=env))


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
        counts = git(folder, *_DIFF, "-z", "--numstat", base, env=env).split(b"\0")
        kinds = git(folder, *_DIFF, "-z", "--name-status", base, env=env).split(b"\0")
    found = []
    for line, status in zip(counts[:-1], kinds[::2], strict=False):
        added, deleted, path = line.split(b"\t", 2)
        numbers = [None if each == b"-" else int(each) for each in (added, deleted)]
        found.append(FileChange(path.decode(errors="replace"), status.decode(), *numbers))
    return found


def patch_since(folder: str, base: str) -> bytes:
    """The same changes as a patch for `git apply`, after a summary."""
    with _with_untracked(folder) as env:
        return git(folder, *_DIFF, "--stat=100", "--patch", "--binary", base, env=env)


_CHANGES: Final = (
    *("status", "--porcelain", "-z", "--untracked-files=normal", "--ignore-submodules=none"),
)
_DIFF: Final = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=dirty"),
)


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
    common = path_of(folder, "--git-common-dir")
    if not _is_of_branch(folder, branch):
        raise GitFailed(f"it is not at the branch {branch}, so it may be your worktree")
    loose = ("rev-list", "--max-count=1", "HEAD", "--not", "--branches", "--remotes")
    if git(folder, *loose).strip():
        raise GitFailed("no branch has the commit that is checked out in it")
    is_known = _is_in_others(folder, branch, base)
    env = {"GIT_DIR": common}
    beside_others(lambda: git(common, "worktree", "remove", folder, env=env))
    if is_known:
        git(common, "update-ref", "-d", f"refs/heads/{branch}", env=env)
    return is_known


def _is_of_branch(folder: str, branch: str) -> bool:
    """Whether a worktree was made for a branch: a bundle can name any folder of the user."""
    if branch.endswith("/" + os.path.basename(folder)):
        return True
    return optional(folder, "symbolic-ref", "--quiet", "HEAD") == f"refs/heads/{branch}"


def _is_in_others(folder: str, branch: str, base: str) -> bool:
    name = f"refs/heads/{branch}"
    if optional(folder, "rev-parse", "--verify", "--quiet", name) is None:
        return False
    others = ("--not", base, f"--exclude={branch}", "--branches", "--remotes")
    return not git(folder, "rev-list", "--max-count=1", name, *others).strip()


# -- what the functions above use ------------------------------------------------------------------


def _add_all(
    folder: str, env: Mapping[str, str], *, without: str | None = None, kind: str = "--all"
) -> dict[bytes, str]:
    """`git add -A`, but no repository in an untracked folder, and no name that git refuses; these
    names, with the cause.
    """
    others = git(folder, "ls-files", "--others", "--exclude-standard", "-z", env=env).split(b"\0")
    refused = refused_by_user_git(others)
    left_out = [*refused, *(each for each in others if each.endswith(b"/"))]
    if without is not None and _is_below(without, folder):
        left_out.append(os.fsencode(os.path.relpath(os.path.realpath(without), folder)))
    paths = [b".", *(b":(exclude,top,literal)" + each.rstrip(b"/") for each in left_out)]
    words = ("add", kind, "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
    beside_others(lambda: git(folder, *words, env=env, stdin=b"\0".join(paths)))
    return refused


@contextmanager
def _all_shown(folder: str) -> Iterator[Mapping[str, str]]:
    """Variables that name a copy of the index in which no file is hidden, for one block."""
    with _copied(path_of(folder, "--git-path", "index")) as copy:
        env = {"GIT_INDEX_FILE": copy, **NO_LOCKS}
        _show_hidden(folder, env)
        yield env


@contextmanager
def _with_untracked(folder: str) -> Iterator[Mapping[str, str]]:
    """The same, with a copy in which untracked files are known."""
    with _all_shown(folder) as env:
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
    return _UWF if optional(folder, *words) is None else NO_ENV


def _make_writable(action: Callable[..., Any], path: str, _error: Any) -> None:
    """Repeat a deletion in a folder that was not writable."""
    os.chmod(os.path.dirname(path), stat.S_IRWXU)
    action(path)
