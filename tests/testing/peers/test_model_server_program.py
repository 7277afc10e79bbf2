"""The server as a program, for agents that are no Python."""

import json
import signal
import subprocess
import sys

import pytest

from model_peers import openai

SCRIPT = """
sideText: A title
turns:
  - hello
  - {error: {status: 500}}
"""


class Server:
    """Where a running program listens."""

    def __init__(self, port):
        self.port = port


def command(*arguments):
    return [sys.executable, "-m", "uwf_testing.model_server", *map(str, arguments)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_prints_its_port_serves_and_ends_by_a_signal(tmp_path, number):
    script, log = tmp_path / "script.yaml", tmp_path / "log.jsonl"
    script.write_text(SCRIPT)
    with subprocess.Popen(
        command(script, "--log", log), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as program:
        try:
            server = Server(int(program.stdout.readline()))
            assert openai(server, tools=False).json["choices"][0]["message"]["content"] == "A title"
            assert openai(server).json["choices"][0]["message"]["content"] == "hello"
            assert openai(server).status == 500
        finally:
            program.send_signal(number)
        assert program.wait(60) == 0
        assert program.stderr.read() == ""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["turn"] for line in lines] == [None, 0, 1]


def test_a_script_with_a_mistake_is_named(tmp_path):
    script = tmp_path / "script.yaml"
    script.write_text("turns: [{txt: x}]")
    done = subprocess.run(command(script), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "turns.0.txt" in done.stderr
    assert "Traceback" not in done.stderr
