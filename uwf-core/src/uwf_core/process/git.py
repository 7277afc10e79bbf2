"""Run git: to ask about a folder that may be hostile, for one of uwf's repositories, or for one of
the user. Hooks never run, and no setting of the caller's environment redirects git.

Each command has a time limit, after which it is killed with the filters that it started. It is also
killed soon after the run to which it belongs is cancelled.
"""

# Steps that record files come through here, and pathlib is not imported for that:
# ruff: noqa: PTH112, PTH116, PTH118, PTH120

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO, TypedDict, Unpack

from uwf_core.escape import in_line
from uwf_core.process.cancel import current_cancel
from uwf_core.process.path_walk import ANYWHERE, read_regular

if TYPE_CHECKING:
    from subprocess import Popen

_ASK_SECONDS = 30.0
GIT_SECONDS = 120.0
"""The limit of a command, unless its caller knows a better one."""
LONG_SECONDS = 3600.0
"""The limit of one that goes through all objects of a home, for which no step waits."""
_TICK_SECONDS = 0.05
_DEATH_SECONDS = 1.0
"""How long a killed git is waited for: one that waits for a dead file system cannot be killed."""
_SETTINGS = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_NO_CONFIGURATION = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_USER_VARIABLES = ("HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "TMPDIR")
_NEUTRAL = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "core.abbrev=auto",
    "core.quotePath=false",
    "color.ui=false",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "diff.algorithm=default",
    "diff.context=3",
    "diff.indentHeuristic=true",
    "diff.interHunkContext=0",
    "diff.renames=false",
    "diff.wsErrorHighlight=none",
    "diff.relative=false",
    "diff.ignoreSubmodules=untracked",
    "diff.submodule=short",
    "diff.suppressBlankEmpty=false",
    f"diff.orderFile={os.devnull}",
    "diff.statGraphWidth=60",
    "diff.statNameWidth=1000",
    "status.renames=false",
    "status.relativePaths=true",
    "status.submoduleSummary=false",
    "status.showStash=false",
    "status.branch=false",
    "status.short=false",
    "log.showSignature=false",
    "submodule.recurse=false",
)
"""What the user sets for their own eyes may change neither what uwf reads nor what it shows."""
_WORDS = ("git", *(word for each in _NEUTRAL for word in ("-c", each)))
_MOST_LINES = 4
_LONGEST_LINE = 400

_IN_GIT = (
    *("HEAD", "commondir", "config", "config.worktree", "index", "packed-refs", "shallow"),
    *("info/attributes", "info/exclude", "info/sparse-checkout", "objects/info/alternates"),
)
"""What git reads in its folder, whatever it is asked."""
_MOST_BYTES = 10_000_000
"""The largest file with rules that git may read."""
_LARGE = ("index", "packed-refs")

NO_ENV: Mapping[str, str] = MappingProxyType({})


class GitOptions(TypedDict, total=False):
    """Of a git command.

    Attributes:
        env: more variables.
        stdin: its input, which may be a file for much data.
        stdout: a file for its output; then the result is empty.
        strict: whether a warning is an error.
        private: whether nobody else may read what it writes.
        inherits: file descriptors that it keeps open.
        seconds: its limit; None: `GIT_SECONDS`.
    """

    env: Mapping[str, str]
    stdin: bytes | BinaryIO
    stdout: BinaryIO | None
    strict: bool
    private: bool
    inherits: Sequence[int]
    seconds: float | None


class GitFailed(Exception):
    """A git command failed, or there is no git. The message is one line, with what git has said
    first, which is often the cause, and last.
    """


class GitStopped(GitFailed):
    """A git command was killed: at its limit, or since the run was cancelled."""


def ask_git(folder: str, *words: str) -> str | None:
    """The output of a read-only git command about a folder; None if it fails or git is missing.

    The folder may be hostile: nothing is fetched for it, no configuration of the user applies, and
    git itself is never run from the current folder.
    """
    env = {**_NO_CONFIGURATION, "GIT_OPTIONAL_LOCKS": "0"}
    command = ("-c", "safe.directory=*", "-C", folder, *words)
    try:
        check_git_folder(folder)
        return _run(command, {"env": env, "seconds": _ASK_SECONDS}).decode(errors="replace")
    except GitFailed:
        return None


def own_git(folder: str, *words: str, **options: Unpack[GitOptions]) -> bytes:
    """The output of a git command without any configuration of the user or the system: for a
    repository that uwf made. `env` names it (`GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE`).

    Raises:
        GitFailed: it failed.
    """
    env = {**_NO_CONFIGURATION, **options.get("env", NO_ENV)}
    return _run(("-C", folder, *words), {"private": True, **options, "env": env})


def user_git(folder: str, *words: str, **options: Unpack[GitOptions]) -> bytes:
    """The output of a git command as the user's own would give it, with the filters of the user's
    configuration, but without hooks.

    Raises:
        GitFailed: it failed.
    """
    check_git_folder(folder)
    own = {name: os.environ[name] for name in _USER_VARIABLES if name in os.environ}
    env = {**own, **options.get("env", NO_ENV)}
    return _run(("-C", folder, *words), {**options, "env": env})


def check_read_by_git(path: bytes | str, most_bytes: int | None = _MOST_BYTES) -> None:
    """Check that git may open a file, which need not exist.

    Raises:
        GitFailed: it would wait for a pipe or read a device, or there is more than `most_bytes`.
    """
    import stat

    try:
        found = os.stat(path)
    except OSError:
        return  # git cannot open it either
    if stat.S_ISDIR(found.st_mode) or stat.S_ISSOCK(found.st_mode):
        return  # it cannot be opened like a file
    if not stat.S_ISREG(found.st_mode):
        raise GitFailed(f"git would not end: it reads {os.fsdecode(path)!r}, which is not a file")
    if most_bytes is not None and found.st_size > most_bytes:
        raise GitFailed(f"{os.fsdecode(path)!r} has {found.st_size:,} bytes; git reads it at once")


