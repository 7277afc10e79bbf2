"""Run git: to ask about a folder that may be hostile, for one of uwf's repositories, or for one of
the user. Hooks never run, and no setting of the caller's environment redirects git.
"""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import BinaryIO

_SECONDS = 60.0
_SETTINGS = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_NO_CONFIGURATION = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
_USER_VARIABLES = ("HOME", "USER", "LOGNAME", "XDG_CONFIG_HOME", "TMPDIR")
_WORDS = ("git", "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false")

NO_ENV: Mapping[str, str] = MappingProxyType({})


class GitFailed(Exception):
    """A git command failed, or there is no git. The message is one line."""


def ask_git(folder: str, *words: str) -> str | None:
    """The output of a read-only git command about a folder; None if it fails or git is missing.

    The folder may be hostile: nothing is fetched for it, no configuration of the user applies, and
    git itself is never run from the current folder.
    """
    env = {**_NO_CONFIGURATION, "GIT_OPTIONAL_LOCKS": "0"}
    command = ("-c", "safe.directory=*", "-C", folder, *words)
    try:
        return _run(command, env, b"", _SECONDS).decode(errors="replace")
    except GitFailed:
        return None


def own_git(
    folder: str,
    *words: str,
    env: Mapping[str, str] = NO_ENV,
    stdin: bytes | BinaryIO = b"",
    stdout: BinaryIO | None = None,
    strict: bool = False,
    private: bool = True,
    inherits: Sequence[int] = (),
) -> bytes:
    """The output of a git command without any configuration of the user or the system: for a
    repository that uwf made. `env` names it (`GIT_DIR`, `GIT_WORK_TREE`, `GIT_INDEX_FILE`);
    `strict` makes a warning an error; what a `private` one writes, nobody else may read. `stdin`
    and `stdout` may be files, for much data; then the output is in that file, and the result is
    empty. `inherits` are file descriptors that git keeps open.

    Raises:
        GitFailed: it failed.
    """
    env = {**_NO_CONFIGURATION, **env}
    return _run(
        ("-C", folder, *words),
        env,
        stdin,
        None,
        strict=strict,
        stdout=stdout,
        umask=0o077 if private else -1,
        inherits=inherits,
    )


def user_git(
    folder: str,
    *words: str,
    env: Mapping[str, str] = NO_ENV,
    stdin: bytes = b"",
    inherits: Sequence[int] = (),
) -> bytes:
    """The output of a git command as the user's own would give it, with the filters of the user's
    configuration, but without hooks. `inherits` are file descriptors that git keeps open.

    Raises:
        GitFailed: it failed.
    """
    own = {name: os.environ[name] for name in _USER_VARIABLES if name in os.environ}
    return _run(("-C", folder, *words), {**own, **env}, stdin, None, inherits=inherits)


def _run(
    words: tuple[str, ...],
    env: Mapping[str, str],
    stdin: bytes | BinaryIO,
    seconds: float | None,
    *,
    strict: bool = False,
    stdout: BinaryIO | None = None,
    umask: int = -1,
    inherits: Sequence[int] = (),
) -> bytes:
    import subprocess

    given = stdin if isinstance(stdin, bytes) else None
    try:
        done = subprocess.run(
            (*_WORDS, *words),
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath), **_SETTINGS, **env},
            input=given,
            stdin=None if isinstance(stdin, bytes) else stdin,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=seconds,
            umask=umask,
            pass_fds=inherits,
            check=False,
        )
    except FileNotFoundError as error:
        raise GitFailed("git is not installed") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GitFailed(str(error)) from error
    if done.returncode or (strict and done.stderr):
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise GitFailed(said[-1] if said else f"git ended with exit code {done.returncode}")
    return done.stdout or b""
