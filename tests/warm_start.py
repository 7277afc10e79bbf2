"""Start `uwf` by a fork of a process that has its modules loaded: a fifth of the CPU time.

Nothing else differs: the child has a process of its own with the streams, the folder, the
environment, the arguments and the end of any `uwf`. How `uwf` starts is a promise of its own
(tests/startup, the sessions `isolated`, `walkthrough` and `faults`); those start it from nothing,
and so does everything here with `UWF_TESTS_COLD=1`, what needs another interpreter or leaves its
marks in `/proc` (`_COLD`), and what has a module in `PYTHONPATH` that is loaded already.

    warm = WarmStart()
    done = warm.run([*own_python("uwf_core"), "thread", "list"], cwd, env, b"", 60)

One process forks for all. A request brings a socket and the three streams; the child reads
arguments, folder and environment from the socket, the parent writes its exit status there.
"""

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from uwf_core.testing.project import CommandOutcome, run_command

_COLD = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "COVERAGE", "UWF_TEST_CRASH", "UWF_ATTEMPT")
"""The beginnings of variables that Python or a module reads at its start, or that others look up
in `/proc`."""
_PACKAGES = ("uwf_core", "uwf_eval", "uwf_web", "uwf_agent_builtin")
"""Those whose code runs in the process of `uwf` are loaded before."""
_NOT_LOADED = ("__main__", "testing", "otel", "otel_sdk")
"""Programs, what takes long to load for few commands, and what reads the environment first."""
_CHUNK = 65_536


class WarmStart:
    """Runs `uwf` in forks."""

    def __init__(self) -> None:
        self._control: socket.socket | None = None
        kept = ("PATH", "LANG", "LC_ALL", "TMPDIR")  # as of a project's environment
        self._env = {name: os.environ[name] for name in kept if name in os.environ}
        self._is_off = sys.platform != "linux" or bool(os.environ.get("UWF_TESTS_COLD"))

    def run(
        self, argv: Sequence[str], cwd: Path, env: Mapping[str, str], stdin: str, seconds: float
    ) -> CommandOutcome:
        """As `uwf_core.testing.project.run_command`, which it replaces."""
        if self._is_off or _cold_part(env) != _cold_part(self._env):
            return run_command(argv, cwd, env, stdin, seconds)
        request = {"argv": list(argv), "cwd": str(cwd), "env": dict(env)}
        ours, theirs = socket.socketpair()
        pipes = [os.pipe() for _ in range(3)]
        own = [pipes[0][1], pipes[1][0], pipes[2][0]]
        given = [pipes[0][0], pipes[1][1], pipes[2][1]]
        with ours, theirs:
            try:
                socket.send_fds(self._server(), [b"run"], [theirs.fileno(), *given])
            finally:
                for each in given:
                    os.close(each)
            theirs.close()
            ours.sendall(json.dumps(request).encode() + b"\n")
            return _Running(ours, own, stdin.encode(), argv, seconds).end()

    def _server(self) -> socket.socket:
        if self._control is None:
            self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            words = [sys.executable, "-P", __file__, str(theirs.fileno())]
            process = subprocess.Popen(
                words, pass_fds=[theirs.fileno()], cwd="/", env=self._env,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            theirs.close()
            atexit.register(self._end, self._control, process)
        return self._control

    def _end(self, control: socket.socket, process: "subprocess.Popen[bytes]") -> None:
        control.close()
        process.wait()


def _cold_part(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name.startswith(_COLD) and name != "PYTHONPATH"
    }


class _Running:
    """The streams of one command, until all of them are closed and it has ended."""

    def __init__(
        self, status: socket.socket, streams: list[int], stdin: bytes, argv: Sequence[str],
        seconds: float,
    ) -> None:  # fmt: skip
        self._status = status
        self._stdin, self._stdout, self._stderr = streams
        self._left = stdin
        self._found = {self._stdout: bytearray(), self._stderr: bytearray()}
        self._argv, self._seconds = argv, seconds

    def end(self) -> CommandOutcome:
        deadline = time.monotonic() + self._seconds
        os.set_blocking(self._stdin, False)
        with selectors.DefaultSelector() as ready:
            ready.register(self._stdin, selectors.EVENT_WRITE)
            for each in self._found:
                ready.register(each, selectors.EVENT_READ)
            try:
                while ready.get_map():
                    for key, _ in ready.select(max(0.0, deadline - time.monotonic())):
                        if not self._moved(key.fd):
                            ready.unregister(key.fd)
                            os.close(key.fd)
                    self._check(deadline)
            finally:
                for fd in list(ready.get_map()):
                    os.close(fd)
        self._status.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            words = self._status.makefile().read().split()
        except TimeoutError:
            self._check(0)
            raise
        code = os.waitstatus_to_exitcode(int(words[1]))
        return CommandOutcome(code, *(_text(found) for found in self._found.values()))

    def _check(self, deadline: float) -> None:
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError, TimeoutError, IndexError):
                self._status.settimeout(1)
                os.kill(int(self._status.recv(100).split()[0]), signal.SIGKILL)
            out, err = map(bytes, self._found.values())
            raise subprocess.TimeoutExpired(list(self._argv), self._seconds, out, err)

    def _moved(self, fd: int) -> bool:
        """Read or write what is possible; false at the end of a stream."""
        if fd == self._stdin:
            with suppress(BrokenPipeError):
                self._left = self._left[os.write(fd, self._left[:_CHUNK]) :]
                return bool(self._left)
            return False
        data = os.read(fd, _CHUNK)
        self._found[fd] += data
        return bool(data)


