"""The text that npm leaves in place of Claude Code where its install script did not run."""

import os
import shutil
from pathlib import Path

from uwf_core.api import Unavailable

INSTALL = "npm install -g @anthropic-ai/claude-code"
_NATIVE = "curl -fsSL https://claude.ai/install.sh | bash"
_READ_BYTES = 4096
_SIGNS = (b"native binary not installed", b"postinstall did not run")


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
        with open(program, "rb") as file:
            head = file.read(_READ_BYTES)
    except OSError:  # the start of the program reports it
        return False
    return not head.startswith(b"#!") and any(sign in head for sign in _SIGNS)
