"""Work in children of this process: `uwf` as a user runs it, but without the time to start."""

import io
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

SECONDS = 180
"""A child that takes longer is killed: whatever happens, uwf must not hang. Machines are busy."""

Item = TypeVar("Item")
Result = TypeVar("Result")


class Ended(NamedTuple):
    """How a child ended: its exit code, or minus the signal; what it printed; what it gave; for
    how many seconds it computed.
    """

    code: int
    out: str
    err: str
    gave: bytes
    seconds: float

    @property
    def gone(self) -> bool:
        """Whether SIGKILL ended it."""
        return self.code == -signal.SIGKILL

    @property
    def hung(self) -> bool:
        """Whether it was not done in time."""
        return self.code == -signal.SIGALRM


class Child(NamedTuple):
    """A child under way."""

    pid: int
    out: int
    err: int
    gift: int

    def wait(self) -> Ended:
        """Wait for its end."""
        _, status, used = os.wait4(self.pid, 0)
        texts = [_whole(fd) for fd in (self.out, self.err, self.gift)]
        out, err = (text.decode(errors="replace") for text in texts[:2])
        seconds = used.ru_utime + used.ru_stime
        return Ended(os.waitstatus_to_exitcode(status), out, err, texts[2], seconds)


def start(work: Callable[[int], int]) -> Child:
    """Start `work` in a child, with a descriptor to which it may write for us. Its result is the
    exit code; what it prints is kept.
    """
    out, err, gift = (os.memfd_create(name) for name in ("out", "err", "gift"))
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid:
        return Child(pid, out, err, gift)
    code = 70
    try:
        signal.alarm(SECONDS)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for theirs, ours in ((nothing, 0), (out, 1), (err, 2)):
            os.dup2(theirs, ours)
        sys.stdin, sys.stdout, sys.stderr = _stream(0, "r"), _stream(1, "w"), _stream(2, "w")
        code = work(gift)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def run(work: Callable[[int], int]) -> Ended:
    """Run `work` in a child and wait for it."""
    return start(work).wait()


def spread(
    items: Sequence[Item], work: Callable[[Item], Result], workers: int
) -> Iterator[tuple[Item, Result | str]]:
    """`work` done for every item by several processes; a text where it raised."""

    def share(number: int) -> Callable[[int], int]:
        def do(gift: int) -> int:
            signal.alarm(0)
            with open(gift, "wb", closefd=False) as file:
                for item in items[number::workers]:
                    pickle.dump(attempted(partial(work, item)), file)
            return 0

        return do

    children = [start(share(number)) for number in range(workers)]
    for number, child in enumerate(children):
        ended = child.wait()
        gifts = io.BytesIO(ended.gave)
        for item in items[number::workers]:
            try:
                yield item, pickle.load(gifts)
            except EOFError:
                yield item, f"the process died of it ({ended.code}): {ended.err[-500:]}"
                break


def attempted(work: Callable[[], Any]) -> Any:
    """What `work` gives; a text that says where and what, if it raises."""
    try:
        return work()
    except Exception as error:
        places = traceback.extract_tb(error.__traceback__)
        where = f"{places[-1].name}:{places[-1].lineno}" if places else "?"
        return f"{type(error).__name__} in {where}: {error}"


def _stream(fd: int, mode: str) -> io.TextIOWrapper:
    """A standard stream; in a test, pytest has put other things in their place."""
    stream = open(fd, mode, encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    assert isinstance(stream, io.TextIOWrapper)
    stream.reconfigure(write_through=fd == 2)
    return stream


def _whole(fd: int) -> bytes:
    with open(fd, "rb") as file:
        file.seek(0)
        return file.read()
