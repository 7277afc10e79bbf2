"""Within the guard nothing reaches stdout; after it everything does again."""

import io
import os
import sys
import threading

import pytest

from uwf_core.plugins.guards import PluginGuard, keeps_descriptors
from uwf_core.plugins.scan import Distribution, EntryPoint


def test_a_stdout_that_was_replaced_is_kept_clean_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stdout", stdout)
    monkeypatch.setattr(sys, "stderr", stderr)
    with PluginGuard():
        print("plugin")
    print("ours")
    assert stdout.getvalue() == "ours\n"
    assert stderr.getvalue() == "plugin\n"


def test_guards_nest_and_stdout_is_back_after_the_last(capfd: pytest.CaptureFixture[str]) -> None:
    guard = PluginGuard()
    with guard:
        with guard:
            os.write(1, b"inner ")
        os.write(1, b"outer ")
    os.write(1, b"ours")
    captured = capfd.readouterr()
    assert captured.out == "ours"
    assert captured.err == "inner outer "


def test_stdout_is_back_after_an_exception(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError), PluginGuard():
        raise ValueError
    os.write(1, b"ours")
    assert capfd.readouterr().out == "ours"


def test_guards_of_several_threads_overlap_in_any_order(capfd: pytest.CaptureFixture[str]) -> None:
    guard = PluginGuard()
    entered, leave = threading.Event(), threading.Event()

    def first() -> None:
        with guard:
            entered.set()
            leave.wait(60)
            os.write(1, b"thread ")

    thread = threading.Thread(target=first)
    thread.start()
    entered.wait(60)
    with guard:
        leave.set()
        thread.join(60)
        os.write(1, b"main ")
    os.write(1, b"ours")
    captured = capfd.readouterr()
    assert captured.out == "ours"
    assert captured.err == "thread main "


def test_a_process_keeps_its_descriptors(capfd: pytest.CaptureFixture[str]) -> None:
    before = set(os.listdir("/dev/fd"))  # noqa: PTH208 (names, not paths)
    for _ in range(5):
        with PluginGuard():
            pass
    assert set(os.listdir("/dev/fd")) == before  # noqa: PTH208


@pytest.mark.usefixtures("capfd")
def test_no_plugin_is_blamed_for_the_stdout_that_the_guard_of_another_thread_restored() -> None:
    entered, loading, restored = threading.Event(), threading.Event(), threading.Event()
    last = threading.Event()

    def other() -> None:
        with PluginGuard():
            entered.set()
            loading.wait(60)
        restored.set()
        last.wait(60)

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(60)
    with keeps_descriptors(EntryPoint("uwf.agents", "harmless", "x:y", Distribution("x", "1"))):
        loading.set()
        assert restored.wait(60)
    last.set()
    thread.join(60)
