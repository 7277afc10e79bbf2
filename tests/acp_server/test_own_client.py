"""uwf as an agent of uwf: our own client of the protocol drives `uwf acp`, also below a step."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from acp_editor import WRITTEN, Desk, Rejected
from tests.step_parts import call_of

from uwf_agent_acp.agent.known import ANY
from uwf_agent_acp.agent.options import AcpOptions
from uwf_agent_acp.protocol.client import AcpClient, PermissionRequest
from uwf_agent_acp.protocol.errors import RpcError
from uwf_agent_acp.protocol.updates import Chunk, ToolUse, Update
from uwf_core.api import AgentContext, AgentRequest, NoSink, RunLimits, permission_form


class ProgramChannel:
    """The streams of `uwf acp`."""

    def __init__(self, command: list[str], cwd: Path, env: Mapping[str, str]) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, cwd=cwd, env=dict(env), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def lines(self) -> Iterator[bytes]:
        assert self.process.stdout is not None
        return iter(self.process.stdout.readline, b"")

    def close(self) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(60)


class Recorder:
    """Keeps the updates, and allows everything once."""

    def __init__(self) -> None:
        self.updates: list[Update] = []
        self.asked: list[PermissionRequest] = []

    def update(self, session: str, update: Update) -> None:
        self.updates.append(update)

    def permission(self, request: PermissionRequest) -> str | None:
        self.asked.append(request)
        return request.option("allow_once")

    def reply(self) -> str:
        """What an adapter takes as the reply: the messages after the last tool call."""
        text = ""
        for each in self.updates:
            if isinstance(each, ToolUse) and each.begins:
                text = ""
            elif isinstance(each, Chunk) and each.kind == "message":
                text += each.text
        return text


def connected(desk: Desk, *options: str, env: Mapping[str, str] | None = None) -> Any:
    channel = ProgramChannel(
        desk.project.command("acp", *options), desk.folder, {**desk.project.env, **(env or {})}
    )
    recorder = Recorder()
    client = AcpClient(channel, recorder)
    client.initialize("test", "1")
    return channel, client, recorder


def test_our_client_runs_a_workflow_and_gets_its_deliverable_as_the_reply(desk: Desk):
    channel, client, recorder = connected(desk, "--workflow", "note")
    session = client.open_session("new", str(desk.folder)).id
    end = client.prompt(session, "A note")
    assert (end.stop_reason, end.usage.input, end.usage.cached_read) == ("end_turn", 50, 7)
    desk.play({**WRITTEN, "question": {"message": "May I?", "form": permission_form("once")}})
    assert client.prompt(session, "Once more").stop_reason == "end_turn"
    assert [each.tool.title for each in recorder.asked] == ["writer: May I?"]
    assert recorder.reply() == '---\n$status: "written"\ntext: "Dear Ada"\n---\n'
    assert channel.close() == 0
    channel, client, recorder = connected(desk)
    loaded = client.open_session("load", str(desk.folder), session)
    assert loaded.mode_ids == ["note"]  # the evidence of a load, as adapters look for it
    assert any(isinstance(each, Chunk) and each.kind == "user" for each in recorder.updates)
    with pytest.raises(RpcError):
        client.open_session("load", str(desk.folder), "0" * 26)
    assert channel.close() == 0


AGENT = """
import json, os, subprocess, sys
uwf = subprocess.Popen(sys.argv[1].split("|"), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def call(method, **params):
    uwf.stdin.write(json.dumps({"id": 1, "method": method, "params": params}).encode() + b"\\n")
    uwf.stdin.flush()
    for line in uwf.stdout:
        message = json.loads(line)
        if message.get("id") == 1 and "method" not in message:
            return message
call("initialize", protocolVersion=1)
session = call("session/new", cwd=os.getcwd(), mcpServers=[])["result"]["sessionId"]
prompt = [{"type": "text", "text": "An inner note"}]
end = call("session/prompt", sessionId=session, prompt=prompt)
uwf.stdin.close()
uwf.wait()
error = end.get("error", {}).get("message", "")
output = {"$status": "written", "text": error or session}
print(json.dumps({"output": output, "usage": {"inputTokens": 1, "outputTokens": 1}}))
if "usage" in end.get("result", {}):
    sys.exit("the inner usage would be counted twice")
"""


def outer(desk: Desk, tmp_path: Path, depth: int) -> Any:
    """Run a workflow whose agent runs another one through `uwf acp`; the thread, as shown."""
    agent = tmp_path / "agent.py"
    agent.write_text(AGENT)
    inner = "|".join(desk.project.command("acp", "--workflow", "note"))
    outer = {"command": sys.executable, "args": [str(agent), inner], "env": ["UWF_HOME"]}
    player = {"use": "mock", "options": {"script": desk.project.env["UWF_MOCK_SCRIPT"]}}
    config = {"agents": {"outer": outer, "player": player}, "defaultAgent": "player"}
    desk.project.config(json.dumps({**config, "limits": {"depth": depth}}))
    done = desk.project.uwf("run", "note", "-p", "Outer", "--agent", "outer")
    assert done.exit_code == 0, done.stderr
    return desk.show(done.document["thread"])


def test_a_thread_of_an_agent_is_called_by_its_step_and_counts_in_its_budget(desk: Desk, tmp_path):
    shown = outer(desk, tmp_path, 3)
    with desk.project.client() as client:
        step = client.step(client.steps(shown["thread"])[1]["step"])
    inner = step["output"]["text"]
    assert call_of(step)["called"] == [inner]
    assert desk.show(inner)["parent"] == shown["thread"]
    assert (desk.show(inner)["depth"], desk.show(inner)["status"]) == (1, "completed")
    assert step["usage"]["inputTokens"] == 1
    assert call_of(step)["usage"]["usage"]["inputTokens"] == 50
    assert shown["usage"]["inputTokens"] == 51


def test_a_thread_of_an_agent_cannot_be_deeper_than_the_limit(desk: Desk, tmp_path):
    shown = outer(desk, tmp_path, 0)
    with desk.project.client() as client:
        step = client.step(client.steps(shown["thread"])[1]["step"])
        assert "`limits.depth` is 0" in step["output"]["text"]
        assert len(client.list()) == 1


def test_a_wrong_id_of_a_session_is_not_another_session(desk: Desk):
    editor = desk.editor("note")
    session = editor.new(desk.folder)
    editor.prompt(session, "A note")
    for wrong in (session.lower(), session[:-1], f"{session} ", f"{session}/1"):
        with pytest.raises(Rejected):
            editor.load(wrong, desk.folder)


def test_uwf_is_an_agent_under_its_own_adapter(desk: Desk, tmp_path: Path) -> None:
    """A workflow plays a role: the session is its thread, and a later call resumes it."""
    command, *words = desk.project.command("acp", "--workflow", "note")
    options = AcpOptions(command=command, arguments=tuple(words))
    agent = ANY.agent(options, AgentContext(name="uwf", state_dir=str(tmp_path / "state")))
    request = AgentRequest(
        thread="T", role="r", step_number=1, cwd=str(desk.folder), env=desk.project.env,
        limits=RunLimits(seconds=60.0, grace_seconds=2.0), trusted=True, prompt="Write to Ada.",
    )  # fmt: skip
    first = agent.run(request, NoSink())
    assert first.session is not None
    assert "Dear Ada" in (first.text or "")
    with desk.project.client() as uwf:
        (thread,) = (row["thread"] for row in uwf.list())
    again = agent.run(request.with_(session=first.session, prompt="And again."), NoSink())
    assert (again.session, again.continuation) == (first.session, "continued")
    with desk.project.client() as uwf:
        assert [row["thread"] for row in uwf.list()] == [thread]
        assert [row["role"] for row in uwf.steps(thread)[1:]] == ["writer", "writer"]
