"""The program that a `ScriptedProgram` runs; imports only the standard library.

    python -I -S child_program_run.py FOLDER ARGUMENT…

FOLDER has `script.json`, and gets a `call-NNN.json` for each call, a `daemon-PID` for each daemon.
"""

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_LINE = b"x" * 999 + b"\n"


class Run:
    """One call of the program: its folder, its arguments, its record."""

    def __init__(self, folder: Path, arguments: list[str]) -> None:
        self.folder = folder
        self.arguments = arguments
        self.record = {
            "arguments": arguments,
            "cwd": os.getcwd(),  # noqa: PTH109 - as text, and cheap
            "env": dict(os.environ),
            "pid": os.getpid(),
        }
        self.file = self._claim()

    def acts(self) -> list[dict[str, Any]]:
        """The script of this call."""
        script = json.loads((self.folder / "script.json").read_text(encoding="utf-8"))
        for word, acts in script["byArgument"].items():
            if word in self.arguments:
                return list(acts)
        special = set(script["byArgument"])
        earlier = sum(special.isdisjoint(self._arguments_of(file)) for file in self._earlier())
        return list(script["calls"][min(earlier, len(script["calls"]) - 1)])

    def keep(self) -> None:
        """Write the record, whole or not at all."""
        self._written().replace(self.file)

    def filled(self, text: str) -> str:
        """`text` with `<<--name>>` replaced by the argument that follows --name."""

        def argument(found: re.Match[str]) -> str:
            if found[1] not in self.arguments[:-1]:
                return found[0]
            return self.arguments[self.arguments.index(found[1]) + 1]

        return re.sub(r"<<(-[\w-]+)>>", argument, text)

    def _claim(self) -> Path:
        """The first number that no other call has; its file is whole from the beginning."""
        written, number = self._written(), 0
        while True:
            file = self.folder / f"call-{number:05}.json"
            try:
                file.hardlink_to(written)
            except FileExistsError:
                number += 1
            else:
                written.unlink()
                return file

    def _written(self) -> Path:
        """The record in a file of another name."""
        file = self.folder / f"record-{os.getpid()}"
        file.write_text(json.dumps(self.record), encoding="utf-8")
        return file

    def _earlier(self) -> list[Path]:
        return [file for file in self.folder.glob("call-*.json") if file.name < self.file.name]

    def _arguments_of(self, file: Path) -> list[str]:
        found: list[str] = json.loads(file.read_text(encoding="utf-8"))["arguments"]
        return found


def _put(data: bytes, descriptor: int = 1) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _print(run: Run, text: str) -> None:
    _put(run.filled(text).encode("utf-8", "surrogateescape") + b"\n")


def _write(run: Run, text: str) -> None:
    _put(run.filled(text).encode("utf-8", "surrogateescape"))


def _error(run: Run, text: str) -> None:
    _put(run.filled(text).encode("utf-8", "surrogateescape") + b"\n", 2)


def _hex(_run: Run, text: str) -> None:
    _put(bytes.fromhex(text))


def _megabytes(_run: Run, count: int) -> None:
    for _ in range(count):
        _put(_LINE * 1000)


def _sleep(_run: Run, seconds: float) -> None:
    time.sleep(seconds)


def _hang(_run: Run, _yes: bool) -> None:
    while True:
        time.sleep(3600)


def _ignore(_run: Run, names: list[str]) -> None:
    for name in names:
        signal.signal(_signal(name), signal.SIG_IGN)


def _stdin(run: Run, what: str) -> None:
    with open(0, "rb", closefd=False) as stdin:
        data = stdin.read()
    run.record["stdin"] = data.decode("utf-8", "surrogateescape")
    run.keep()
    if what == "echo":
        _put(data)


def _close(_run: Run, name: str) -> None:
    os.close(("stdin", "stdout", "stderr").index(name))


def _file(_run: Run, content: dict[str, str]) -> None:
    Path(content["path"]).write_text(content["text"], encoding="utf-8")


def _daemon(run: Run, how: dict[str, Any]) -> None:
    """Fork twice with a new session in between, and wait until the daemon reports that it runs."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        if os.fork() == 0:
            _be_a_daemon(run, how, writing)
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    os.read(reading, 1)
    os.close(reading)


def _be_a_daemon(run: Run, how: dict[str, Any], ready: int) -> None:
    _ignore(run, how.get("ignore", []))
    (run.folder / f"daemon-{os.getpid()}").touch()
    if not how.get("holds", False):
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
    os.write(ready, b"!")
    time.sleep(how.get("seconds", 60))
    os._exit(0)


def _exit(_run: Run, code: int) -> None:
    os._exit(code)


def _die(_run: Run, name: str) -> None:
    if name not in ("KILL", "STOP"):
        signal.signal(_signal(name), signal.SIG_DFL)
    os.kill(os.getpid(), _signal(name))
    time.sleep(60)  # a signal may take its time


def _signal(name: str) -> signal.Signals:
    return signal.Signals[f"SIG{name.removeprefix('SIG')}"]


ACTS: dict[str, Callable[[Run, Any], None]] = {
    "print": _print,
    "write": _write,
    "error": _error,
    "hex": _hex,
    "megabytes": _megabytes,
    "sleep": _sleep,
    "hang": _hang,
    "ignore": _ignore,
    "stdin": _stdin,
    "close": _close,
    "file": _file,
    "daemon": _daemon,
    "exit": _exit,
    "die": _die,
}
"""The acts of a script: the key of each, and its function."""


def main() -> None:
    """Play the script of this call."""
    # A Ctrl-C ends it silently, as it ends a program in C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    run = Run(Path(sys.argv[1]), sys.argv[2:])
    for act in run.acts():
        for name, value in act.items():
            ACTS[name](run, value)


if __name__ == "__main__":
    main()
