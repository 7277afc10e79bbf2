"""Tasks out of tar archives: what would do harm is refused, and nothing of it stays."""

import gzip
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from uwf_core.client import Client
from uwf_core.errors import UwfError
from uwf_eval.task import archive as archive_module
from uwf_eval.task.archive import ArchiveError, unpack
from uwf_eval.task.load import find_task, take_task

TASK = b"name: packed\nworkflow: w\nprompt: p\njudges: [{name: t, builtin: duration}]\n"


def add(tar: tarfile.TarFile, name: str, data: bytes = b"", **settings: object) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in settings.items():
        setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data))


def pack(file: Path, fill: Callable[[tarfile.TarFile], None], mode: str = "w") -> Path:
    with tarfile.open(file, mode) as tar:  # type: ignore[call-overload]
        fill(tar)
    return file


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2"])
@pytest.mark.parametrize("top", ["", "./", "packed/"])
def test_a_packed_task_is_the_same_task(tmp_path: Path, mode: str, top: str) -> None:
    def fill(tar: tarfile.TarFile) -> None:
        add(tar, f"{top}task.yaml", TASK)
        add(tar, f"{top}fixture/run.sh", b"true", mode=0o755)

    file = pack(tmp_path / "t.tar", fill, mode)
    with Client.open(home=tmp_path / "home", cwd=tmp_path) as client:
        task = take_task(find_task("t.tar", client, tmp_path), tmp_path / "to", client).require()
    assert (task.name, task.source, task.place) == ("packed", "archive", str(file))
    assert (task.folder / "fixture" / "run.sh").stat().st_mode & 0o777 == 0o755


HARM: dict[str, Callable[[tarfile.TarFile], None]] = {
    "absolute": lambda tar: add(tar, "/tmp/evil", b"x"),
    "up": lambda tar: add(tar, "a/../../evil", b"x"),
    "symlink": lambda tar: add(tar, "l", type=tarfile.SYMTYPE, linkname="/etc"),
    "hard link": lambda tar: add(tar, "l", type=tarfile.LNKTYPE, linkname="task.yaml"),
    "device": lambda tar: add(tar, "d", type=tarfile.CHRTYPE, devmajor=1, devminor=3),
    "pipe": lambda tar: add(tar, "p", type=tarfile.FIFOTYPE),
    "duplicate": lambda tar: (add(tar, "a", b"1"), add(tar, "./a", b"2"))[0],
    "same but for case": lambda tar: (add(tar, "a", b"1"), add(tar, "A", b"2"))[0],
    "file and folder": lambda tar: (add(tar, "a", b"1"), add(tar, "a/b", b"2"))[0],
    "control characters": lambda tar: add(tar, "a\x1b[31m", b"1"),
    "backslash": lambda tar: add(tar, "..\\evil", b"1"),
}


@pytest.mark.parametrize("harm", HARM)
def test_a_harmful_member_is_refused_and_leaves_nothing(tmp_path: Path, harm: str) -> None:
    def fill(tar: tarfile.TarFile) -> None:
        add(tar, "task.yaml", TASK)
        HARM[harm](tar)

    file = pack(tmp_path / "t.tar", fill)
    with pytest.raises(ArchiveError) as raised:
        unpack(file, tmp_path / "to")
    assert raised.value.where == str(file) and raised.value.exit_code == 4
    assert sorted(each.name for each in tmp_path.iterdir()) == ["t.tar"]


def test_a_bomb_is_refused_before_it_fills_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "MAX_BYTES", 3_000_000)
    file = pack(tmp_path / "t.tgz", lambda tar: add(tar, "zeros", bytes(10_000_000)), "w:gz")
    assert file.stat().st_size < 20_000
    with pytest.raises(ArchiveError, match="more than 3,000,000 bytes"):
        unpack(file, tmp_path / "to")
    assert not (tmp_path / "to").exists()


def test_a_header_that_claims_gigabytes_is_not_read_into_memory(tmp_path: Path) -> None:
    info = tarfile.TarInfo("long")
    info.type, info.size = tarfile.XHDTYPE, 4_000_000_000
    (tmp_path / "t.tar").write_bytes(info.tobuf() + bytes(10_240))
    with pytest.raises(ArchiveError):
        unpack(tmp_path / "t.tar", tmp_path / "to")


def test_too_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MAX_MEMBERS", 5)
    file = pack(tmp_path / "t.tar", lambda tar: [add(tar, f"f{n}") for n in range(9)] and None)
    with pytest.raises(ArchiveError, match="more than 5 members"):
        unpack(file, tmp_path / "to")


@pytest.mark.parametrize("damage", ["cut", "noise", "empty", "zip", "xz"])
def test_what_is_no_whole_archive_is_refused(tmp_path: Path, damage: str) -> None:
    whole = pack(
        tmp_path / "w", lambda tar: add(tar, "task.yaml", TASK * 5000), "w:gz"
    ).read_bytes()
    data = {
        "cut": whole[: len(whole) // 2],
        "noise": gzip.compress(b"no tar at all" * 1000),
        "empty": b"",
        "zip": b"PK\x03\x04" + bytes(100),
        "xz": b"\xfd7zXZ\x00" + bytes(100),
    }[damage]
    (tmp_path / "t.tar").write_bytes(data)
    with pytest.raises(UwfError) as raised:
        unpack(tmp_path / "t.tar", tmp_path / "to")
    assert raised.value.code == "archive"
    assert not (tmp_path / "to").exists()
