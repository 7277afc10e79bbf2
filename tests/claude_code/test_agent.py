"""The agent with a stand-in for the program: older versions, and an end that never comes."""

import time

import pytest

from uwf_agent_claude_code import agent as agent_module
from uwf_agent_claude_code.agent import ClaudeCodeAgent
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_core.api import AgentContext, AgentRequest, FailureKind, RunLimits, Stalled, Unavailable
from uwf_testing.harness import RecordingSink

LIMITS = RunLimits(grace_seconds=0.5)
STAND_IN = """\
#!/bin/sh
for word; do
  [ "$last" = --session-id ] && session=$word
  [ "$word" = --json-schema ] && [ -n "$TOO_OLD" ] && {
    echo "error: unknown option '--json-schema'" >&2; exit 1; }
  last=$word
done
cat > "$HOME/stdin"
printf '{"type":"system","subtype":"init","session_id":"%s","tools":["Read"]}\\n' $session
[ -n "$SILENT" ] && exec sleep 60
printf '{"type":"result","subtype":"success","is_error":false,"session_id":"%s",' $session
printf '"result":"said"}\\n'
[ -n "$STAYS" ] && exec sleep 60
exit 0
"""


@pytest.fixture
def run(tmp_path):
    program = tmp_path / "claude"
    program.write_text(STAND_IN)
    program.chmod(0o755)

    def call(prompt="do it", limits=LIMITS, told=None, options=None, **env):
        context = AgentContext(name="it", state_dir=str(tmp_path / "state"))
        options = {"command": str(program), **(options or {})}
        request = AgentRequest(
            thread="t",
            role="r",
            step_number=1,
            cwd=str(tmp_path),
            prompt=prompt,
            limits=limits,
            schema={"properties": {"$status": {"const": "done"}}},
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **env},
        )
        agent = ClaudeCodeAgent(ClaudeCodeOptions(**options), context)
        return agent.run(request, told or RecordingSink())

    return call


def test_a_version_without_schemas_is_read_as_text_and_says_so(run):
    told = RecordingSink()
    reply = run(told=told, options={"structured": True}, TOO_OLD="1")
    assert (reply.text, reply.structured) == ("said", None)
    assert any("takes no schema" in turn.text for turn in told.turns)


def test_what_has_said_its_result_is_not_waited_for(run, monkeypatch):
    monkeypatch.setattr(agent_module, "_AFTER_RESULT_SECONDS", 0.2)
    started = time.monotonic()
    assert run(STAYS="1").text == "said"
    assert time.monotonic() - started < 30


def test_silence_is_a_stall_and_the_session_is_kept(run):
    told = RecordingSink()
    with pytest.raises(Stalled) as caught:
        run(told=told, limits=RunLimits(idle_seconds=5, grace_seconds=0.3), SILENT="1")
    assert caught.value.session == told.sessions[0]


@pytest.mark.parametrize("prompt", ["/compact now", "- a list\n", "ä \U0001f680" * 40_000])
def test_no_prompt_is_a_command_or_an_argument_of_the_program(run, tmp_path, prompt):
    run(prompt)
    heard = (tmp_path / "stdin").read_bytes().decode()
    assert heard == ("\n" + prompt if prompt.startswith("/") else prompt)


def test_a_missing_program_is_unavailable(run):
    with pytest.raises(Unavailable) as caught:
        run(options={"command": "no-such-claude"})
    assert caught.value.kind is FailureKind.UNAVAILABLE
    assert "no-such-claude" in caught.value.message
