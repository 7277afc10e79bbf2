"""What git must not meet in a folder that agents write: found before git starts, without opening
anything but folders.

Git opens some files by their names, and waits for ever if one is a named pipe. Other names it
refuses, and one of them would end the record of the whole folder.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from uwf_core.escape import in_line
from uwf_core.files.paths import shown
from uwf_core.process.git import GitFailed, check_git_folder, check_read_by_git, time_check

_READ_BY_GIT: Final = (b".gitignore", b".gitattributes", b".gitmodules", b".mailmap")
_INVISIBLE: Final = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""What the file system of macOS ignores in a name."""
_WINDOWS_SPELLINGS: Final = re.compile(r"(\.git|git~1)[ .]*(:.*)?", re.IGNORECASE | re.DOTALL)
"""What Windows takes for `.git`, and git refuses everywhere unless a repository allows it."""
_REFUSED: Final = "git refuses this name"
_SPECIAL: Final = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


_MOST: Final = 10_000
"""If more paths than these cannot be recorded, nothing is."""
_LONGEST_SHOWN: Final = 200


class Hazards(NamedTuple):
    """What of a folder cannot be recorded.

    Attributes:
        left_out: why each path is not recorded.
        closed: the folders of them that cannot be read.
    """

    left_out: dict[bytes, str]
    closed: frozenset[bytes]


def is_refused(name: bytes) -> bool:
    """Whether git refuses a name in a path: another spelling of `.git`."""
    return _INVISIBLE.sub("", name.decode("utf-8", "replace")).lower() == ".git"


def refused_by_user_git(paths: Iterable[bytes]) -> dict[bytes, str]:
    """The paths that git refuses in a repository of the user, with the cause."""
    refused = [path for path in paths if any(map(_is_spelling, path.split(b"/")))]
    return dict.fromkeys(refused, _REFUSED)


def _is_spelling(name: bytes) -> bool:
    text = name.decode("utf-8", "replace")
    return is_refused(name) or _WINDOWS_SPELLINGS.fullmatch(text) is not None


def find_hazards(folder: str) -> Hazards:
    """Look through a folder, but not into repositories inside it.

    Raises:
        GitFailed: git would wait for a file that it reads, or read without end.
    """
    top, waiting = os.fsencode(folder), [b""]
    left_out, closed, check_time = dict[bytes, str](), set[bytes](), time_check("a look at it")
    while waiting:
        path = waiting.pop()
        check_time()
        try:
            entries = [*_entries(os.path.join(top, path))]
        except OSError as error:
            if not path:
                raise
            left_out[path] = f"a folder that cannot be read: {error.strerror}"
            closed.add(path)
            continue
        if path and any(each.name == b".git" for each in entries) and _is_repository(top, path):
            continue
        for entry in entries:
            inner = path + b"/" + entry.name if path else entry.name
            why = _why_not(entry)
            if why is not None:
                left_out[inner] = why
            elif entry.name != b".git" and entry.is_dir(follow_symlinks=False):
                waiting.append(inner)
        if len(left_out) > _MOST:
            some = words_of(left_out, 0)
            raise GitFailed(f"more than {_MOST:,} paths cannot be recorded: {some}")
    return Hazards(left_out, frozenset(closed))


def _why_not(entry: "os.DirEntry[bytes]") -> str | None:
    """Why an entry of a folder cannot be recorded, None if it can.

    Raises:
        GitFailed: as `find_hazards`.
    """
    if entry.name in _READ_BY_GIT:
        check_read_by_git(entry.path)
    if entry.name != b".git" and is_refused(entry.name):
        return _REFUSED
    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
        return None
    if entry.is_symlink():
        return None
    mode = entry.stat(follow_symlinks=False).st_mode
    return next((words for is_it, words in _SPECIAL if is_it(mode)), "a special file")


def words_of(left_out: dict[bytes, str], most: int) -> str:
    """The paths and why they are not recorded, in some `most` characters; at least one."""
    words, size = list[str](), 0
    for path in sorted(left_out):
        name = in_line(shown(path))
        short = name if len(name) <= _LONGEST_SHOWN else f"…{name[-_LONGEST_SHOWN:]}"
        word = f"{short} ({left_out[path]})"
        size += len(word)
        if words and size > most:
            words.append(f"{len(left_out) - len(words)} more")
            break
        words.append(word)
    return ", ".join(words)


def _entries(path: bytes) -> "Iterator[os.DirEntry[bytes]]":
    with os.scandir(path) as entries:
        yield from entries


def _is_repository(top: bytes, path: bytes) -> bool:
    """Whether git takes a folder for a repository, into which it does not look."""
    place = os.path.join(top, path)
    check_git_folder(os.fsdecode(place))
    inner = os.path.join(place, b".git")
    return os.path.isfile(inner) or os.path.isfile(os.path.join(inner, b"HEAD"))


def check_before_git(folder: str) -> None:
    """Look through a folder in which git is to work for the user.

    Raises:
        GitFailed: git would wait for a file that it reads, or read without end.
    """
    try:
        find_hazards(folder)
    except OSError as error:
        raise GitFailed(f"cannot read {folder!r}: {error.strerror}") from error