def check_git_folder(folder: str) -> None:
    """Check what git reads of the repository in which a folder lies, if it is in one.

    Raises:
        GitFailed: git would not end, see `check_read_by_git`.
    """
    above = os.path.realpath(folder)
    while not os.path.lexists(own := os.path.join(above, ".git")):
        if above == (above := os.path.dirname(above)):
            return
    check_read_by_git(own)
    places = [own if os.path.isdir(own) else os.path.join(above, _one_line(own, "gitdir: "))]
    places.append(os.path.join(places[0], _one_line(os.path.join(places[0], "commondir"))))
    for place in dict.fromkeys(map(os.path.normpath, places)):
        for name in (*_IN_GIT, _one_line(os.path.join(place, "HEAD"), "ref: ")):
            if name:
                most = None if name in _LARGE else _MOST_BYTES
                check_read_by_git(os.path.join(place, name), most)


def _one_line(path: str, start: str = "") -> str:
    """What follows `start` in a file of git with one line; nothing if there is no such file."""
    try:
        text = os.fsdecode(read_regular(path, _MOST_BYTES, within=ANYWHERE))
    except OSError:
        return ""
    line = text.partition("\n")[0]
    return line.removeprefix(start) if line.startswith(start) and "\0" not in line else ""


def time_check(what: str, seconds: float | None = None) -> Callable[[], None]:
    """A function that raises `GitStopped` once `what` has taken longer than the limit of a git, or
    its run is cancelled.
    """
    cancel, seconds = current_cancel(), seconds or GIT_SECONDS
    deadline = time.monotonic() + seconds

    def check() -> None:
        if cancel is not None and cancel.is_over():
            raise GitStopped(f"{what} was stopped: {cancel.reason}")
        if time.monotonic() > deadline:
            raise GitStopped(f"{what} did not end within {seconds:g} s")

    return check


def wait_for_lock(descriptor: int, how: int) -> None:
    """Lock a file that others hold while their git works.

    Raises:
        GitStopped: it was held for longer than a git may take, or the run was cancelled.
    """
    import fcntl

    check = time_check("the work of another uwf there")
    while True:
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
            return
        check()
        time.sleep(_TICK_SECONDS)


def _run(words: tuple[str, ...], options: GitOptions) -> bytes:
    import subprocess

    with _as_file(options.get("stdin", b"")) as given:
        try:
            child = subprocess.Popen(
                (*_WORDS, *words),
                cwd="/",
                env={"PATH": os.environ.get("PATH", os.defpath), **_SETTINGS, **options["env"]},
                stdin=given or subprocess.DEVNULL,
                stdout=options.get("stdout") or subprocess.PIPE,
                stderr=subprocess.PIPE,
                umask=0o077 if options.get("private") else -1,
                pass_fds=options.get("inherits", ()),
                process_group=0,
            )
        except FileNotFoundError as error:
            raise GitFailed("git is not installed") from error
        except OSError as error:
            raise GitFailed(str(error)) from error
        said, complaint = _collect(child, options.get("seconds") or GIT_SECONDS)
    if child.returncode or (complaint and options.get("strict")):
        brief = _brief(complaint.decode(errors="replace"))
        raise GitFailed(brief or f"git ended with exit code {child.returncode}")
    return said or b""


@contextmanager
def _as_file(stdin: bytes | BinaryIO) -> Iterator[BinaryIO | None]:
    """What git reads, as a file; None if that is nothing. Through a pipe, `communicate` would not
    write the rest of it after a tick.
    """
    if not isinstance(stdin, bytes):
        yield stdin
    elif not stdin:
        yield None
    else:
        from tempfile import TemporaryFile

        with TemporaryFile() as file:
            file.write(stdin)
            file.seek(0)
            yield file


def _collect(child: "Popen[bytes]", seconds: float) -> tuple[bytes | None, bytes]:
    """What a git prints; kill it with all that it has started at the limit, or if the run is
    cancelled.

    Raises:
        GitStopped: it was killed.
    """
    from subprocess import TimeoutExpired

    cancel, check = current_cancel(), time_check(_name(child), seconds)
    if cancel is not None:
        cancel.groups.add(child.pid)
    try:
        while True:
            with suppress(TimeoutExpired):
                return child.communicate(timeout=_TICK_SECONDS)
            check()
    except BaseException:
        _kill(child)
        raise
    finally:
        if cancel is not None:
            cancel.groups.discard(child.pid)


def _name(child: "Popen[bytes]") -> str:
    """The command in a message, without its options and paths."""
    assert isinstance(child.args, tuple)
    words = iter(child.args[1:])
    for word in words:
        if word in ("-c", "-C"):
            next(words)
        elif not word.startswith("-"):
            return f"git {word}"
    return "git"


def _kill(child: "Popen[bytes]") -> None:
    import signal
    from subprocess import TimeoutExpired

    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(TimeoutExpired):
        child.wait(_DEATH_SECONDS)
    for stream in (child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def _brief(said: str) -> str:
    """The first and the last of the lines that git has written about an error, as one line."""
    lines = dict.fromkeys(each.strip()[:_LONGEST_LINE] for each in said.splitlines())
    kept = [each for each in lines if each and not each.startswith(("hint:", "Preparing worktree"))]
    errors = [each for each in kept if not each.startswith("warning:")] or kept
    if len(errors) > _MOST_LINES:
        errors = [*errors[: _MOST_LINES - 1], errors[-1]]
    return in_line("; ".join(errors))
