"""The disk that fails: the shim writes down what is done, and the replay tells what may be left."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from tests.faults import shim
from tests.faults.replay import Replay, change, disk_of, operations

PROGRAM = """
import ctypes, os, sys
library, root, log = sys.argv[1:]
shim = ctypes.CDLL(library)
shim.faults_record(os.fsencode(root), os.open(log, os.O_WRONLY | os.O_CREAT))
os.mkdir(root + "/folder")
with open(root + "/draft", "wb", buffering=0) as file:
    file.write(b"first ")
    os.fsync(file.fileno())
    file.write(b"second")
os.rename(root + "/draft", root + "/folder/file")
os.truncate(os.open(root + "/folder/file", os.O_RDWR), 9)
os.unlink(root + "/old")
os.fsync(os.open(root, os.O_RDONLY))
os.fsync(os.open(root + "/folder", os.O_RDONLY))
"""


@pytest.fixture
def library(tmp_path: Path) -> str:
    built = shim.build(tmp_path)
    if built.startswith("no"):
        pytest.skip(built)
    return built


def test_what_is_done_is_written_down_and_done_again(library: str, tmp_path: Path) -> None:
    root, before = tmp_path / "root", tmp_path / "before"
    for folder in (root, before):
        folder.mkdir()
        (folder / "old").write_bytes(b"old")
    log = tmp_path / "log"
    command = [sys.executable, "-c", PROGRAM, library, str(root), str(log)]
    subprocess.run(command, env={**os.environ, "LD_PRELOAD": library}, check=True)
    replay, whole, least = Replay(disk_of(before)), [], []
    for operation in operations(log.read_bytes(), root):
        replay.do(operation)
        states = {each.what: each.disk() for each in replay.states(operation, random.Random(1), 1)}
        whole.append(states["all of it"])
        least.append(states["not even the names"])
    assert whole[-1] == {"folder": None, "folder/file": b"first sec"}
    # A sync of a file keeps no name, and one of a folder only the names within it.
    assert least[-5] == {"old": b"old"}
    assert least[-3] == {"folder": None}
    assert least[-1] == {"folder": None, "folder/file": b"first "}
    assert {"old": b"old", "folder": None, "draft": b"first second"} in whole


@pytest.mark.parametrize(
    ("offset", "data", "after"),
    [
        (0, b"X", b"Xbc"),
        (2, b"XY", b"abXY"),
        (5, b"X", b"abc\0\0X"),
        (2, None, b"ab"),
        (5, None, b"abc\0\0"),
    ],
)
def test_a_change_is_that_of_a_file(offset: int, data: bytes | None, after: bytes) -> None:
    content = bytearray(b"abc")
    change(content, offset, data)
    assert content == after
