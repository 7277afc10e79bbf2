"""Runs a judge that is a Python file: `python -I -B launcher.py <entry> <cwd> <thread-id>`, with a
key on stdin.

The judge may run code of the agent, as the same user. That code must not forge the judge's result:

- The key is only in the memory of this process. On Linux no other program of the user can inspect
  the process, neither its memory nor its descriptors (prctl(2), PR_SET_DUMPABLE).
- The output of the judge stays in memory. At the end one line is written to the channel, sealed
  with the key: the last printed line, or that the judge failed. All other output is ignored.
- Descriptor 1 becomes stderr, so programs that the judge starts do not inherit the channel.
"""

# Every trial waits for this: runpy, pathlib, hashlib and ctypes load slower than most judges run.
# ruff: noqa: PTH120

import atexit
import io
import os
import sys
from _blake2 import blake2b  # what hashlib.blake2b is

FAILED = b"failed"
SAID = b"said "
_KEPT_BYTES = 1 << 21
_PR_SET_DUMPABLE = 4


class _Printed(io.RawIOBase):
    """Keeps the end of the judge's output. Its descriptor is that of stderr."""

    def __init__(self) -> None:
        self.end = b""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 1

    def write(self, data: "bytes | memoryview") -> int:  # type: ignore[override]
        self.end += bytes(data)
        if len(self.end) > 2 * _KEPT_BYTES:
            self.end = self.end[-_KEPT_BYTES:]
        return len(data)


def hide() -> None:
    """Prevent other programs of this user from inspecting this process (Linux only)."""
    if sys.platform == "linux":
        import _ctypes

        own: str = None  # type: ignore[assignment]  # this program, with its C library
        prctl = _ctypes.dlsym(_ctypes.dlopen(own, 0), "prctl")
        _ctypes.call_function(prctl, (_PR_SET_DUMPABLE, 0, 0, 0, 0))


def sealed(key: bytes, word: bytes) -> bytes:
    """A line that requires the key to write."""
    seal = blake2b(word, key=key, digest_size=32).hexdigest()
    return b"%b %b\n" % (seal.encode(), word)


def unsealed(key: bytes, output: bytes) -> bytes | None:
    """The content of the sealed line in an output; None without one."""
    for line in output.split(b"\n"):
        word = line.partition(b" ")[2]
        if sealed(key, word) == line + b"\n":
            return word
    return None


def main() -> None:
    """Run the judge."""
    hide()
    entry, folder, thread = sys.argv[1:4]
    key = sys.stdin.buffer.read()
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    channel = os.dup(1)  # not inheritable (PEP 446)
    os.dup2(2, 1)
    own = os.getpid()
    printed = _Printed()
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(printed), encoding="utf-8", errors="backslashreplace"
    )
    word = FAILED

    def speak() -> None:
        if os.getpid() != own:  # a forked child that exits like the judge
            return
        sys.stdout.flush()
        last = printed.end.rstrip().rpartition(b"\n")[2]
        line = b"\n" + sealed(key, word + last if word == SAID else word)
        while line:
            line = line[os.write(channel, line) :]

    atexit.register(speak)  # registered first, so called last
    sys.argv = [entry, folder, thread]
    sys.path.insert(0, os.path.dirname(entry))
    with open(entry, "rb") as file:
        code = compile(file.read(), entry, "exec")
    judge = type(sys)("__main__")
    judge.__file__ = entry
    sys.modules["__main__"] = judge
    try:
        exec(code, judge.__dict__)
    except SystemExit as end:
        if end.code in (None, 0):
            word = SAID
        raise
    word = SAID


if __name__ == "__main__":
    main()
