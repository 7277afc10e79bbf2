"""Nothing in the `.git` of a user changes but the worktree's entry, its branch, and objects."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.core.worktrees import git, repository
from tests.zoo.repositories import (
    crlf,
    filtered,
    hooked,
    in_merge,
    in_submodule,
    linked,
    nested,
    plain,
    sparse,
    split_index,
    staged,
    submodule,
)

from uwf_core.files.worktree import (
    add_worktree,
    commit_of_state,
    commit_worktree,
    find_working_tree,
    has_changes,
    has_folder,
    making_worktree,
    remove_worktree,
)
from uwf_core.process.git import GitFailed

NAME = "01M85C4RVAEW7P0Q4736FN55PK"
BRANCH = f"uwf/{NAME}"


def contents(top: Path) -> dict[str, bytes]:
    """Every file of git, but objects, and what belongs to the worktree and its branch."""
    own = (f"worktrees/{NAME}/", f"heads/{BRANCH}")
    found = {}
    for file in sorted(top.rglob("*")):
        name = f"{file.relative_to(top)}"
        if file.is_file() and "objects/" not in name and not any(each in name for each in own):
            found[name] = file.read_bytes()
    return found


def tree_of(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and ".git" not in file.relative_to(folder).parts
    }


def unix(files: dict[str, bytes]) -> dict[str, bytes]:
    """Files with the line ends that git stores: those on the disk are the user's choice."""
    return {name: each.replace(b"\r\n", b"\n") for name, each in files.items()}


MAKERS = (
    *(plain, in_merge, staged, crlf, filtered, sparse, linked, submodule, in_submodule),
    *(nested, split_index, hooked),
)


@pytest.mark.parametrize("make", MAKERS, ids=lambda each: each.__name__)
def test_a_worktree_leaves_all_else_in_git_as_it_is(tmp_path, make: Callable[[Path], Path]):
    at = make(tmp_path / "project")
    top = tmp_path / "main" if make is linked else tmp_path / "project"
    before, files = contents(top), tree_of(at)
    status = git(at, "--no-optional-locks", "status", "--porcelain", "-uall")
    tree = find_working_tree(str(at))
    own = tmp_path / "home" / "worktrees" / NAME
    base = commit_of_state(tree, "state")
    assert has_folder(tree, base)
    add_worktree(tree.top, str(own), base, BRANCH)
    # All that git can hold is there as in the folder of the user.
    hidden = ("sub/", "inside/", "none/")
    wanted = {name: each for name, each in files.items() if not name.startswith(hidden)}
    assert unix(tree_of(own)) == unix(wanted)
    if make is sparse:  # what the user has not checked out is not checked out here either
        assert not (own / "out" / "c.txt").exists()
    assert not has_changes(str(own))
    (own / "new of role.txt").write_text("new\n")
    (own / "a.txt").write_text("changed\n")
    assert has_changes(str(own))
    head = commit_worktree(str(own), BRANCH, "work")
    assert not has_changes(str(own))
    assert git(own, "rev-parse", f"{BRANCH}^", "HEAD").split() == [base, head]
    assert contents(top) == before
    assert tree_of(at) == files
    assert git(at, "--no-optional-locks", "status", "--porcelain", "-uall") == status
    git(at, "fsck", "--connectivity-only", "--no-dangling")
    assert not remove_worktree(str(own), BRANCH, base), "no other branch has the work"
    assert not own.exists()
    assert contents(top) == before
    assert not (tmp_path / "hooked").exists()


def test_an_interrupted_worktree_is_made_anew(tmp_path):
    at = repository(tmp_path / "project")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    before = contents(at)
    entry = at / ".git" / "worktrees" / NAME
    for damage in ("all", "no folder", "no entry", "no pointer", "no branch"):
        with pytest.raises(KeyboardInterrupt), making_worktree(tree, str(own), BRANCH):
            add_worktree(tree.top, str(own), tree.head, BRANCH)
            if damage == "no folder":
                own.rename(tmp_path / "elsewhere")
            elif damage == "no entry":
                entry.rename(tmp_path / "entry")
            elif damage == "no pointer":
                (entry / "gitdir").unlink()
            elif damage == "no branch":
                git(at, "update-ref", "-d", f"refs/heads/{BRANCH}")
            raise KeyboardInterrupt
        with making_worktree(tree, str(own), BRANCH):
            assert contents(at) == before
            assert not own.exists() and not entry.exists()
        assert not [*own.parent.iterdir()]


