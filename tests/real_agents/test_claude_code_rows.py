"""Each way in which the real program ends, as the adapter tells it; and nothing is left of it."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
from claude_code_peer import OLDER, QUIET
from claude_code_rows import ROWS, SLEEP, Row

from uwf_agent_claude_code.agent import ClaudeCodeAgent
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_core.api import AgentContext, AgentFailure, AgentRequest, RunLimits
from uwf_core.process.leftovers import ATTEMPT_VARIABLE, end_leftovers, leftovers
from uwf_testing.harness import RecordingSink
from uwf_testing.model_server import ScriptedModel

OF_THE_COMMAND_LINE = {"used_session_id", "root"}
MORE = {
    "kill_during_a_tool": Row("crashed", SLEEP, send="SIGKILL", when="tool"),
    "bypass_as_root": Row("unavailable", options={"permission_mode": "bypassPermissions"}),
    "command_of_its_own": Row(None, ("said",)),
}
SCHEMA = {"properties": {"$status": {"const": "done"}}, "required": ["$status"]}
GONE_SECONDS = 30.0


class Desk:
    """One run of the adapter with the real program."""

    def __init__(self, root: Path, row: Row) -> None:
        self.root, self.row, self.told = root, row, RecordingSink()
        self.marker = f"rows-{root.name}-{os.getpid()}"
        for name in ("home", "work", "tmp"):
            (root / name).mkdir()

    def kind(self, prompt="do it"):
        row = self.row
        session = row.arguments[1] if "--resume" in row.arguments else None
        options = ClaudeCodeOptions(
            **{"command": os.environ[OLDER], "allowed_tools": ("Bash",), **row.options},
            extra_arguments=() if session else row.arguments,
        )
        context = AgentContext(name="it", state_dir=str(self.root / "state"))
        with ScriptedModel(row.turns, side_text="A title") as self.model:
            env = {
                "PATH": os.defpath,
                "HOME": str(self.root / "home"),
                "TMPDIR": str(self.root / "tmp"),
                "ANTHROPIC_BASE_URL": self.model.anthropic_url,
                ATTEMPT_VARIABLE: self.marker,
                **QUIET,
                **row.env,
            }
            request = AgentRequest(
                thread="t",
                role="r",
                step_number=1,
                cwd=str(self.root / "work"),
                env={name: value for name, value in env.items() if value},
                limits=RunLimits(seconds=60.0, grace_seconds=1.0),
                prompt=prompt,
                session=session,
                schema=SCHEMA,
                on_process=self._send,
            )
            try:
                self.reply = ClaudeCodeAgent(options, context).run(request, self.told)
            except AgentFailure as failure:
                assert failure.message.strip()
                return failure.kind.word
        return None

    def _send(self, identity):
        if self.row.send is not None:
            threading.Thread(target=self._send_later, args=(identity.pid,), daemon=True).start()

    def _send_later(self, pid):
        if self.row.when == "tool":
            while not (self.root / "work" / "begun").exists():
                time.sleep(0.05)
        else:
            while not any(request.dialect for request in self.model.requests):
                time.sleep(0.05)
        time.sleep(0.3)
        os.kill(pid, getattr(signal, self.row.send))

    def processes_left(self):
        deadline = time.monotonic() + GONE_SECONDS
        while leftovers(self.marker) and time.monotonic() < deadline:
            time.sleep(0.02)
        return end_leftovers(self.marker, grace_seconds=0.0)


@pytest.mark.parametrize("name", sorted({*ROWS, *MORE} - OF_THE_COMMAND_LINE))
def test_each_ending_is_told_as_what_it_is_and_leaves_nothing(name, tmp_path, monkeypatch):
    row = {**ROWS, **MORE}[name]
    if name == "bypass_as_root":
        monkeypatch.setattr("os.geteuid", lambda: 0)
    desk = Desk(tmp_path, row)
    prompt = "/context" if name == "command_of_its_own" else "do it"
    assert desk.kind(prompt) == row.kind
    assert desk.processes_left() == 0
    assert list((tmp_path / "tmp").iterdir()) == []
    assert [each for each in (tmp_path / "state").glob("t/*") if each.is_dir()] == []
    if name not in ("unknown_session", "bypass_as_root"):
        assert len(desk.told.sessions) == 1, "the session is known before it runs"
    if name == "command_of_its_own":
        assert desk.model.requests[-1].dialect == "anthropic", "a prompt is never a command of it"
        assert desk.reply.text == "said"
