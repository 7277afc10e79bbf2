"""Folders: copies are like the original, and nothing leads out of them."""

import os
import subprocess
from pathlib import Path

import pytest

from uwf_eval.task.tree import (
    EMPTY_DIGEST,
    TreeError,
    copy_tree,
    digest_of_tree,
    obstacles,
    remove_tree,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    (made / "sub" / "empty").mkdir(parents=True)
    (made / "run.sh").write_text("true\n")
    (made / "run.sh").chmod(0o755)
    (made / "sub" / "data").write_bytes(bytes(range(256)))
    (made / "sub" / "link").symlink_to("../run.sh")
    return made


def test_a_copy_has_the_digest_of_the_original_and_any_change_another(
    folder: Path, tmp_path: Path
) -> None:
    copy_tree(folder, tmp_path / "copy")
    digest = digest_of_tree(folder)
    assert digest_of_tree(tmp_path / "copy") == digest
    assert os.access(tmp_path / "copy" / "run.sh", os.X_OK)
    assert (tmp_path / "copy" / "sub" / "link").readlink() == Path("../run.sh")
    changes = [
        lambda: (folder / "run.sh").chmod(0o644),
        lambda: (folder / "sub" / "new").mkdir(),
        lambda: (folder / "sub" / "data").write_bytes(b""),
        lambda: (folder / "sub" / "data").rename(folder / "data"),
    ]
    seen = {digest}
    for change in changes:
        change()
        seen.add(digest_of_tree(folder))
    assert len(seen) == len(changes) + 1


def test_an_empty_folder_has_the_digest_of_nothing(tmp_path: Path) -> None:
    assert digest_of_tree(tmp_path) == EMPTY_DIGEST


def test_a_git_repository_in_a_fixture_stays_one(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("a")
    env = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *words], cwd=source, check=True, env=env)
    copy_tree(source, tmp_path / "copy")
    (tmp_path / "copy" / "a.txt").write_text("b")
    said = subprocess.run(
        ["git", "status", "--porcelain"], cwd=tmp_path / "copy", capture_output=True, env=env
    )
    assert said.stdout == b" M a.txt\n"


def test_what_would_reach_outside_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "up").symlink_to("../secret")
    (folder / "sub" / ".git").write_text("gitdir: /home/me/repo/.git")
    os.mkfifo(folder / "pipe")
    assert [name for name, _ in obstacles(folder)] == ["out", "pipe", "up", "sub/.git"]
    with pytest.raises(TreeError, match="out is a link that points outside"):
        copy_tree(folder, tmp_path / "copy")


def test_the_judges_copy_leaves_out_what_leads_outside(folder: Path, tmp_path: Path) -> None:
    (folder / "answer").symlink_to(tmp_path / "solution")
    (tmp_path / "solution").write_text("42")
    os.mkfifo(folder / "pipe")
    (folder / "locked").mkdir()
    (folder / "locked" / "x").write_text("x")
    (folder / "locked").chmod(0)
    copy_tree(folder, tmp_path / "copy", strict=False)
    names = sorted(each.name for each in (tmp_path / "copy").iterdir())
    assert names == ["locked", "run.sh", "sub"]
    assert (tmp_path / "copy" / "locked" / "x").read_text() == "x"


def test_a_folder_is_removed_whatever_its_modes(folder: Path) -> None:
    (folder / "sub").chmod(0)
    remove_tree(folder)
    assert not folder.exists()
    remove_tree(folder)
