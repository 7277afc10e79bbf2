"""End a process: at once if only our own code ran. Loaded plugins can neither print on stdout
after the result nor keep the process alive.
"""

import atexit
import os
import sys
import threading
from contextlib import suppress

from uwf_core.cli.session import Session

_STDOUT, _STDERR = 1, 2
_PATIENCE_SECONDS = 2.0


def leave(session: Session, code: int) -> None:
    """Send what plugins print from here on (when the interpreter ends) to stderr, and end the
    process if their threads would keep it alive.
    """
    _divert_stdout()
    left = [each for each in threading.enumerate() if _keeps_alive(each)]
    for each in left:
        each.join(_PATIENCE_SECONDS / len(left))
    still = [each.name for each in left if each.is_alive()]
    if still:
        names = ", ".join(still)
        session.note(
            f"note: a plugin's thread is still running ({names}); the command ends without it"
        )
        os._exit(code)


def end_process(code: int) -> int:
    """End this process, which has printed and closed everything, without the interpreter's
    cleanup, which takes a fifth of a short command. Functions registered with `atexit` run.

    Returns:
        The exit code, if the process must end normally: plugins were loaded, which may rely on
        the cleanup for open files, or a thread is still running.
    """
    loading = sys.modules.get("uwf_core.plugins.loading")
    if (loading and loading.loaded_third_party) or any(map(_keeps_alive, threading.enumerate())):
        return code
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # the writer has reported it
                stream.flush()
    os._exit(code)


def _keeps_alive(thread: threading.Thread) -> bool:
    return not thread.daemon and thread is not threading.current_thread()


def _divert_stdout() -> None:
    if sys.stdout is None:  # our caller closed it
        return
    with suppress(OSError, ValueError):  # the reader has gone
        sys.stdout.flush()
    with suppress(OSError):  # no stderr to divert to
        os.dup2(_STDERR, _STDOUT)
