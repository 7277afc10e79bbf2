"""`uwf setup` tries the model; on a terminal it asks, and shows no key."""

import contextlib
import os
import pty
import select
import signal
import subprocess
import time

import pytest

from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelScript

KEY = "sk-typed-by-hand-123456"


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path)


class Terminal:
    """A process at a pseudo-terminal, and somebody who types."""

    def __init__(self, project, *arguments):
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            project.command(*arguments),
            cwd=project.folder,
            env={**project.env, "TERM": "dumb"},
            stdin=slave,
            stdout=subprocess.PIPE,
            stderr=slave,
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, words, seconds=60.0):
        deadline = time.monotonic() + seconds
        while words not in self.seen:
            ready, _, _ = select.select([self._master], [], [], deadline - time.monotonic())
            assert ready, f"{words!r} never came: {self.seen}"
            self.seen += self._read()

    def type(self, text):
        os.write(self._master, text.encode())

    def answer(self, question, text):
        self.wait_for(question)
        self.seen = self.seen.partition(question)[2]
        self.type(text + "\n")

    def interrupt(self):
        """Ctrl-C, again until it is heard: the prompt is written and its answer read within one
        instruction of Python, and a signal that comes in between waits for the next one.
        """
        while self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.2)

    def end(self):
        out, _ = self.process.communicate(timeout=60)
        os.close(self._master)
        return self.process.returncode, out.decode()

    def _read(self):
        try:
            return os.read(self._master, 4096).decode("utf-8", "replace")
        except OSError:  # the other end is closed
            return ""


def test_the_wizard_asks_lists_the_models_and_tries_one(project):
    script = ModelScript(turns=("ready",), models=("small", "large"), api_key=KEY)
    with ScriptedModel(script=script) as model:
        terminal = Terminal(project, "setup", "--format", "json")
        terminal.answer("number or name", "another")
        terminal.answer("a name for it", "mine")
        terminal.answer("its address", model.openai_url)
        terminal.answer("its protocol", "gemini-chat")
        terminal.answer("unknown protocol", "openai-responses")
        terminal.answer("API key", KEY)
        terminal.answer("model, number or name", "2")
        terminal.wait_for("the model answered")
        everything = terminal.seen
        code, out = terminal.end()
        assert model.requests[-1].body["model"] == "large"
        assert model.requests[-1].key == KEY
    assert code == 0, out
    assert KEY not in out + everything
    assert '"ok": true' in out
    shown = project.uwf("config", "get", "defaultModel", "--format", "json")
    assert "large" in shown.stdout
    assert KEY in (project.home / ".env").read_text()
    assert KEY not in (project.home / "config.yaml").read_text()


def test_a_known_service_is_chosen_by_its_number_and_a_wrong_word_asked_again(project):
    script = ModelScript(turns=("ready",), models=("only",))
    with ScriptedModel(script=script) as model:
        terminal = Terminal(project, "setup", "--base-url", model.openai_url)
        terminal.answer("number or name", "nonsense")
        terminal.answer("unknown choice", "")
        terminal.process.kill()
        terminal.end()
        terminal = Terminal(project, "setup", "--base-url", model.openai_url)
        terminal.answer("number or name", "13")
        terminal.answer("model, number or name", "")
        terminal.wait_for("the model answered")
        code, _ = terminal.end()
    assert code == 0
    assert "ollama" in (project.home / "config.yaml").read_text()


def test_ctrl_c_in_the_middle_writes_nothing(project):
    terminal = Terminal(project, "setup")
    terminal.answer("number or name", "openai")
    terminal.wait_for("address")
    terminal.interrupt()
    code, _ = terminal.end()
    assert code != 0
    assert "Traceback" not in terminal.seen
    assert not (project.home / "config.yaml").exists()


def test_by_its_options_the_model_is_tried_as_well(project):
    with ScriptedModel(["ready"]) as model:
        outcome = project.uwf(
            *("setup", "--provider", "mine", "--base-url", model.openai_url),
            *("--model", "m", "--api-key", "-"),
            stdin=KEY,
        )
        assert model.requests[0].key == KEY
    assert outcome.exit_code == 0
    assert outcome.document["trial"]["ok"]
    assert KEY not in outcome.stdout + outcome.stderr


def test_a_trial_that_fails_is_told_and_no_failure(project):
    with ScriptedModel([{"error": {"status": 401, "message": "wrong key"}}]) as model:
        outcome = project.uwf(
            *("setup", "--provider", "mine", "--base-url", model.openai_url, "--model", "m")
        )
    assert outcome.exit_code == 0
    assert not outcome.document["trial"]["ok"]
    assert "wrong key" in outcome.stderr
    assert (project.home / "config.yaml").exists()


def test_without_a_trial_nobody_is_asked(project):
    with ScriptedModel(["ready"]) as model:
        outcome = project.uwf(
            *("setup", "--provider", "mine", "--base-url", model.openai_url, "--model", "m"),
            "--no-trial",
        )
        assert model.requests == []
    assert outcome.document["trial"] is None
