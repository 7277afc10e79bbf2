"""allowShell: a person decides about each command, or commands run in a sandbox that works."""

import os
import shutil
import socket
import sys
from pathlib import Path

import pytest
from builtin_kit import DONE, turn, use

from uwf_core.api import NeedsAnswer, Unavailable
from uwf_core.testing.project import Project
from uwf_testing.model_server import ScriptedModel

COMMAND = "echo ran >> log"


class Asked:
    """An agent whose commands a person allows."""

    def __init__(self, desk, *turns):
        self.desk, self.server = desk, desk.model(*turns)
        self.session = None

    def run(self, answer=None, step=1):
        agent = self.desk.agent(allow_shell="ask")
        given = None if answer is None else {"decision": answer}
        request = self.desk.request(
            self.server, session=self.session, answer=given, step_number=step
        )
        self.desk.sink.turns.clear()
        try:
            return agent.run(request, self.desk.sink)
        finally:
            self.session = self.desk.sink.sessions[-1]
            agent.close()

    def log(self):
        file = self.desk.work / "log"
        return file.read_text() if file.exists() else ""

    def sent(self):
        return [each.get("content") for each in self.server.requests[-1].messages]


def test_the_question_is_the_exact_command_and_nothing_runs_before(desk):
    asked = Asked(desk, turn(use("run_command", command=COMMAND)), DONE)
    with pytest.raises(NeedsAnswer) as question:
        asked.run()
    assert question.value.message == f"role developer wants to run this command:\n\n{COMMAND}"
    assert question.value.form["properties"]["decision"]["enum"] == ["once", "step", "never"]
    assert asked.log() == "" and len(asked.server.requests) == 1


def test_once_runs_this_command_and_asks_for_the_next(desk):
    asked = Asked(
        desk,
        turn(use("run_command", command=COMMAND)),
        turn(use("run_command", command=COMMAND)),
        DONE,
    )
    for times in range(2):
        with pytest.raises(NeedsAnswer):
            asked.run("once" if times else None)
        assert asked.log() == "ran\n" * times
    assert asked.run("once").text == DONE
    assert asked.log() == "ran\n" * 2


def test_an_answer_does_not_hold_for_another_command_of_the_same_turn(desk):
    both = turn(use("run_command", command=COMMAND), use("run_command", command="echo two >> log"))
    asked = Asked(desk, both, DONE)
    with pytest.raises(NeedsAnswer):
        asked.run()
    with pytest.raises(NeedsAnswer, match="echo two"):
        asked.run("once")
    assert asked.log() == "ran\n"
    asked.run("once")
    assert asked.log() == "ran\ntwo\n"


def test_step_allows_all_commands_of_the_step_and_no_later_one(desk):
    two = [turn(use("run_command", command=COMMAND)) for _ in range(2)]
    asked = Asked(desk, *two, DONE, turn(use("run_command", command=COMMAND)))
    with pytest.raises(NeedsAnswer):
        asked.run()
    asked.run("step")
    assert asked.log() == "ran\n" * 2
    with pytest.raises(NeedsAnswer):
        asked.run(step=2)
    assert asked.log() == "ran\n" * 2


def test_never_runs_nothing_and_does_not_ask_again(desk):
    two = [turn(use("run_command", command=COMMAND)) for _ in range(2)]
    asked = Asked(desk, *two, DONE, *two, DONE)
    with pytest.raises(NeedsAnswer):
        asked.run()
    asked.run("never")
    asked.run(step=2)
    assert asked.log() == ""
    assert "does not allow commands" in str(asked.sent())


def test_calls_that_do_not_run_a_command_are_not_asked_about(desk):
    mixed = turn(
        use("list_files"), use("run_command", command=COMMAND), use("list_files", pattern="*")
    )
    asked = Asked(desk, mixed, DONE)
    with pytest.raises(NeedsAnswer):
        asked.run()
    asked.run("once")
    results = [each for each in asked.server.requests[-1].messages if each["role"] == "tool"]
    assert len(results) == 3 and "log" in results[2]["content"], "the rest runs after the answer"


