"""What the program finds around it: its variables, and a folder for what it leaves behind."""

import fcntl
import os
import shutil
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_core.api import Unavailable

_OF_AN_OUTER_SESSION = (
    "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT", "CLAUDE_EFFORT", "CLAUDE_PID",
)  # fmt: skip
"""Where uwf itself is called by Claude Code: the role's session is none of its children."""

_UNLESS_SAID = {
    # It tries ten times with doubling pauses otherwise, also with a wrong key.
    "CLAUDE_CODE_MAX_RETRIES": "3",
    "DISABLE_AUTOUPDATER": "1",
    # Else `@path` anywhere in a prompt (in what another role said, in the task) makes it read that
    # file to the model, whatever the tools. Versions before the first switch know the second alone.
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS": "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
}
TEMPORARY = "CLAUDE_CODE_TMPDIR"
_YOUNG_SECONDS = 60.0
_BYPASSING = frozenset(("--dangerously-skip-permissions",))


def environment(options: ClaudeCodeOptions, given: Mapping[str, str]) -> dict[str, str]:
    """The program's whole environment: the call's, and what the options say."""
    kept = {name: value for name, value in given.items() if name not in _OF_AN_OUTER_SESSION}
    found = {**_UNLESS_SAID, **kept}
    if not options.memory:
        found["CLAUDE_CODE_DISABLE_AUTO_MEMORY"] = "1"
    if options.config_folder is not None:
        own, home = options.config_folder, kept.get("HOME") or str(Path.home())
        found["CLAUDE_CONFIG_DIR"] = home + own[1:] if own.startswith("~/") else own
    return {**found, **options.environment}


def bypass_problem(options: ClaudeCodeOptions, env: Mapping[str, str]) -> Unavailable | None:
    """Why the program would refuse to start, where it bypasses permissions as root."""
    bypasses = options.permission_mode == "bypassPermissions" or _BYPASSING & {
        *options.extra_arguments
    }
    if not bypasses or os.geteuid() != 0 or env.get("IS_SANDBOX") == "1":
        return None
    return Unavailable(
        "Claude Code does not bypass permissions as root",
        hint="run uwf as another user; or with the option `permissionMode: acceptEdits` and "
        "`allowedTools`; or, in a container that may be destroyed, with "
        '`environment: {IS_SANDBOX: "1"}`',
    )


@contextmanager
def temporary_folder(state: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """A folder for the program's own temporary files, gone afterwards. What a killed uwf left of
    an earlier one is removed.
    """
    common = Path(env.get("TMPDIR") or "/tmp", f"claude-{os.getuid()}")
    was_there = common.exists()
    base = state / "t"  # sockets lie below it, and their paths must be short
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    for entry in base.iterdir():
        _remove_if_left(entry)
    folder = base / uuid.uuid4().hex[:8]
    folder.mkdir(mode=0o700)
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)
        if not was_there:  # 2.1.197 makes it all the same, and leaves it empty
            with suppress(OSError):
                common.rmdir()


def _remove_if_left(folder: Path) -> None:
    """Remove a folder that nobody holds, and that is not just being made."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return  # another one has just removed it
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.time() - os.fstat(descriptor).st_mtime < _YOUNG_SECONDS:
            return
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass  # a run uses it
    finally:
        os.close(descriptor)
