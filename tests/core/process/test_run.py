"""What a program is given and what comes back."""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uwf_core.process.identity import ProcessId
from uwf_core.process.program import End
from uwf_core.process.reaper import Order

from .conftest import Runner, eventually, open_files

PYTHON = (sys.executable, "-I", "-S", "-c")


def test_output_error_output_and_exit_code_come_back_exactly(runner: Runner) -> None:
    result = runner.run("/bin/sh", "-c", "echo out; echo err >&2; exit 3")
    assert (result.stdout, result.stderr) == (b"out\n", b"err\n")
    assert (result.exit_code, result.end) == (3, End.EXITED)


def test_in_one_stream_both_outputs_come_in_the_order_in_which_they_were_written(
    runner: Runner,
) -> None:
    script = "echo 1; echo 2 >&2; echo 3; echo 4 >&2"
    result = runner.run("/bin/sh", "-c", script, one_stream=True)
    assert (result.stdout, result.stderr) == (b"1\n2\n3\n4\n", b"")


@pytest.mark.parametrize(
    ("script", "outlived"),
    [
        ("echo out", False),
        ("(echo first) & wait; echo out", False),
        ("sleep 9 >/dev/null 2>&1 & echo out", True),
        ("(while kill -0 $$ 2>/dev/null; do :; done; echo last) & echo out", True),
    ],
)
def test_it_is_told_whether_something_outlived_it_however_shortly(
    runner: Runner, script: str, outlived: bool
) -> None:
    assert runner.run("/bin/sh", "-c", script).outlived is outlived


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_death_by_a_signal_is_told_as_such(runner: Runner, number: signal.Signals) -> None:
    result = runner.run("/bin/sh", "-c", f"ulimit -c 0; kill -{number.value} $$")
    assert (result.exit_code, result.end) == (-number, End.EXITED)


def test_invalid_utf8_and_nul_bytes_come_back_unchanged(runner: Runner) -> None:
    everything = bytes(range(256)) * 3
    assert runner.run("/bin/cat", stdin=everything).stdout == everything


def test_a_prompt_of_300_kb_does_not_block_a_program_that_answers_while_it_reads(
    runner: Runner,
) -> None:
    text = os.urandom(300_000)
    result = runner.run("/bin/cat", stdin=text)
    assert result.stdout == text


def test_a_program_that_does_not_read_its_prompt_is_no_error(runner: Runner) -> None:
    result = runner.run("deaf.py", stdin=b"x" * 300_000)
    assert (result.exit_code, result.stdout) == (0, b"deaf but done\n")


def test_without_a_prompt_stdin_is_at_its_end(runner: Runner) -> None:
    assert runner.run("/bin/cat", total_seconds=60).end is End.EXITED


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"bc" * 50, b"\xff\0"])))
def test_lines_are_stdout_parted_at_line_feeds(runner: Runner, parts: list[bytes]) -> None:
    data = b"".join(parts)
    lines: list[bytes] = []
    result = runner.run("/bin/cat", stdin=data, on_line=lines.append)
    assert result.stdout == data
    assert lines == data.removesuffix(b"\n").split(b"\n") * bool(data)


def test_lines_come_while_the_program_runs_and_the_cut_one_is_not_given(runner: Runner) -> None:
    child = runner.start("/bin/sh", "-c", r"printf 'one\ncut'; sleep 60")
    lines = child.lines()
    assert next(lines) == b"one"
    child.stop()
    assert list(lines) == []
    assert child.wait().stdout == b"one\ncut"


def test_the_lines_end_when_stdout_is_closed_though_the_program_goes_on(runner: Runner) -> None:
    with runner.start("/bin/sh", "-c", "echo one; exec >&- 2>&-; sleep 60") as child:
        assert list(child.lines()) == [b"one"]
        assert child.identity.is_alive()


def test_an_error_while_a_line_is_taken_ends_the_program(runner: Runner) -> None:
    def refuse(_line: bytes) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        runner.run("/bin/sh", "-c", "echo one; sleep 60", on_line=refuse)


def test_a_program_can_be_talked_with(runner: Runner) -> None:
    with runner.start("chatter.py", stdin=None) as child:
        lines = child.lines()
        for word in (b"hello", b"again"):
            child.write(word + b"\n")
            assert next(lines) == word.upper()
        child.close_stdin()
        assert list(lines) == [b"bye"]
        result = child.wait()
    assert (result.exit_code, result.end) == (0, End.EXITED)


