"""The end of a call: at once where all that ran is known; where plugins were loaded, they print
nothing more on stdout, nor keep it alive.
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
    """Let what plugins print from here on (when the interpreter ends) reach stderr, and end the
    process where threads of theirs would keep it from ending.
    """
    _divert_stdout()
    left = [each for each in threading.enumerate() if _keeps_alive(each)]
    for each in left:
        each.join(_PATIENCE_SECONDS / len(left))
    still = [each.name for each in left if each.is_alive()]
    if still:
        names = ", ".join(still)
        session.note(f"note: a plugin's thread goes on ({names}); the command ends without it")
        os._exit(code)


def end_process(code: int) -> int:
    """End this process, which has printed and closed all it wanted to, without taking the
    interpreter apart: that costs a fifth of a short command. What is registered with `atexit` is
    done.

    Returns:
        The exit code, where the process is to end as any does: code of other distributions was
        loaded, which may count on it for files left open, or a thread goes on.
    """
    loading = sys.modules.get("uwf_core.plugins.loading")
    if (loading and loading.strangers) or any(map(_keeps_alive, threading.enumerate())):
        return code
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):  # whoever wrote to it has said so
                stream.flush()
    os._exit(code)


def _keeps_alive(thread: threading.Thread) -> bool:
    return not thread.daemon and thread is not threading.current_thread()


def _divert_stdout() -> None:
    if sys.stdout is None:  # closed by whoever called us
        return
    with suppress(OSError, ValueError):  # a reader who has gone
        sys.stdout.flush()
    with suppress(OSError):  # no stderr to divert to
        os.dup2(_STDERR, _STDOUT)