@pytest.mark.parametrize("kind", ["branch", "worktree", "folder"])
def test_what_others_made_is_never_removed_for_a_worktree(tmp_path, kind):
    at = repository(tmp_path / "project")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    if kind == "branch":
        git(at, "update-ref", f"refs/heads/{BRANCH}", commit_of_state(tree, "mine"))
    elif kind == "worktree":  # such as that of the same thread in another home
        git(at, "worktree", "add", "--quiet", "--detach", f"{tmp_path / 'other' / NAME}")
    else:
        own.mkdir(parents=True)
        (own / "mine").write_text("mine\n")
    before = contents(tmp_path), git(at, "worktree", "list")
    for _ in range(2):
        with (
            pytest.raises(GitFailed, match="exists, and not by"),
            making_worktree(tree, str(own), BRANCH),
        ):
            raise AssertionError
    assert (contents(tmp_path), git(at, "worktree", "list")) == before
    if kind == "branch":
        git(at, "rev-parse", "--verify", BRANCH)


def test_a_folder_that_is_no_part_of_a_commit_is_recognized(tmp_path):
    at = repository(tmp_path / "project", **{"sub dir/b.txt": "b\n"})
    (at / "empty").mkdir()
    tree = find_working_tree(str(at / "sub dir"))
    assert (tree.inside, has_folder(tree, tree.head)) == ("sub dir", True)
    assert not has_folder(find_working_tree(str(at / "empty")), tree.head)
    with pytest.raises(GitFailed):
        has_folder(find_working_tree(str(at)), "1" * 40)


def test_a_branch_that_another_one_contains_is_removed_with_its_worktree(tmp_path):
    at = repository(tmp_path / "project")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    add_worktree(tree.top, str(own), tree.head, BRANCH)
    (own / "b.txt").write_text("b\n")
    commit_worktree(str(own), BRANCH, "work")
    git(at, "merge", "-q", "--no-edit", BRANCH)
    assert remove_worktree(str(own), BRANCH, tree.head)
    assert git(at, "for-each-ref", "refs/heads/uwf") == ""
    assert (at / "b.txt").exists()


def test_a_branch_without_work_is_removed_although_it_begins_with_uncommitted_changes(tmp_path):
    at = repository(tmp_path / "project")
    (at / "b.txt").write_text("of the user\n")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    base = commit_of_state(tree, "state")
    assert base != tree.head
    add_worktree(tree.top, str(own), base, BRANCH)
    assert remove_worktree(str(own), BRANCH, base)
    assert git(at, "branch", "--list", "uwf/*") == "" and (at / "b.txt").exists()


def test_a_worktree_of_the_user_is_never_removed(tmp_path):
    """A bundle can name it as the worktree of a thread."""
    at = repository(tmp_path / "project")
    git(at, "worktree", "add", "-q", "-b", "mine", str(tmp_path / "mine"))
    with pytest.raises(GitFailed, match="may be your worktree"):
        remove_worktree(str(tmp_path / "mine"), BRANCH, git(at, "rev-parse", "HEAD"))
    assert (tmp_path / "mine" / "a.txt").exists()


def test_work_at_a_detached_commit_gets_to_the_branch_or_is_reported(tmp_path):
    at = repository(tmp_path / "project")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    add_worktree(tree.top, str(own), tree.head, BRANCH)
    git(own, "checkout", "-q", "--detach")
    (own / "b.txt").write_text("b\n")
    head = commit_worktree(str(own), BRANCH, "work")
    assert git(at, "rev-parse", BRANCH) == head
    git(own, "checkout", "-q", "--detach", "HEAD^")
    with pytest.raises(GitFailed, match="does not contain the branch"):
        commit_worktree(str(own), BRANCH, "more")


def test_a_merge_that_a_role_left_open_is_never_committed(tmp_path):
    at = in_merge(tmp_path / "project")
    git(at, "merge", "--abort")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    add_worktree(tree.top, str(own), tree.head, BRANCH)
    with pytest.raises(Exception, match="merge"):
        git(own, "merge", "other")
    with pytest.raises(GitFailed, match=r"git merge is not finished with conflicts in a\.txt"):
        commit_worktree(str(own), BRANCH, "work")
    assert git(own, "rev-parse", "HEAD") == tree.head
    (own / "a.txt").write_text("both\n")
    git(own, "commit", "-qam", "merged")
    assert commit_worktree(str(own), BRANCH, "work") == git(own, "rev-parse", "HEAD")


