"""Why Claude Code cannot be started: it is missing, or npm left a text in its place."""

import os
import shutil
from pathlib import Path

from uwf_core.api import ANYWHERE, Unavailable, read_regular

INSTALL = "npm install -g @anthropic-ai/claude-code"
INSTALL_HINT = f"{INSTALL}, or name it by the option `command`"
_NATIVE = "curl -fsSL https://claude.ai/install.sh | bash"
_READ_BYTES = 4096
_SIGNS = (b"native binary not installed", b"postinstall did not run")


def start_problem(command: str, path: str | None) -> Unavailable | None:
    """Why `command` cannot be started, where this adapter knows more than the system says."""
    if "/" in command or shutil.which(command, path=path) is not None:
        return placeholder_problem(command, path)
    return Unavailable(f"there is no program {command!r} on the PATH", hint=INSTALL_HINT)


def placeholder_problem(command: str, path: str | None) -> Unavailable | None:
    """Why `command`, looked for on `path`, is not the program itself; None if it seems to be.

    Versions from 2.1 are a native program, which the package's install script puts in the place of
    a text that only a shell can run (seen in 2.1.197 and 2.1.330).
    """
    program = shutil.which(command, path=path)
    if program is None or not _is_placeholder(program):
        return None
    script = Path(os.path.realpath(program)).parent.parent / "install.cjs"
    finish = f"node {script}, or " if script.is_file() else ""
    return Unavailable(
        f"{program} is only npm's placeholder: the install script of Claude Code did not run",
        hint=f"{finish}{INSTALL} --ignore-scripts=false, or the native installer: {_NATIVE}",
    )


def _is_placeholder(program: str) -> bool:
    try:
        head = read_regular(program, _READ_BYTES, within=ANYWHERE, cut=True)
    except OSError:  # the start of the program reports it
        return False
    return not head.startswith(b"#!") and any(sign in head for sign in _SIGNS)
