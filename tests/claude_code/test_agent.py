"""The agent with a stand-in for the program: older versions, and an end that never comes."""

import time

import pytest

from uwf_agent_claude_code import agent as agent_module
from uwf_agent_claude_code.agent import ClaudeCodeAgent
from uwf_agent_claude_code.checks import checks
from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_core.api import (
    AgentContext,
    AgentRequest,
    CheckRequest,
    FailureKind,
    RunLimits,
    Stalled,
    Unavailable,
)
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
    assert (caught.value.hint or "").startswith("npm install -g @anthropic-ai/claude-code, or ")


PLACEHOLDER = """\
echo "Error: claude native binary not installed." >&2
echo "" >&2
echo "Either postinstall did not run (--ignore-scripts, some pnpm configs)" >&2
exit 1
"""
"""What npm leaves of 2.1.330 where install scripts do not run: no first line `#!`."""


def asked(place, command):
    """What `uwf agent check` asks about this program."""
    return CheckRequest(
        name="claude-code", thread="t", role="r", step_number=1, cwd=str(place),
        limits=RunLimits(seconds=5), env={"PATH": "/usr/bin:/bin"},
        options=ClaudeCodeOptions(command=command), state_dir=str(place / "state"),
    )  # fmt: skip


def test_a_package_without_its_install_script_is_told_how_to_finish(run, tmp_path):
    package = tmp_path / "claude-code"
    (package / "bin").mkdir(parents=True)
    (package / "bin" / "claude.exe").write_text(PLACEHOLDER)
    (package / "bin" / "claude.exe").chmod(0o755)
    (package / "install.cjs").write_text("")
    (tmp_path / "on-path").symlink_to(package / "bin" / "claude.exe")
    command = str(tmp_path / "on-path")
    with pytest.raises(Unavailable, match="install script of Claude Code did not run") as caught:
        run(options={"command": command})
    hint = caught.value.hint or ""
    assert hint.startswith(f"node {package}/install.cjs, or npm install -g ")
    assert "--ignore-scripts=false" in hint
    assert "#!" not in hint
    (check,) = checks(asked(tmp_path, command))
    found = check.run()
    assert (found.state, found.hint) == ("error", hint)


def test_a_script_that_only_mentions_the_install_script_is_started(run, tmp_path):
    program = tmp_path / "wrapper"
    program.write_text('#!/bin/sh\n# claude: postinstall did not run\nexec ./claude "$@"\n')
    program.chmod(0o755)
    assert run(options={"command": str(program)}).text == "said"
    first, *others = checks(asked(tmp_path, str(program)))
    assert (first.run().state, len(others)) == ("ok", 4)