def test_writing_after_stdin_was_closed_is_an_error_and_to_a_dead_program_none(
    runner: Runner,
) -> None:
    dead = runner.start("/bin/true", stdin=None)
    dead.wait()
    dead.write(b"into the void")
    fed = runner.start("/bin/cat", stdin=b"fed")
    with pytest.raises(ValueError, match="closed"):
        fed.write(b"more")
    assert fed.wait().stdout == b"fed"


def test_a_program_gets_exactly_the_arguments_and_environment_it_is_given(runner: Runner) -> None:
    words = ["", "two words", "line\nend", "ünï", "-x", "=", "'\"$(ls)"]
    script = "import sys; print(ascii(sys.argv[1:]))"
    result = runner.run(*PYTHON, script, *words)
    assert result.stdout.decode().strip() == ascii(words)
    env = {"A": "", "B": "a=b\nc", "C": "ü", "D": "raw \udcff byte"}
    result = runner.run("/usr/bin/env", "-0", env=env)
    assert set(result.stdout.rstrip(b"\0").split(b"\0")) == {
        b"A=",
        b"B=a=b\nc",
        "C=ü".encode(),
        b"D=raw \xff byte",
    }


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.binary().map(lambda data: data.replace(b"\0", b"")), max_size=5),
    st.dictionaries(st.sampled_from([b"A", b"B", b"C"]), st.sampled_from([b"", b"=", b"x\n"])),
)
def test_an_order_is_read_as_it_was_written(argv: list[bytes], env: dict[bytes, bytes]) -> None:
    order = Order(7, 1.5, 2)
    order.path, order.cwd, order.argv, order.env = b"/bin/x", b"/tmp", argv, env
    read, write = os.pipe()
    try:
        os.write(write, order.encode())
        again = Order.read(read)
    finally:
        os.close(read)
        os.close(write)
    assert again is not None
    assert vars(again) == vars(order)


def test_a_program_starts_in_its_folder_with_nothing_open_but_0_1_2_and_default_signals(
    runner: Runner,
) -> None:
    held = [os.open(os.devnull, os.O_RDONLY) for _ in range(3)]
    try:
        os.set_inheritable(held[0], True)
        script = "import os; print(os.getcwd(), *sorted(map(int, os.listdir('/proc/self/fd'))))"
        # 3 is the listing itself.
        assert runner.run(*PYTHON, script).stdout == f"{runner.folder} 0 1 2 3\n".encode()
    finally:
        for fd in held:
            os.close(fd)
    status = runner.run("/bin/cat", "/proc/self/status").stdout.decode()
    fields = dict(line.split(":\t", 1) for line in status.splitlines())
    # 32 and 33 are the C library's own.
    assert [int(fields[name], 16) & 0x7FFFFFFF for name in ("SigBlk", "SigIgn")] == [0, 0]


def test_the_process_told_at_the_start_is_the_program(runner: Runner) -> None:
    told: list[ProcessId] = []
    result = runner.run("/bin/sh", "-c", "echo $$", on_start=told.append)
    assert [str(each.pid) for each in told] == result.stdout.decode().split()
    child = runner.start("/bin/sleep", "60")
    assert ProcessId.of(child.identity.pid) == child.identity
    assert child.identity.is_alive()
    child.stop()
    assert not child.identity.is_alive()


def test_an_error_in_the_start_hook_ends_the_program(runner: Runner) -> None:
    told: list[ProcessId] = []

    def refuse(identity: ProcessId) -> None:
        told.append(identity)
        raise OSError("cannot record it")

    with pytest.raises(OSError, match="cannot record it"):
        runner.start("/bin/sleep", "60", on_start=refuse)
    assert not told[0].is_alive()


def test_twenty_runs_leave_no_open_file_no_zombie_and_no_thread(
    runner: Runner, tmp_path: Path
) -> None:
    import threading

    runner.run("/bin/true")
    script = tmp_path / "no-shebang"
    script.write_text("echo hi\n")
    script.chmod(0o755)
    before, started = open_files(), children()
    threads = threading.active_count()
    for _ in range(10):
        runner.run("/bin/true")
        runner.run("/bin/cat", stdin=b"x" * 100_000)
        for bad in ("/nowhere/at-all", str(script)):
            with pytest.raises(Exception, match="program"):
                runner.run(bad)
    # What an earlier test has left to a thread may go meanwhile.
    assert eventually(lambda: set(open_files()) <= set(before))
    assert eventually(lambda: threading.active_count() <= threads)
    assert eventually(lambda: children() <= started)


def children() -> set[str]:
    """The processes that this one has started, those that have ended and are not waited for too."""
    return {
        pid
        for file in Path("/proc/self/task").glob("*/children")
        for pid in file.read_text().split()
    }
