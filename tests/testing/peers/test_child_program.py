import json
import os
import signal
import subprocess
import time

import pytest

from uwf_core.api.agent import AgentRequest, RunLimits
from uwf_testing.child_program import ScriptedProgram


def run(program, *arguments, stdin=b"", **options):
    return subprocess.run(
        [program.path, *arguments], input=stdin, capture_output=True, timeout=60, **options
    )


def end(pid):
    os.kill(pid, signal.SIGKILL)


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_it_prints_what_the_script_says_and_exits_with_its_code(tmp_path):
    program = ScriptedProgram(
        tmp_path, "agent", ["one", {"write": "two"}, {"error": "no"}, {"exit": 3}]
    )
    done = run(program)
    assert (done.stdout, done.stderr, done.returncode) == (b"one\ntwo", b"no\n", 3)


def test_a_test_sees_how_it_was_called(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", [{"stdin": "read"}])
    folder = tmp_path / "work"
    folder.mkdir()
    run(program, "-p", "ä b", stdin="grüße\n".encode(), cwd=folder, env={"KEY": "value"})
    (call,) = program.calls
    assert call.arguments == ("-p", "ä b")
    assert call.cwd == str(folder)
    assert call.env["KEY"] == "value"
    assert call.stdin == "grüße\n"


def test_every_call_gets_its_own_script_and_the_last_repeats(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", ["first"], ["second"])
    assert [run(program).stdout for _ in range(3)] == [b"first\n", b"second\n", b"second\n"]


def test_a_question_for_the_version_takes_no_turn(tmp_path):
    program = ScriptedProgram(
        tmp_path, "agent", ["first"], ["second"], by_argument={"--version": ["1.2.3"]}
    )
    said = [run(program, *words).stdout for words in ([], ["--version"], [], ["-v", "--version"])]
    assert said == [b"first\n", b"1.2.3\n", b"second\n", b"1.2.3\n"]
    assert len(program.calls) == 4


def test_an_argument_can_be_given_back(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", ['{"session": "<<--resume>>"} <<--gone>>'])
    assert run(program, "--resume", "abc").stdout == b'{"session": "abc"} <<--gone>>\n'


def test_bytes_that_are_no_text_and_many_of_them(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", [{"hex": "00ff0a"}, {"megabytes": 3}])
    said = run(program).stdout
    assert said[:3] == b"\x00\xff\n"
    assert len(said) == 3 + 3_000_000


def test_it_ignores_signals_until_it_is_killed(tmp_path):
    program = ScriptedProgram(
        tmp_path, "agent", [{"ignore": ["TERM", "INT"]}, "ready", {"hang": True}]
    )
    with subprocess.Popen([program.path], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        child.send_signal(signal.SIGTERM)
        child.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.3)
        child.kill()
    assert child.returncode == -signal.SIGKILL


def test_it_dies_by_a_signal(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", [{"die": "SEGV"}])
    assert run(program).returncode == -signal.SIGSEGV


def test_a_daemon_outlives_it_and_is_known(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", [{"daemon": {"ignore": ["TERM"]}}, "done"])
    assert run(program).stdout == b"done\n"
    (pid,) = program.daemons
    try:
        assert program.daemons_alive() == [pid]
        assert os.getsid(pid) != os.getsid(0)
        os.kill(pid, signal.SIGTERM)
        time.sleep(0.1)
        assert program.daemons_alive() == [pid]
    finally:
        end(pid)
    wait_until(lambda: not program.daemons_alive())


def test_a_daemon_can_hold_the_output_open(tmp_path):
    """A reader that waits for the end of the output waits for the daemon."""
    program = ScriptedProgram(tmp_path, "agent", [{"daemon": {"seconds": 0.5, "holds": True}}])
    started = time.monotonic()
    run(program)
    assert time.monotonic() - started > 0.45


def test_an_adapter_runs_it_and_no_daemon_is_left(tmp_path):
    """As an adapter does it: by name, on the PATH, under the reaper."""
    program = ScriptedProgram(tmp_path, "foreign", [{"daemon": {"ignore": ["TERM"]}}, "done"])
    request = AgentRequest(
        thread="T",
        role="r",
        step_number=1,
        cwd=str(tmp_path),
        prompt="p",
        limits=RunLimits(grace_seconds=0.2),
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert request.run_program(["foreign"]).stdout == b"done\n"
    assert len(program.daemons) == 1
    assert program.daemons_alive() == []


def test_two_calls_at_once_are_both_recorded(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", [{"sleep": 0.2}])
    children = [subprocess.Popen([program.path, str(number)]) for number in range(8)]
    assert [child.wait(60) for child in children] == [0] * 8
    assert sorted(call.arguments for call in program.calls) == [(str(n),) for n in range(8)]


def test_files_and_closed_streams(tmp_path):
    acts = [
        {"file": {"path": "made.txt", "text": "by it"}},
        {"close": "stdout"},
        {"error": "still"},
    ]
    program = ScriptedProgram(tmp_path, "agent", acts)
    assert run(program, cwd=tmp_path).stderr == b"still\n"
    assert (tmp_path / "made.txt").read_text() == "by it"


@pytest.mark.parametrize("act", [{"prnt": "x"}, {}, {"print": "x", "exit": 1}])
def test_a_mistake_in_a_script_is_told_where_it_is_written(tmp_path, act):
    with pytest.raises(ValueError, match="act"):
        ScriptedProgram(tmp_path, "agent", [act])
    assert not (tmp_path / "agent").exists()


def test_echo(tmp_path):
    program = ScriptedProgram(tmp_path, "agent", [{"stdin": "echo"}])
    data = json.dumps({"a": "ü"}).encode() + b"\xff\x00"
    assert run(program, stdin=data).stdout == data