def test_uwf_is_the_author_if_the_user_has_no_name(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    at = repository(tmp_path / "project")
    for name in ("name", "email"):
        git(at, "config", "--unset", f"user.{name}")
    (at / "a.txt").write_text("changed\n")
    commit = commit_of_state(find_working_tree(str(at)), "state")
    assert git(at, "log", "-1", "--format=%an <%ae>", commit) == "uwf <uwf@localhost>"


def test_the_home_of_uwf_in_the_repository_is_no_part_of_the_state(tmp_path):
    at = repository(tmp_path / "project")
    (at / ".home" / "worktrees").mkdir(parents=True)
    (at / ".home" / "store.db").write_text("x")
    (at / "b.txt").write_text("b\n")
    commit = commit_of_state(find_working_tree(str(at)), "state", without=str(at / ".home"))
    assert git(at, "ls-tree", "-r", "--name-only", commit).split() == ["a.txt", "b.txt"]


def test_a_user_may_commit_meanwhile(tmp_path):
    """Threads get worktrees side by side while a user commits: all of them succeed."""
    at = repository(tmp_path / "project")
    failed: list[BaseException] = []

    def begin(number: int) -> None:
        try:
            for each in range(5):
                tree = find_working_tree(str(at))
                base = commit_of_state(tree, "state")
                name = f"{NAME}{number}{each}"
                add_worktree(tree.top, str(tmp_path / "home" / name), base, f"uwf/{name}")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(2)]
    for each in threads:
        each.start()
    for number in range(20):
        (at / "a.txt").write_text(f"{number}\n")
        git(at, "commit", "-qam", f"{number}")
    for each in threads:
        each.join()
    assert failed == []
    assert git(at, "rev-list", "--count", "main") == "21"
    assert git(at, "status", "--porcelain") == ""
    assert len(git(at, "branch", "--list", "uwf/*").splitlines()) == 10


def half_made_entry(at):
    """What `git worktree add` of another process leaves for a moment, so that every other fails."""
    entry = at / ".git" / "worktrees" / "other"
    entry.mkdir(parents=True)
    (entry / "gitdir").write_text(f"{at.parent / 'other' / '.git'}\n")
    (entry / "HEAD").write_text("ref: refs/heads/main\n")
    (entry / "commondir").touch()
    return entry / "commondir"


def test_a_worktree_that_somebody_else_is_just_making_is_waited_for(tmp_path):
    at = repository(tmp_path / "project")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    unwritten = half_made_entry(at)
    with pytest.raises(Exception, match="128"):
        git(at, "worktree", "list")
    threading.Timer(0.3, unwritten.write_text, ["../..\n"]).start()
    add_worktree(tree.top, str(own), tree.head, BRANCH)
    assert git(own, "rev-parse", "--abbrev-ref", "HEAD") == BRANCH
    unwritten.write_text("")
    threading.Timer(0.3, unwritten.write_text, ["../..\n"]).start()
    assert remove_worktree(str(own), BRANCH, tree.head)


def test_an_entry_that_stays_half_made_is_named_and_no_branch_is_left(tmp_path):
    at = repository(tmp_path / "project")
    tree, own = find_working_tree(str(at)), tmp_path / "home" / NAME
    half_made_entry(at)
    with pytest.raises(GitFailed, match="worktrees/other/commondir"):
        add_worktree(tree.top, str(own), tree.head, BRANCH)
    assert not own.exists()
    assert git(at, "for-each-ref", "refs/heads/uwf") == ""


def test_a_file_that_somebody_is_just_writing_is_read_again(tmp_path, monkeypatch):
    """A file that became shorter while git read it ends `git add`, here twice."""
    at = repository(tmp_path / "project")
    (at / "a.txt").write_text("changed\n")
    programs, met = tmp_path / "programs", tmp_path / "met"
    programs.mkdir()
    (programs / "git").write_text(
        f"""#!/bin/sh
case " $* " in *" add "*) if [ "$(wc -l < '{met}')" -lt 2 ]; then echo >> '{met}'
    echo 'error: short read while indexing a.txt' >&2
    echo 'fatal: updating files failed' >&2; exit 128; fi;; esac
exec '{shutil.which("git")}' "$@"
"""
    )
    (programs / "git").chmod(0o755)
    met.touch()
    monkeypatch.setenv("PATH", str(programs), prepend=os.pathsep)
    commit = commit_of_state(find_working_tree(str(at)), "state")
    assert git(at, "show", f"{commit}:a.txt") == "changed"
    assert met.read_text() == "\n\n"
