"""An agent in POSIX sh, without a library: any language can speak the command protocol."""

import json
from pathlib import Path

import pytest
from tests.step_parts import session_of

from uwf_core.testing.project import Project

AGENT = r"""#!/bin/sh
# The writer writes; the reader rejects what has no exclamation mark. Sessions are files.
mode=run; session=
while [ $# -gt 0 ]; do
  case $1 in
    --role) role=$2 ;; --prompt) prompt=$2 ;; --mode) mode=$2 ;; --session) session=$2 ;;
  esac
  shift 2
done
memory=${0%/*}/memory; mkdir -p "$memory"
grep -q '"protocol": 1' "$UWF_REQUEST" || exit 9
case $mode in
  fork) at=$(sed -n 's/^ "at": "\([0-9]*\)".*/\1/p' "$UWF_REQUEST")
        head -n "$at" "$memory/$session" > "$memory/$session-fork"
        printf '{"sessionId": "%s-fork"}\n' "$session"; exit ;;
  ask) printf '{"output": "%s visits", "sessionId": "%s", "continuation": "continued"}\n' \
         "$(grep -c . "$memory/$session")" "$session"; exit ;;
esac
: "${session:=$role-$$}"
echo "$prompt" | tr '\n' ' ' >> "$memory/$session"; echo >> "$memory/$session"
visits=$(grep -c . "$memory/$session")
printf '{"session": "%s"}\n' "$session" >> "$UWF_EVENTS"
printf '{"turn": {"text": "visit %s, asked: %s"}}\n' "$visits" "$prompt" >> "$UWF_EVENTS"
case $role in
  writer) [ "$visits" = 1 ] && text=hello || text='hello!'
          output="---\\n\$status: done\\ntext: \\\"$text\\\"\\n---\\nWritten.\\n" ;;
  reader) case $prompt in
            *!) output='---\n$status: approved\n---\n' ;;
            *)  output='---\n$status: rejected\ncomments: no mark\n---\n' ;;
          esac ;;
esac
echo "some noise that is no JSON"
printf '%s\n' "{\"output\": \"$output\", \"sessionId\": \"$session\", \"mark\": \"$visits\",
 \"usage\": {\"turns\": 1}}" | tr -d '\n'
"""


@pytest.fixture
def shell(pair: Project) -> Project:
    """The project with the agent, declared as `shell` with all that it can do."""
    script = pair.folder / "tools" / "agent.sh"
    script.parent.mkdir()
    script.write_text(AGENT)
    script.chmod(0o755)
    capabilities = "[continue, fork, ask, stream]"
    pair.config(f"agents: {{shell: {{command: {script}, capabilities: {capabilities}}}}}\n")
    return pair


def test_a_shell_script_plays_a_workflow_and_each_role_goes_on_in_its_own_session(shell: Project):
    done = shell.uwf("run", "pair", "-p", "Say hello", "--agent", "shell")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done.stderr
    steps = [shell.uwf("step", "show", each["step"]).document for each in done.document["steps"]]
    assert [(each["role"], each["status"], session_of(each)["continuation"]) for each in steps] == [
        ("writer", "done", "new"),
        ("reader", "rejected", "new"),
        ("writer", "done", "continued"),
        ("reader", "approved", "continued"),
    ]
    assert (
        session_of(steps[0])["id"]
        == session_of(steps[2])["id"]
        != session_of(steps[1])["id"]
        == session_of(steps[3])["id"]
    )
    assert steps[2]["proof"]
    assert steps[2]["turns"][0]["text"] == "visit 2, asked: Change this: no mark"
    assert steps[2]["usage"]["turns"] == 1
    assert steps[2]["usage"]["inputTokens"] is None, "unknown, and not nothing"

    asked = shell.uwf("step", "ask", steps[0]["step"], "-p", "How often?").document
    assert (asked["answer"], asked["continuation"]) == ("1 visits", "original")
    assert asked["session"] == session_of(steps[0])["id"] + "-fork"


def test_a_script_needs_no_configuration_and_is_only_asked_for_what_it_declares(shell: Project):
    """By its path it declares nothing, so each visit is a fresh session with the whole story."""
    shell.config("")
    started = shell.uwf("thread", "start", "pair", "-p", "Say hello", "--agent", "./tools/agent.sh")
    done = shell.uwf("thread", "exec", started.document["thread"], "-c", "3")
    steps = [shell.uwf("step", "show", each["step"]).document for each in done.document["steps"]]
    assert [session_of(each)["continuation"] for each in steps] == ["new"] * 3
    assert len({session_of(each)["id"] for each in steps}) == 3
    prompt = shell.uwf("step", "read", steps[2]["step"], "--prompt").stdout
    assert "## Step 1: writer, done" in prompt


SLOW = r"""#!/bin/sh
printf '{"turn": {"text": "first"}}\n' >> "$UWF_EVENTS"
until [ -e go ]; do sleep 0.05; done
printf '{"turn": {"text": "second"}}\n' >> "$UWF_EVENTS"
printf '%s\n' '{"output": {"$status": "done", "text": "x"}}'
"""


def test_the_turns_of_a_run_in_the_background_can_be_followed_as_they_come(shell: Project):
    """As JSON Lines, which end when the step ends; `wait` then gives the run's own document."""
    Path(shell.folder, "tools", "agent.sh").write_text(SLOW)
    shell.uwf("thread", "start", "pair", "-p", "x", "--agent", "shell")
    begun = shell.uwf("thread", "exec", "@last", "--background")
    assert (begun.exit_code, begun.document["status"]) == (0, "running")
    live = shell.start_uwf("step", "turns", "@last", "--live", "--format", "json")
    assert live.stdout is not None
    assert json.loads(live.stdout.readline())["text"] == "first"
    assert live.poll() is None
    Path(shell.folder, "go").touch()
    rest, said = live.communicate(timeout=60)
    assert (live.returncode, said) == (0, "")
    assert [json.loads(line)["text"] for line in rest.splitlines()] == ["second"]
    waited = shell.uwf("thread", "wait", "@last", "--timeout", "60")
    assert (waited.exit_code, len(waited.document["steps"])) == (0, 1)


def test_what_a_script_was_handed_is_gone_afterwards(shell: Project):
    shell.uwf("run", "pair", "-p", "Say hello", "--agent", "shell")
    left = [path for path in shell.home.rglob("*") if path.name in ("request.json", "events.jsonl")]
    assert left == []


def test_a_reply_that_is_no_json_is_the_scripts_fault_and_exec_goes_on_when_it_is_repaired(
    shell: Project,
):
    script = Path(shell.folder, "tools", "agent.sh")
    script.write_text("#!/bin/sh\necho hello\n")
    broken = shell.uwf("run", "pair", "-p", "Say hello", "--agent", "shell")
    assert broken.exit_code == 6
    failure = broken.document["steps"][-1]["failure"]
    assert failure["kind"] == "crashed"
    assert "hello" in failure["message"]
    assert broken.document["status"] == "suspended"
    script.write_text(AGENT)
    assert shell.uwf("thread", "exec", "@last", "--until-done").document["status"] == "completed"
    first = shell.uwf("step", "list", "@last").document["steps"][1]
    assert (first["role"], first["attempts"]) == ("writer", 2)
    assert len(json.loads(shell.uwf("step", "show", first["step"]).stdout)["previousAttempts"]) == 1
