"""Limits, caps and cancelling: what a program may take, and how soon it is ended."""

import resource
import threading
import time
from pathlib import Path

import pytest

from uwf_core.client import Cancel
from uwf_core.process.program import End

from .conftest import Runner, eventually


def test_a_program_that_says_nothing_is_ended_at_the_idle_limit(runner: Runner) -> None:
    result = runner.run("/bin/sleep", "60", idle_seconds=0.3, total_seconds=60)
    assert (result.end, result.exit_code) == (End.STALLED, -15)
    assert result.duration_ms >= 300


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_byte_now_and_then_on_either_stream_keeps_a_program_from_being_idle(
    runner: Runner, stream: str
) -> None:
    result = runner.run("dribble.py", 10, 0.25, stream, idle_seconds=2)
    assert result.end is End.EXITED
    assert result.stdout + result.stderr == b".\n" * 10


def test_the_total_limit_holds_however_much_is_said(runner: Runner) -> None:
    result = runner.run("dribble.py", 1000, 0.02, total_seconds=2, idle_seconds=60)
    assert result.end is End.TIMED_OUT
    assert result.stdout.startswith(b".\n.\n")


def test_a_program_seen_alive_from_elsewhere_is_not_idle(runner: Runner) -> None:
    child = runner.start("/bin/sleep", "3", idle_seconds=2)
    for _ in range(25):
        time.sleep(0.1)
        child.touch()
    assert child.wait().end is End.EXITED


def test_100_mb_of_output_end_the_program_at_the_cap_and_take_no_memory(runner: Runner) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = runner.run("flood.py", 100, output_bytes=1_000_000)
    assert (result.end, len(result.stdout)) == (End.TOO_LARGE, 1_000_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


def test_100_mb_on_stderr_are_no_fault_and_only_the_end_is_kept(runner: Runner) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = runner.run("flood.py", 100, "stderr")
    assert (result.end, result.exit_code) == (End.EXITED, 0)
    assert result.stderr.endswith(b"x\nthe end")
    assert len(result.stderr) == 64 * 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000


def test_output_up_to_the_cap_is_whole(runner: Runner) -> None:
    result = runner.run("/bin/cat", stdin=b"x" * 200_000, output_bytes=200_000)
    assert (result.end, len(result.stdout)) == (End.EXITED, 200_000)
    result = runner.run("/bin/cat", stdin=b"x" * 200_001, output_bytes=200_000)
    assert (result.end, len(result.stdout)) == (End.TOO_LARGE, 200_000)


def test_many_empty_lines_take_no_more_memory_than_their_bytes(runner: Runner) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = runner.run("/bin/sh", "-c", "yes '' | head -c 5000000")
    assert result.stdout == b"\n" * 5_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000


def test_a_cancel_ends_the_program_at_once(runner: Runner) -> None:
    cancel = Cancel()
    child = runner.start("/bin/sleep", "60", cancel=cancel)
    time.sleep(0.1)
    start = time.monotonic()
    cancel.set("Ctrl-C")
    result = child.wait()
    assert (result.end, result.exit_code) == (End.CANCELLED, -15)
    assert time.monotonic() - start < 30


def test_what_was_said_before_the_end_is_kept(runner: Runner) -> None:
    result = runner.run("/bin/sh", "-c", "echo half; echo why >&2; sleep 60", total_seconds=2)
    assert (result.end, result.stdout, result.stderr) == (End.TIMED_OUT, b"half\n", b"why\n")


def test_the_first_signal_comes_before_term_and_term_before_kill(
    runner: Runner, tmp_path: Path
) -> None:
    file = tmp_path / "signals"
    child = runner.start("signals.py", file, "none", first_signal=2, grace_seconds=1.5)
    assert next(child.lines()) == b"ready"
    start = time.monotonic()
    child.stop()
    assert file.read_text().split() == ["SIGINT", "SIGTERM"]
    assert time.monotonic() - start > 2
    assert child.wait().exit_code == -9


def test_who_ends_on_the_first_signal_is_not_sent_another(runner: Runner, tmp_path: Path) -> None:
    file = tmp_path / "signals"
    child = runner.start("signals.py", file, "SIGINT", first_signal=2)
    assert next(child.lines()) == b"ready"
    child.stop()
    assert file.read_text().split() == ["SIGINT"]
    result = child.wait()
    assert (result.end, result.exit_code) == (End.CANCELLED, 0)


def test_without_a_first_signal_the_program_gets_term(runner: Runner, tmp_path: Path) -> None:
    file = tmp_path / "signals"
    child = runner.start("signals.py", file, "SIGTERM")
    assert next(child.lines()) == b"ready"
    child.stop()
    assert file.read_text().split() == ["SIGTERM"]


def test_several_threads_may_stop_and_wait_at_once(runner: Runner) -> None:
    child = runner.start("/bin/sleep", "60")
    threads = [threading.Thread(target=child.stop) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert child.wait().end is End.CANCELLED
    for thread in threads:
        thread.join()
    child.stop()


def test_several_programs_run_at_once_without_disturbing_each_other(runner: Runner) -> None:
    children = [runner.start("/bin/cat", stdin=b"%d" % each * 70_000) for each in range(6)]
    for index, child in enumerate(children):
        result = child.wait()
        assert (result.exit_code, result.stdout) == (0, b"%d" % index * 70_000)
    assert eventually(lambda: not any(child.identity.is_alive() for child in children))
