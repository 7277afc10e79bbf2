"""A process is its number and its start time."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from uwf_core.process.identity import (
    ProcessId,
    hostname,
    parse_ps_state,
    send_signal,
    stat_fields,
)
from uwf_core.process.tree import parse_ps


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/sleep", "60"]) as process:
        yield process
        process.kill()


def test_a_process_is_recognised_by_number_and_start(sleeper: subprocess.Popen[bytes]) -> None:
    found = ProcessId.of(sleeper.pid)
    assert found is not None
    assert found == ProcessId.of(sleeper.pid)
    assert found.is_alive()
    assert ProcessId.own().is_alive()
    assert ProcessId.own().pid == os.getpid()
    assert ProcessId.own() != found


def test_a_signal_is_never_sent_to_a_process_that_got_the_number_later(
    sleeper: subprocess.Popen[bytes],
) -> None:
    real = ProcessId.of(sleeper.pid)
    assert real is not None
    for start in ("1", "", real.start + "0", real.start.split("-")[0] + "-00000000"):
        recycled = ProcessId(sleeper.pid, start)
        assert not recycled.is_alive()
        assert not send_signal(recycled, 9)
    time.sleep(0.1)
    assert sleeper.poll() is None
    assert send_signal(real, 15)
    assert sleeper.wait(30) == -15


def test_a_zombie_is_not_alive_and_is_sent_nothing() -> None:
    process = subprocess.Popen(["/bin/true"])
    found = ProcessId.of(process.pid)
    assert found is not None
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert ProcessId.of(process.pid) == found
    assert not found.is_alive()
    assert not send_signal(found, 15)
    process.wait()
    assert ProcessId.of(process.pid) is None
    assert not send_signal(found, 15)


@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_numbers_that_name_groups_or_nobody_are_no_process(pid: int) -> None:
    assert ProcessId.of(pid) is None
    assert not send_signal(ProcessId(pid, "1"), 0)


def test_the_host_is_this_machine() -> None:
    assert hostname() == socket.gethostname()


def test_a_program_name_with_brackets_and_blanks_does_not_shift_the_fields() -> None:
    line = b"7 (a) b (c) S 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0\n"
    fields = stat_fields(line)
    assert (fields[0], fields[1], fields[19]) == ("S", "1", "4711")


def test_what_ps_prints_on_macos_is_understood() -> None:
    """Lines as `ps` of macOS prints them; that system's `ps` cannot run here."""
    assert parse_ps_state("Ss   Tue Nov  4 09:12:33 2025\n") == ("S", "Tue Nov 4 09:12:33 2025")
    assert parse_ps_state("") is None
    table = (
        "    1     0     1   0 Mon Nov  3 08:00:00 2025\n  502   1   502 501 Tue Nov  4 1:2:3 2025"
    )
    first, second = parse_ps(table)
    assert (first.process.pid, first.parent, first.session, first.user) == (1, 0, 1, 0)
    assert second.process == ProcessId(502, "Tue Nov 4 1:2:3 2025")
    assert (second.parent, second.session, second.user) == (1, 502, 501)
