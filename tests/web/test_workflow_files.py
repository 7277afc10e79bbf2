"""The editor's files: only below `.workflow` of the server's folder, and nothing is lost."""

import hashlib
import threading
from pathlib import Path

import pytest
from tests.disk import REPLACED, fill_disk, watched

from uwf_core.errors import UsageError
from uwf_web.workflow_files import (
    MAX_BYTES,
    NEW,
    FileChanged,
    read_workflow_file,
    save_workflow_file,
)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_new_file_is_made_with_its_folder(tmp_path: Path):
    assert read_workflow_file(tmp_path, "fix").sha256 == NEW
    assert not (tmp_path / ".workflow").exists()
    saved = save_workflow_file(tmp_path, "fix", "name: fix\n", NEW)
    assert (tmp_path / ".workflow" / "fix.yaml").read_text() == "name: fix\n"
    assert saved == ("fix", ".workflow/fix.yaml", "name: fix\n", digest("name: fix\n"))
    assert read_workflow_file(tmp_path, "fix") == saved


def test_a_file_is_replaced_only_if_it_is_still_the_one_that_was_read(tmp_path: Path):
    save_workflow_file(tmp_path, "fix", "one", NEW)
    file = tmp_path / ".workflow" / "fix.yaml"
    file.write_text("another program's")
    with pytest.raises(FileChanged) as raised:
        save_workflow_file(tmp_path, "fix", "mine", digest("one"))
    assert raised.value.current.text == "another program's"
    assert file.read_text() == "another program's"
    save_workflow_file(tmp_path, "fix", "mine", digest("another program's"))
    assert file.read_text() == "mine"
    file.unlink()
    with pytest.raises(FileChanged, match="was deleted"):
        save_workflow_file(tmp_path, "fix", "again", digest("mine"))
    assert not file.exists()


def test_the_other_suffix_and_the_mode_are_kept(tmp_path: Path):
    folder = tmp_path / ".workflow"
    folder.mkdir()
    file = folder / "fix.yml"
    file.write_text("one")
    file.chmod(0o640)
    save_workflow_file(tmp_path, "fix", "two", digest("one"))
    assert [each.name for each in folder.iterdir()] == ["fix.yml"]
    assert file.read_text() == "two"
    assert file.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "name", ["", "..", "../x", "a/b", ".x", "/x", "x\0", "x\n", "ä", "x" * 101]
)
def test_a_name_cannot_leave_the_folder(tmp_path: Path, name: str):
    with pytest.raises(UsageError, match="not a name"):
        read_workflow_file(tmp_path, name)
    with pytest.raises(UsageError, match="not a name"):
        save_workflow_file(tmp_path, name, "x", NEW)
    assert list(tmp_path.iterdir()) == []


def test_no_link_is_followed(tmp_path: Path):
    secret = tmp_path / "secret"
    secret.write_text("secret")
    inside = tmp_path / "project"
    folder = inside / ".workflow"
    folder.mkdir(parents=True)
    (folder / "fix.yaml").symlink_to(secret)
    for act in (
        lambda: read_workflow_file(inside, "fix"),
        lambda: save_workflow_file(inside, "fix", "x", digest("secret")),
    ):
        with pytest.raises(UsageError, match="a link"):
            act()
    assert secret.read_text() == "secret"


def test_a_folder_that_is_a_link_is_not_entered(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    project = tmp_path / "project"
    project.mkdir()
    (project / ".workflow").symlink_to(outside)
    with pytest.raises(UsageError, match="a link"):
        save_workflow_file(project, "fix", "x", NEW)
    assert list(outside.iterdir()) == []


def test_what_is_not_a_text_file_is_refused(tmp_path: Path):
    folder = tmp_path / ".workflow"
    (folder / "folder.yaml").mkdir(parents=True)
    (folder / "bytes.yaml").write_bytes(b"\xff")
    (folder / "large.yaml").write_bytes(b"x" * (MAX_BYTES + 1))
    for name, message in (("folder", "it is a folder"), ("bytes", "UTF-8"), ("large", "larger")):
        with pytest.raises(UsageError, match=message):
            read_workflow_file(tmp_path, name)
    for text in ("x" * (MAX_BYTES + 1), "\ud800"):
        with pytest.raises(UsageError):
            save_workflow_file(tmp_path, "new", text, NEW)
    assert not (folder / "new.yaml").exists()


def test_of_many_saves_at_once_one_wins(tmp_path: Path):
    save_workflow_file(tmp_path, "fix", "start", NEW)
    wins = []
    barrier = threading.Barrier(8)

    def save(number: int) -> None:
        barrier.wait()
        try:
            wins.append(save_workflow_file(tmp_path, "fix", f"text {number}", digest("start")).text)
        except FileChanged:
            return

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wins) == 1
    assert (tmp_path / ".workflow" / "fix.yaml").read_text() == wins[0]
    assert [each.name for each in (tmp_path / ".workflow").iterdir()] == ["fix.yaml"]


def test_what_the_editor_saved_survives_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = watched(monkeypatch)
    save_workflow_file(tmp_path, "fix", "one", NEW)
    assert asked == REPLACED


def test_a_full_disk_keeps_the_old_text_and_leaves_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save_workflow_file(tmp_path, "fix", "one", NEW)
    fill_disk(monkeypatch)
    with pytest.raises(UsageError, match="No space left"):
        save_workflow_file(tmp_path, "fix", "two", digest("one"))
    files = {each.name: each.read_text() for each in (tmp_path / ".workflow").iterdir()}
    assert files == {"fix.yaml": "one"}
