"""Runs a judge that is a Python file: `python -I -B launcher.py <entry> <cwd> <thread-id>`, with a
key on stdin.

What the agent made runs below the judge, as the same user. So that it cannot speak for the judge:

- The key is in this process's memory alone, and on Linux no other program of the user may look
  into the process: neither its memory nor its descriptors (prctl(2), PR_SET_DUMPABLE).
- What the judge prints stays in memory. At its end one line goes to the channel, sealed with the
  key: the last line that it printed, or that it failed. Whatever else arrives there is ignored.
- Descriptor 1 becomes stderr: what the judge starts does not even have the channel.
"""

# Every trial waits for this: runpy, pathlib, hashlib and ctypes take longer than many a judge.
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
    """The end of what the judge prints. Whoever wants a descriptor gets that of stderr."""

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
    """Let no other program of this user look into this process; nothing happens but on Linux."""
    if sys.platform == "linux":
        import _ctypes

        own: str = None  # type: ignore[assignment]  # this program, with its C library
        prctl = _ctypes.dlsym(_ctypes.dlopen(own, 0), "prctl")
        _ctypes.call_function(prctl, (_PR_SET_DUMPABLE, 0, 0, 0, 0))


def sealed(key: bytes, word: bytes) -> bytes:
    """A line that only who has the key can write."""
    seal = blake2b(word, key=key, digest_size=32).hexdigest()
    return b"%b %b\n" % (seal.encode(), word)


def unsealed(key: bytes, output: bytes) -> bytes | None:
    """The word of the sealed line in an output; None: there is none."""
    for line in output.split(b"\n"):
        word = line.partition(b" ")[2]
        if sealed(key, word) == line + b"\n":
            return word
    return None


def main() -> None:
    """Be the judge."""
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
        if os.getpid() != own:  # a fork of the judge that ends as the judge does
            return
        sys.stdout.flush()
        last = printed.end.rstrip().rpartition(b"\n")[2]
        line = b"\n" + sealed(key, word + last if word == SAID else word)
        while line:
            line = line[os.write(channel, line) :]

    atexit.register(speak)  # the first one registered is the last one called
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
