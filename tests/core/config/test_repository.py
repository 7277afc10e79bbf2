"""Which folders count as one repository: what git itself lists, and nothing that only says so."""

import os
import subprocess

import pytest

from uwf_core.config.repository import is_same_repository
from uwf_core.config.trust import is_trusted_workspace, trust


def git(folder, *words):
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", str(folder), *identity, *words]
    subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path):
    """A repository with a commit."""
    folder = tmp_path / "shop"
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "first")
    return folder


@pytest.fixture
def home(tmp_path):
    return str(tmp_path / "home")


@pytest.fixture
def worktree(repository, tmp_path):
    folder = tmp_path / "elsewhere" / "feature"
    git(repository, "worktree", "add", "--quiet", str(folder))
    return folder


def test_trust_of_a_repository_holds_in_its_folders_and_worktrees(home, repository, worktree):
    (repository / "src").mkdir()
    (worktree / "src").mkdir()
    assert not is_trusted_workspace(home, str(repository))
    trust(home, str(repository))
    for folder in (repository, repository / "src", worktree, worktree / "src"):
        assert is_trusted_workspace(home, str(folder))


def test_a_repository_within_a_trusted_one_is_not_trusted(home, repository):
    trust(home, str(repository))
    inner = repository / "vendor" / "cloned"
    inner.mkdir(parents=True)
    git(inner, "init", "--quiet")
    assert not is_trusted_workspace(home, str(inner))


def test_without_git_trust_is_for_the_very_folder(home, tmp_path):
    (tmp_path / "plain" / "below").mkdir(parents=True)
    trust(home, str(tmp_path / "plain"))
    assert is_trusted_workspace(home, str(tmp_path / "plain"))
    assert not is_trusted_workspace(home, str(tmp_path / "plain" / "below"))


@pytest.mark.parametrize("forgery", ["of the repository", "of its worktree", "a link", "relative"])
def test_a_folder_that_only_claims_to_be_of_a_repository_is_not(
    home, repository, worktree, tmp_path, forgery
):
    trust(home, str(repository))
    forged = tmp_path / "forged"
    forged.mkdir()
    own = repository / ".git" / "worktrees" / "feature"
    if forgery == "a link":
        (forged / ".git").symlink_to(repository / ".git")
    else:
        target = {
            "of the repository": repository / ".git",
            "of its worktree": own,
            "relative": os.path.relpath(own, forged),
        }[forgery]
        (forged / ".git").write_text(f"gitdir: {target}\n")
    assert not is_trusted_workspace(home, str(forged))
    assert not is_same_repository(str(forged), str(repository))
    assert is_same_repository(str(worktree), str(repository)), "the listed one still is"


def test_a_repository_that_lists_a_foreign_folder_does_not_get_it(repository, tmp_path):
    evil = tmp_path / "evil"
    evil.mkdir()
    git(evil, "init", "--quiet")
    listed = evil / ".git" / "worktrees" / "shop"
    listed.mkdir(parents=True)
    (listed / "gitdir").write_text(f"{repository}/.git\n")
    (listed / "commondir").write_text("../..\n")
    assert not is_same_repository(str(evil), str(repository))


def test_a_worktree_whose_own_folder_was_copied_is_none(repository, worktree, tmp_path):
    copied = tmp_path / "meta" / "worktrees" / "feature"
    copied.mkdir(parents=True)
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / ".git").write_text(f"gitdir: {copied}\n")
    (copied / "gitdir").write_text(f"{forged}/.git\n")
    (copied / "commondir").write_text(f"{repository}/.git\n")
    assert not is_same_repository(str(forged), str(repository))


def test_two_folders_without_git_are_no_repository(tmp_path):
    assert not is_same_repository(str(tmp_path), str(tmp_path))
