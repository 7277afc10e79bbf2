"""On which file system a folder lies: on one of a network locks and the log of SQLite can fail."""

import os

_NETWORK = (
    "9p afs ceph cifs davfs fuse.cephfs fuse.glusterfs fuse.rclone fuse.s3fs fuse.sshfs glusterfs "
    "gpfs lustre ncpfs nfs nfs4 smb3 smbfs"
)
_TABLE = "/proc/self/mountinfo"


def network_kind(folder: str) -> str | None:
    """The kind of the network file system that a folder is on; None if it is on none that is known,
    or the system does not say.
    """
    try:
        with open(_TABLE, encoding="utf-8", errors="surrogateescape") as file:
            kind = kind_in(file.read(), os.path.realpath(folder))
    except OSError:  # not Linux
        return None
    return kind if kind in _NETWORK.split() else None


def kind_in(table: str, path: str) -> str:
    """The kind of the file system of a path, by a table of mounts as Linux writes it."""
    longest, found = "", ""
    for line in table.split("\n"):
        before, _, after = line.partition(" - ")
        words = before.split(" ")
        if len(words) < 5:
            continue
        place = words[4].encode().decode("unicode_escape").rstrip("/")  # \040 is a blank
        if f"{path}/".startswith(f"{place}/") and len(place) >= len(longest):
            longest, found = place, after.partition(" ")[0]
    return found
