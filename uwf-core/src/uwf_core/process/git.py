"""Ask git about a folder, without running anything that the folder configures."""

import os

_SECONDS = 60.0
_SETTINGS = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def ask_git(folder: str, *words: str) -> str | None:
    """The output of a read-only git command about a folder; None if it fails or git is missing.

    The folder may be hostile: nothing is fetched for it, no setting of the caller's environment
    redirects git, and git itself is never run from the current folder.
    """
    import subprocess

    command = ["git", "-c", "safe.directory=*", "-C", folder, *words]
    try:
        done = subprocess.run(
            command,
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath), **_SETTINGS},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None
