"""The real Hermes without its start: for the many calls of the contract, of which most are no test
of how it starts.

`PYTHON-OF-HERMES hermes_warm.py serve SOCKET` imports all that a prompt needs, and forks a process
for each call; `hermes_warm.py call SOCKET acp` is the program of a call: it hands over its input,
output, environment and folder, and ends when that process ends, as that process ends with it.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

_WANTED = (
    "acp_adapter.server",
    "run_agent",
    "openai",
    "httpx",
    "httpcore",
    "anyio",
    "openai.resources.chat.completions",
    "agent.title_generator",
    "agent.conversation_loop",
    "agent.auxiliary_client",
    "agent.system_prompt",
    "agent.chat_completion_helpers",
    "agent.turn_context",
    "agent.turn_finalizer",
    "agent.context_compressor",
    "hermes_cli.config",
    "hermes_cli.runtime_provider",
    "hermes_cli.models",
    "hermes_cli.nous_account",
    "hermes_state",
    "model_tools",
    "tools.terminal_tool",
    "tools.file_tools",
    "tools.browser_tool",
    "tools.vision_tools",
)


class Warm:
    """The server, started for a home of Hermes; `program` is what takes the place of Hermes.

    A call with `KIT_COLD` in its environment is the real program, from its start.
    """

    def __init__(self, folder: Path, program: str, env: dict[str, str]) -> None:
        python = str(Path(program).with_name("python"))
        self._socket = folder / "s"
        self._server = subprocess.Popen(
            [python, __file__, "serve", str(self._socket)],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.program = folder / "hermes-warm"
        warm = f'"{sys.executable}" -I -S "{__file__}" call "{self._socket}" "$@"'
        cold = f'[ -n "$KIT_COLD" ] && exec "{program}" "$@"'
        self.program.write_text(f"#!/bin/sh\n{cold}\nexec {warm}\n")
        self.program.chmod(0o755)

    def wait(self, seconds: float = 120.0) -> None:
        """Wait until it serves.

        Raises:
            TimeoutError: it does not.
        """
        deadline = time.monotonic() + seconds
        while not self._socket.exists():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise TimeoutError("the warm Hermes does not serve")
            time.sleep(0.05)

    def close(self) -> None:
        """End it."""
        self._server.kill()
        self._server.wait()


def call(path: str, arguments: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)
        about = {"arguments": arguments, "env": dict(os.environ), "cwd": os.getcwd()}  # noqa: PTH109
        data = json.dumps(about).encode()
        socket.send_fds(link, [len(data).to_bytes(4)], [0, 1, 2])
        link.sendall(data)
        for fd in (0, 1, 2):
            os.close(fd)
        code = link.recv(1)
    return code[0] if code else 1


def serve(path: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for name in _WANTED:
        with contextlib.suppress(ImportError):  # of another version
            __import__(name)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen(16)
        while True:
            link, _ = server.accept()
            if os.fork() == 0:
                server.close()
                os._exit(run(link))
            link.close()


def run(link: socket.socket) -> int:
    head, fds, _, _ = socket.recv_fds(link, 4, 3)
    data = b""
    while len(data) < int.from_bytes(head):
        data += link.recv(1 << 16)
    about = json.loads(data)
    for target, fd in enumerate(fds):
        os.dup2(fd, target)
        os.close(fd)
    os.environ.clear()
    os.environ.update(about["env"])
    os.chdir(about["cwd"])
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    threading.Thread(target=end_with, args=(link,), daemon=True).start()
    sys.argv = ["hermes", *about["arguments"]]
    import acp_adapter.entry
    from hermes_cli.plugins import discover_plugins

    discover_plugins(force=True)  # those of this call
    acp_adapter.entry.main([])
    link.send(b"\0")
    return 0


def end_with(link: socket.socket) -> None:
    """End when the program of the call has ended: as by its signal."""
    if not link.recv(1):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        os._exit(1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        sys.exit(call(sys.argv[2], sys.argv[3:]))
