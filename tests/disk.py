"""What a program asks of the disk, and a disk that is full."""

import errno
import os
import stat

import pytest

REPLACED = ["sync the file", "rename", "sync the folder"]
"""How a file is replaced so that a power cut leaves the old or the new content."""


def watched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Each sync and each rename from now on, in their order."""
    asked = list[str]()
    fsync, rename, replace = os.fsync, os.rename, os.replace

    def watched_fsync(descriptor):
        status = os.fstat(descriptor)
        file = "sync the file" if status.st_size else "sync before it is written"
        asked.append("sync the folder" if stat.S_ISDIR(status.st_mode) else file)
        fsync(descriptor)

    def watched_rename(*names, **folders):
        asked.append("rename")
        rename(*names, **folders)

    def watched_replace(*names, **folders):
        asked.append("rename")
        replace(*names, **folders)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "rename", watched_rename)
    monkeypatch.setattr(os, "replace", watched_replace)
    return asked


def fill_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on no file reaches the disk."""

    def fsync(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fsync)