def _text(data: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace").read()


# -- the process that forks ------------------------------------------------------------------------


def main(control_fd: str) -> int:
    """Fork for each request; in the parent until the control socket closes, in a child until its
    command has ended.
    """
    for package in _PACKAGES:
        _load(package)
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=int(control_fd))
    control.set_inheritable(False)
    children: dict[int, tuple[int, socket.socket]] = {}
    ready = selectors.DefaultSelector()
    ready.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fileobj is not control:
                ready.unregister(key.fileobj)
                pid, answer = children.pop(key.fd)
                os.close(key.fd)
                _, status = os.waitpid(pid, 0)
                with answer, suppress(OSError):
                    answer.sendall(f" {status}".encode())
                continue
            data, fds, _, _ = socket.recv_fds(control, 16, 4)
            if not data:
                return 0
            answer = socket.socket(fileno=fds[0])
            answer.set_inheritable(False)
            pid = os.fork()
            if pid == 0:
                ready.close()
                for fd, (_, other) in children.items():
                    os.close(fd)
                    other.close()
                control.close()
                return _command(answer, fds[1:])
            for fd in fds[1:]:
                os.close(fd)
            with suppress(OSError):
                answer.sendall(str(pid).encode())
            handle = os.pidfd_open(pid)
            children[handle] = (pid, answer)
            ready.register(handle, selectors.EVENT_READ)


def _command(answer: socket.socket, streams: Sequence[int]) -> int:
    request: dict[str, Any] = json.loads(answer.makefile().readline())
    answer.close()
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    folders = [each for each in request["env"].get("PYTHONPATH", "").split(os.pathsep) if each]
    if any(map(_is_loaded_from, folders)):
        os.execve(request["argv"][0], request["argv"], request["env"])
    sys.path[:0] = folders
    sys.argv[:] = ["uwf", *request["argv"][4:]]
    from uwf_core.__main__ import main as uwf

    return uwf()


def _is_loaded_from(folder: str) -> bool:
    """Whether a folder has a module that Python loads at its start, or that is loaded by now."""
    if not (Path(folder).is_absolute() and Path(folder).is_dir()):
        return True
    names = {each.name.partition(".")[0] for each in Path(folder).iterdir()}
    return not names.isdisjoint({*sys.modules, "sitecustomize", "usercustomize"})


def _load(name: str) -> None:
    """Import a module, and all modules below it; not one that needs what is not installed."""
    with suppress(ImportError):
        found = importlib.import_module(name)
        for below in pkgutil.iter_modules(getattr(found, "__path__", ())):
            if below.name not in _NOT_LOADED:
                _load(f"{name}.{below.name}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
