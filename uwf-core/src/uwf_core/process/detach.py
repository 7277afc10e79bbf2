"""Start a program that continues after we end: the background run."""

import os
from collections.abc import Mapping, Sequence

from uwf_core.process.identity import ProcessId
from uwf_core.process.locate import locate, refusal


def start_detached(
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    stdout_path: str | None = None,
    stderr_path: str | None = None,
    pass_fds: Sequence[int] = (),
) -> ProcessId:
    """Start a program that outlives this process and its terminal.

    It has a separate session without a terminal, so that neither Ctrl-C nor a hang-up reaches
    it; reads /dev/null; appends its output to the files given (0600; None is /dev/null); and has
    no file open but these and `pass_fds`, which keep their numbers. While this process lives, a
    thread collects its end, so that there is no zombie.

    Raises:
        Unavailable: the program or folder does not exist.
        BadRequest: a text that cannot be an argument.
        OSError: an output file cannot be opened.
    """
    import subprocess
    import threading

    path = os.fsdecode(locate(tuple(argv), cwd, env))
    out = _open(stdout_path)
    err = -1
    try:
        err = _open(stderr_path)
        child = subprocess.Popen(
            list(argv),
            executable=path,
            cwd=cwd,
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        )
    except OSError as error:
        if error.filename in (stdout_path, stderr_path):
            raise
        raise refusal(argv[0], path, cwd, "exec", error.errno or 0) from error
    finally:
        os.close(out)
        if err >= 0:
            os.close(err)
    # Not yet collected, so the number still belongs to it, even if it has ended.
    identity = ProcessId.of(child.pid) or ProcessId(child.pid, "unknown")
    threading.Thread(target=child.wait, name=f"collect-{child.pid}", daemon=True).start()
    return identity


def _open(path: str | None) -> int:
    if path is None:
        return os.open(os.devnull, os.O_WRONLY)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOCTTY, 0o600)
