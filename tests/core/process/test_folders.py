"""Folders of ours are for their owner alone, all the way up to what was there before."""

import os
import stat

import pytest
from tests.disk import REPLACED, fill_disk, watched

from uwf_core.errors import UsageError
from uwf_core.maintenance.replaced_file import replaced_file
from uwf_core.process.folders import make_folder


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_folder_that_is_made_is_closed_to_others_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        make_folder(str(tmp_path / "home" / "agents" / "mock"))
    finally:
        os.umask(before)
    for name in ("home", "home/agents", "home/agents/mock"):
        assert mode(tmp_path / name) == 0o700


def test_a_folder_that_is_there_stays_as_its_owner_made_it(tmp_path):
    (tmp_path / "home").mkdir(mode=0o750)
    make_folder(str(tmp_path / "home" / "logs"))
    assert mode(tmp_path / "home") == 0o750
    make_folder(str(tmp_path / "home"))


def test_a_file_in_the_way_is_an_error(tmp_path):
    (tmp_path / "home").write_text("")
    with pytest.raises(FileExistsError):
        make_folder(str(tmp_path / "home"))
    with pytest.raises(NotADirectoryError):
        make_folder(str(tmp_path / "home" / "logs"))


@pytest.mark.parametrize("path", ["/proc/nothing/there/at/all", "/proc/nothing", ""])
def test_where_nothing_can_be_made_the_system_says_so(path):
    """The kernel answers "no such file" below /proc, though the folder above is there."""
    with pytest.raises(OSError, match="No such file"):
        make_folder(path)


def test_two_processes_may_make_the_same_folder_at_the_same_moment(tmp_path, monkeypatch):
    """Another process makes the folder above just when we found it missing."""
    mkdir = os.mkdir

    def mkdir_and_lose_the_race(path, mode):
        try:
            mkdir(path, mode)
        except FileNotFoundError:
            mkdir(tmp_path / "home")
            raise

    monkeypatch.setattr(os, "mkdir", mkdir_and_lose_the_race)
    make_folder(str(tmp_path / "home" / "logs"))
    assert (tmp_path / "home" / "logs").is_dir()


def test_the_draft_of_an_export_is_hidden_until_it_is_whole(tmp_path):
    target = tmp_path / "thread.tar"
    with replaced_file(target, "the bundle") as file:
        [draft] = tmp_path.iterdir()
        assert draft.name.startswith(".thread.tar.")
        file.write(b"whole")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"whole"]


def test_an_interrupt_after_the_replacement_stays_an_interrupt(tmp_path, monkeypatch):
    def interrupted(draft, target):
        rename(draft, target)
        raise KeyboardInterrupt

    rename = os.replace
    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt), replaced_file(tmp_path / "thread.tar", "it") as file:
        file.write(b"whole")
    assert (tmp_path / "thread.tar").read_bytes() == b"whole"


def test_an_export_is_on_the_disk_before_its_name_is_and_then_its_name(tmp_path, monkeypatch):
    asked = watched(monkeypatch)
    with replaced_file(tmp_path / "thread.tar", "it") as file:
        file.write(b"whole")
    assert asked == REPLACED


def test_a_full_disk_leaves_the_old_export_and_nothing_beside_it(tmp_path, monkeypatch):
    (tmp_path / "thread.tar").write_bytes(b"old")
    fill_disk(monkeypatch)
    with (
        pytest.raises(UsageError, match="cannot write it: No space"),
        replaced_file(tmp_path / "thread.tar", "it") as file,
    ):
        file.write(b"whole")
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [b"old"]
