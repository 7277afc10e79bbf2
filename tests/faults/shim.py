"""The preloaded disk (`disk_shim.c`): built, put under this process, and steered."""

import ctypes
import errno
import os
import shutil
import subprocess
import sys
from enum import IntFlag
from pathlib import Path
from typing import NamedTuple

from tests.faults.table import Skipped

SOURCE = Path(__file__).with_name("disk_shim.c")
VARIABLE = "UWF_FAULTS_SHIM"
"""Names the library that is preloaded, or says why there is none (beginning with `no`)."""


class Kind(IntFlag):
    """The calls that the shim knows; as in `disk_shim.c`."""

    OPEN = 1
    READ = 2
    WRITE = 4
    TRUNCATE = 8
    SYNC = 16
    RENAME = 32
    UNLINK = 64
    MKDIR = 128
    OPEN_TO_WRITE = 256
    LINK = 512


_NAMES = Kind.RENAME | Kind.LINK | Kind.UNLINK | Kind.MKDIR | Kind.OPEN_TO_WRITE
_STATE_FD = 200
_WRAPPER = """#!/bin/sh
state=/proc/$PPID/fd/{fd}
[ -e "$state" ] && export LD_PRELOAD={library} UWF_FAULTS_STATE="$state"
exec {git} "$@"
"""
_CHANGES = Kind.WRITE | Kind.TRUNCATE | _NAMES


class DiskFault(NamedTuple):
    """Which calls fail, and how.

    Attributes:
        kinds: the calls that are counted.
        error: what they answer; 0 with `short`: the write says how much it did.
        lasting: all later ones fail as well.
        short: half of the bytes of a write are stored.
    """

    kinds: Kind
    error: int
    lasting: bool = False
    short: bool = False


FAULTS = {
    "EIO": DiskFault(Kind.READ | Kind.WRITE | Kind.SYNC | Kind.TRUNCATE, errno.EIO),
    "EIO, lasting": DiskFault(Kind.WRITE | Kind.SYNC, errno.EIO, lasting=True),
    "ENOSPC": DiskFault(_CHANGES ^ Kind.UNLINK ^ Kind.TRUNCATE, errno.ENOSPC),
    "EACCES": DiskFault(_CHANGES ^ Kind.WRITE ^ Kind.TRUNCATE, errno.EACCES),
    "EROFS": DiskFault(_CHANGES ^ Kind.WRITE ^ Kind.TRUNCATE, errno.EROFS, lasting=True),
    "EMFILE": DiskFault(Kind.OPEN | Kind.OPEN_TO_WRITE, errno.EMFILE),
    "EMFILE, lasting": DiskFault(Kind.OPEN | Kind.OPEN_TO_WRITE, errno.EMFILE, lasting=True),
    "short write": DiskFault(Kind.WRITE, 0, short=True),
}
"""Every I/O error that is tried at every call. A new one is a line here."""

DISK_FULL = {
    "full": DiskFault(FAULTS["ENOSPC"].kinds, errno.ENOSPC, lasting=True),
    "full, half written": DiskFault(Kind.WRITE, errno.ENOSPC, lasting=True, short=True),
}


def build(folder: Path) -> str:
    """The shim's library, built into `folder`; or why there is none, beginning with `no`."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if sys.platform != "linux":
        return "no shim: the preloaded disk is for Linux"
    if compiler is None:
        return "no shim: there is no C compiler (cc, gcc or clang) on the PATH"
    library = folder / "disk_shim.so"
    command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(SOURCE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return str(library) if done.returncode == 0 else f"no shim: {done.stderr.strip()[:300]}"


class Shim:
    """The preloaded disk of this process.

    Raises:
        Skipped: there is none.
    """

    def __init__(self) -> None:
        path = os.environ.get(VARIABLE, "no shim: run this by `python -m tests.faults`")
        if path.startswith("no"):
            raise Skipped(path)
        self._path, self._library = path, ctypes.CDLL(path)

    def share(self, folder: Path) -> None:
        """Let git, started from this process, do as this process does from now on."""
        if self._library.faults_share(_STATE_FD):
            raise OSError("the state of the shim cannot be shared")
        wrapper, git = folder / "git", shutil.which("git")
        if not wrapper.exists():
            folder.mkdir(exist_ok=True)
            draft = folder / f"git-{os.getpid()}"
            draft.write_text(_WRAPPER.format(fd=_STATE_FD, library=self._path, git=git))
            draft.chmod(0o755)
            draft.rename(wrapper)
        os.environ["PATH"] = f"{folder}:{os.environ['PATH']}"

    def record(self, root: Path, log: int) -> None:
        """Write every change below `root` to the file descriptor `log`."""
        self._library.faults_record(os.fsencode(root), log)

    def arm(self, root: Path, fault: DiskFault, at: int) -> None:
        """Let the `at`-th call (from 1) below `root` fail."""
        self._library.faults_arm(
            os.fsencode(root), int(fault.kinds), ctypes.c_long(at), fault.error,
            int(fault.lasting), int(fault.short),
        )  # fmt: skip

    def seen(self, kinds: Kind) -> int:
        """How many calls of these kinds there were since `arm`."""
        self._library.faults_seen.restype = ctypes.c_long
        return int(self._library.faults_seen(int(kinds)))
