"""How plugin code may not behave while it is loaded, found out at once and told with its name."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from uwf_core.plugins.loading import broken
from uwf_core.plugins.scan import Found

_DESCRIPTORS = "/dev/fd"

_Opened = dict[int, tuple[int, int]]


@contextmanager
def keeps_descriptors(found: Found) -> Iterator[None]:
    """Whoever closes descriptors that are not its own is told: the store's would be among them.

    Raises:
        PluginBroken: what was open before is not open any more.
    """
    before = _opened()
    try:
        yield
    finally:
        after = _opened()
        lost = sorted(number for number, file in before.items() if after.get(number) != file)
        if lost:
            numbers = ", ".join(map(str, lost))
            raise broken(found, f"it closes file descriptors that are not its own ({numbers})")


@contextmanager
def stays_one_process(found: Found) -> Iterator[None]:
    """A process that the plugin forks, and that comes back here, ends: only one goes on."""
    process = os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:
            error = broken(found, "it forks while it is loaded; the second process was ended")
            os.write(2, f"note: {error.message} ({error.hint})\n".encode())
            os._exit(0)


def _opened() -> _Opened:
    """What is open: for each descriptor the device and number of its file."""
    try:
        numbers = os.listdir(_DESCRIPTORS)  # noqa: PTH208 (pathlib is not needed to run a step)
    except OSError:  # not even the listing can be opened, or a system without one
        return {}
    found: _Opened = {}
    for number in map(int, numbers):
        try:
            status = os.fstat(number)
        except OSError:  # the listing's own
            continue
        found[number] = (status.st_dev, status.st_ino)
    return found
