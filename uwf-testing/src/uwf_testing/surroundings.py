"""What a plugin must leave alone while it is called: folders, the process, threads."""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import ClassVar

import pytest

from uwf_core.process.cancel import Cancel
from uwf_testing.plugin_contract import PluginContract

Work = Callable[[], object]


@contextmanager
def process_unchanged(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Check that the current folder, which is `here`, and the environment stay as they are."""
    monkeypatch.chdir(here)
    environment = dict(os.environ)
    yield
    folder, now = Path.cwd(), dict(os.environ)
    changed = {name for name, _ in environment.items() ^ now.items()}
    os.environ.update(environment)
    for name in set(now) - set(environment):
        del os.environ[name]
    assert folder == here, "it changes the current folder"
    assert not changed, f"it changes variables: {', '.join(sorted(changed))}"


def threads_left(before: Collection[threading.Thread], seconds: float) -> list[str]:
    """The names of the threads that were started since and still run after `seconds`."""
    deadline = time.monotonic() + seconds
    while (left := set(threading.enumerate()) - set(before)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return sorted(thread.name for thread in left)


def ends_within(seconds: float, call: Callable[[], object], cancel: Cancel | None = None) -> bool:
    """Whether a call ends, with a result or an error, within `seconds`; with `cancel`, after this
    token is set.
    """

    def work() -> None:
        with suppress(Exception):
            call()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    if cancel is not None:
        thread.join(0.1)
        cancel.set("the kit")
    thread.join(seconds)
    return not thread.is_alive()


class WorkContract(PluginContract):
    """What a plugin leaves as it was while it works."""

    stop_seconds: ClassVar[float] = 10.0
    """How long a call may run after its cancel token is set, and its threads after it."""

    @pytest.fixture
    def work(self) -> Work:
        """Calls the plugin once, as uwf does; each kind defines this."""
        raise NotImplementedError

    def test_nothing_is_written_outside(
        self, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It writes nothing to the home, the temporary folder or the current one."""
        folders = [tmp_path / name for name in ("kit-home", "kit-temporary", "kit-here")]
        for folder in folders:
            folder.mkdir()
        monkeypatch.setenv("HOME", str(folders[0]))
        monkeypatch.setenv("TMPDIR", str(folders[1]))
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.chdir(folders[2])
        work()
        found = [path.name for folder in folders for path in folder.rglob("*")]
        assert not found, f"left behind: {', '.join(found)}"

    def test_it_leaves_no_thread(self, work: Work) -> None:
        """Its threads end soon after the call."""
        before = set(threading.enumerate())
        work()
        left = threads_left(before, self.stop_seconds)
        assert not left, f"still running: {', '.join(left)}"

    def test_the_process_is_left_as_it_was(
        self, work: Work, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It changes neither the current folder nor the environment."""
        with process_unchanged(tmp_path, monkeypatch):
            work()

    def test_it_prints_nothing(self, work: Work, capfd: pytest.CaptureFixture[str]) -> None:
        """Standard output is uwf's."""
        capfd.readouterr()
        work()
        printed = capfd.readouterr()
        assert printed.out + printed.err == ""