def test_a_thread_waits_for_the_answer_and_goes_on_with_it(tmp_path):
    """Through the engine: suspended with the command, resumed by `--answer decision=once`."""
    calls = [turn(use("run_command", command=COMMAND)), DONE]
    with ScriptedModel(calls) as model:
        project = Project(tmp_path)
        del project.env["UWF_DEFAULT_AGENT"]
        project.workflow("one", ONE)
        project.config(
            f"providers: {{local: {{baseUrl: {model.openai_url}}}}}\n"
            "models: {scripted: {provider: local, name: m}}\ndefaultModel: scripted\n"
            "defaultAgent: coder\nagents: {coder: {use: builtin, options: {allowShell: ask}}}\n"
        )
        with project.client() as uwf:
            thread = uwf.start("one", "The task.")["thread"]
            uwf.exec(thread, count=1)
            shown = uwf.show(thread)
            assert shown["status"] == "suspended" and COMMAND in shown["suspendMessage"]
            uwf.resume(thread, answer={"decision": "once"}, text="Take care.")
            assert uwf.show(thread)["status"] == "completed"
            assert (project.folder / "log").read_text() == "ran\n"
            assert uwf.replay(thread)["verdict"] == "same"
        assert "Take care." in model.requests[-1].messages[-1]["content"]


ONE = """\
version: 1
name: one
roles:
  worker:
    goal: Work.
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START:
    new: {role: worker, prompt: Begin.}
    resume: {role: worker, prompt: Again.}
  worker:
    done: {role: $END, prompt: Done.}
"""


# -- the sandbox -----------------------------------------------------------------------------------


def works() -> bool:
    return shutil.which("bwrap") is not None and os.system("bwrap --ro-bind / / true") == 0


PRETENDS = 'while [ "$1" != /bin/sh ]; do shift; done; "$@"'


@pytest.mark.parametrize("program", [None, "exit 1", PRETENDS])
def test_without_a_sandbox_that_confines_nothing_runs(desk, tmp_path, program):
    """Missing, failing, and a program of that name that just runs its arguments."""
    bin = tmp_path / "bin"
    bin.mkdir()
    for name in ("sh", "python3"):
        (bin / name).symlink_to(shutil.which(name))
    if program is not None:
        (bin / "bwrap").write_text(f"#!/bin/sh\n{program}\n")
        (bin / "bwrap").chmod(0o755)
    desk.env = {"PATH": str(bin)}
    server = desk.model(turn(use("run_command", command=COMMAND)), DONE)
    with pytest.raises(Unavailable, match=r"bwrap|bubblewrap") as failure:
        desk.agent(allow_shell="sandbox").run(desk.request(server), desk.sink)
    assert "bubblewrap" in (failure.value.hint or failure.value.message)
    assert not server.requests and not (desk.work / "log").exists(), "nothing is paid for"


@pytest.mark.skipif(not works(), reason="bubblewrap is not installed, or does not work here")
def test_a_command_in_the_sandbox_writes_the_workspace_alone(desk, tmp_path):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/key").write_text("a private key")
    (desk.work / ".env").write_text("TOKEN=secret-of-the-project")
    (desk.work / ".git").mkdir()
    (desk.work / ".git/config").write_text("[core]\n")
    desk.env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    attack = [
        "echo good > made",
        f"echo bad > {desk.outside}/x",
        f"cat {home}/.ssh/key",
        "cat .env",
        "echo bad >> .git/config",
        "ls /proc/1/root/home",
    ]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = listening.getsockname()
        connect = f"import socket; socket.create_connection({address}, 2); print('connected')"
        command = "\n".join((*attack, f'{sys.executable} -c "{connect}"'))
        answered = desk.run(
            turn(use("run_command", command=command)),
            DONE,
            options={"allow_shell": "sandbox", "sandbox_reads": (sys.base_prefix, sys.prefix)},
        )
    assert answered.text == DONE
    [call] = desk.sink.calls()
    assert (desk.work / "made").read_text() == "good\n"
    assert os.listdir(desk.outside) == []  # noqa: PTH208
    assert "a private key" not in call.result and "secret-of-the-project" not in call.result
    assert "connected" not in call.result and "Connection refused" in call.result
    assert (desk.work / ".git/config").read_text() == "[core]\n"
    assert "in a sandbox (bubblewrap)" in desk.sink.notes()[0]


@pytest.mark.skipif(not works(), reason="bubblewrap is not installed, or does not work here")
def test_what_the_user_names_is_visible_and_read_only(desk, tmp_path):
    tool = tmp_path / "home/tool"
    tool.mkdir(parents=True)
    (tool / "version").write_text("3.1\n")
    desk.env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    command = f"cat {tool}/version; echo no > {tool}/new; exit 0"
    options = {"allow_shell": "sandbox", "sandbox_reads": (str(tool),)}
    desk.run(turn(use("run_command", command=command)), DONE, options=options)
    [call] = desk.sink.calls()
    assert "3.1" in call.result and not (tool / "new").exists()


def test_a_role_without_commands_needs_no_sandbox(desk):
    desk.env = {"PATH": str(Path("/nowhere"))}
    assert desk.run(DONE, options={"allow_shell": "sandbox"}, tools=("read_file",)).text == DONE
