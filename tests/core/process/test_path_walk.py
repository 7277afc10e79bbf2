"""A file or folder that is exchanged for a link after it was looked at is not followed."""

import os
from pathlib import Path

import pytest

from uwf_core.process.path_walk import ENTER, PathOutside, PathWalk, open_regular


def exchange(path: Path, target: Path) -> None:
    """Put a link to `target` where a file or folder was."""
    path.rename(path.with_name("put-aside"))
    path.symlink_to(target)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder beside another one, whose files are nobody's business."""
    for name in ("root", "outside"):
        (tmp_path / name / "folder").mkdir(parents=True)
        (tmp_path / name / "folder" / "file").write_text(name)
    return tmp_path / "root"


def test_a_file_that_is_exchanged_for_a_link_is_not_followed(root: Path) -> None:
    folder = os.open(root, ENTER)
    with PathWalk(folder, ["folder", "file"]) as walk:
        found = walk.end()
        exchange(root / "folder" / "file", root.parent / "outside" / "folder" / "file")
        with pytest.raises(OSError, match="symbolic link"):
            open_regular(found.folder, found.name)
    os.close(folder)


def test_a_folder_that_is_exchanged_for_a_link_is_not_entered(root: Path) -> None:
    folder = os.open(root, ENTER)

    def late(_path: str) -> None:
        exchange(root / "folder", root.parent / "outside" / "folder")

    with PathWalk(folder, ["folder", "file"], entering=late) as walk, pytest.raises(OSError):
        walk.end()
    os.close(folder)


@pytest.mark.parametrize("path", ["../outside/folder/file", "folder/../../outside/folder/file"])
def test_a_path_and_a_link_that_climb_out_are_outside(root: Path, path: str) -> None:
    (root / "climbs").symlink_to(path)
    folder = os.open(root, ENTER)
    for parts in (path.split("/"), ["climbs"], ["folder", "..", "climbs"]):
        with PathWalk(folder, parts) as walk, pytest.raises(PathOutside):
            walk.end()
    os.close(folder)
