"""Within the guard nothing reaches stdout; after it everything does again."""

import io
import os
import sys
import threading

import pytest

from uwf_core.plugins.guards import PluginGuard


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
