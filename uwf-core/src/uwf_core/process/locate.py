"""Find a program; explain why it cannot be started, with a hint."""

# ruff: noqa: PTH100, PTH110, PTH112, PTH113, PTH118
# pathlib would resolve or normalise what the system must see as it is written.

import errno
import os
from collections.abc import Mapping, Sequence

from uwf_core.errors import AgentFailure, BadRequest, Unavailable
from uwf_core.process.path_walk import ANYWHERE, read_regular


def locate(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> bytes:
    """The absolute path of the program `argv[0]`: a path from `cwd`, a bare name on env's PATH.

    Raises:
        Unavailable: unknown program or folder; the hint names the PATH searched.
        BadRequest: argv, cwd or env has a text that cannot be passed to a program.
    """
    _check_texts(argv, cwd, env)
    name = argv[0]
    folder = os.path.abspath(cwd)
    if not os.path.isdir(folder):
        raise _no_folder(name, cwd)
    if "/" in name:
        candidates = [os.path.join(folder, name)]
        missing, searched = f"program {candidates[0]} not found", ""
    else:
        path = env.get("PATH", os.defpath)
        candidates = [os.path.join(folder, each, name) for each in path.split(os.pathsep)]
        missing, searched = f"program {name!r} not found on the PATH", f"; the PATH is {path!r}"
    present = [each for each in candidates if os.path.exists(each)]
    for candidate in present:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return os.fsencode(candidate)
    if not present:
        raise Unavailable(missing, hint=f"install {name}, or give its full path{searched}")
    if os.path.isdir(present[0]):
        raise Unavailable(
            f"{present[0]} is a folder, not a program", hint="give the path of the file in it"
        )
    raise _not_executable(present[0])


def _check_texts(argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> None:
    if not argv or not argv[0]:
        raise BadRequest("the program is missing", hint="the first word must be a program")
    for index, word in enumerate(argv):
        _check_text(f"argument {index} of {argv[0]!r}", word, strict=True)
    _check_text(f"the working folder of {argv[0]!r}", cwd, strict=True)
    for name, value in env.items():
        if not name or "=" in name:
            raise BadRequest(f"{name!r} is not a valid name of an environment variable")
        _check_text(f"the environment variable {name!r}", name, strict=False)
        _check_text(f"the environment variable {name!r}", value, strict=False)


def _check_text(what: str, text: str, *, strict: bool) -> None:
    """Reject what cannot be passed to a program. Bytes of the inherited environment that are not
    UTF-8 (surrogate escapes, PEP 383) pass where `strict` is false, since they came from outside.
    """
    try:
        encoded = text.encode("utf-8", "strict" if strict else "surrogateescape")
    except UnicodeEncodeError as error:
        raise BadRequest(
            f"{what} is not Unicode text: a lone surrogate at character {error.start}",
            hint="remove it; it often comes from a file name that is not UTF-8",
        ) from error
    if b"\0" in encoded:
        raise BadRequest(
            f"{what} holds a NUL at character {text.index(chr(0))}",
            hint="remove it, or send the text by stdin or a file",
        )


def refusal(name: str, path: str, cwd: str, stage: str, number: int) -> AgentFailure:
    """The error for a program that the system refused to start: `stage` is `chdir` or `exec`,
    `number` the errno.
    """
    if stage == "chdir":
        return _no_folder(name, cwd, os.strerror(number))
    if number == errno.E2BIG:
        return BadRequest(
            f"the arguments and environment of {name} are too long for the system",
            hint="send long texts by stdin or a file; the limit of one argument is 128 KB on Linux",
        )
    if number == errno.ENOEXEC:
        return Unavailable(
            f"{path} is not a program that this machine can run",
            hint="the first line of a script must be like '#!/usr/bin/env python3'; "
            "a binary must be built for this system",
        )
    if number in (errno.ENOENT, errno.EACCES):
        return _needs_something(path, number)
    return Unavailable(f"cannot start {path}: {os.strerror(number)}")


def _no_folder(name: str, cwd: str, why: str = "it does not exist") -> Unavailable:
    return Unavailable(
        f"cannot start {name} in the working folder {cwd}: {why}",
        hint="create the folder, or choose another one",
    )


def _not_executable(path: str) -> Unavailable:
    return Unavailable(f"{path} is not executable", hint=f"chmod +x {path}")


def _needs_something(path: str, number: int) -> Unavailable:
    """The file was there a moment ago, so it is what the file itself needs that is missing."""
    try:
        first = read_regular(path, 256, within=ANYWHERE, cut=True).partition(b"\n")[0]
    except OSError as error:
        return Unavailable(f"cannot start {path}: {error.strerror}")
    if first.startswith(b"#!"):
        interpreter = first[2:].decode(errors="replace").strip("\n ")
        cure = "install it, or fix the first line"
        return Unavailable(
            f"cannot start {path}: its interpreter {interpreter!r}, named in its first line, "
            f"is missing or not executable",
            hint="save the file with Unix line ends" if interpreter.endswith("\r") else cure,
        )
    return Unavailable(
        f"cannot start {path}: {os.strerror(number)}",
        hint="check that it is built for this system, and that its folder allows execution",
    )
