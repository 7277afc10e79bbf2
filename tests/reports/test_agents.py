"""What programs of agents do around their reply: before its end mark, after it, instead of it.

Each test plays a public report with a real process in place of the program.
"""

import json
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from uwf_core.testing.project import CommandOutcome, Project

ONE = """
version: 1
name: one
roles:
  writer:
    goal: Write.
    timeout: 12
    frontmatter:
      properties: {$status: {const: done}, text: {type: string}}
      required: [$status, text]
graph:
  $START: {new: {role: writer, prompt: W}, resume: {role: writer, prompt: W}}
  writer: {done: {role: $END, prompt: E}}
"""
REPLY = "---\n$status: done\ntext: forty-two\n---\nThe text."
STAND_IN = """\
#!{python} -S
import json, os, sys, time
kind, acts = {kind!r}, json.loads({acts!r})

def play(**known):
    for act in acts:
        [(word, what)] = act.items()
        if word == "say":
            print(json.dumps(known | what), flush=True)
        elif word == "raw":
            os.write(1, what.encode())
        elif word == "sleep":
            time.sleep(what)
        elif word == "kill":
            os.kill(os.getpid(), what)
        else:
            os._exit(what)  # at once: what ends late after its answer is stopped by uwf

if kind == "claude":
    words = sys.argv[1:]
    if "--version" in words:
        sys.exit(print("2.1.330 (Claude Code)"))
    sys.stdin.read()
    play(session_id=words[words.index("--session-id") + 1])
elif kind == "acp":
    answers = {{
        "initialize": {{"protocolVersion": 1, "agentCapabilities": {{"sessionCapabilities": CAN}}}},
        "session/new": {{"sessionId": "s1"}},
    }}
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("method") == "session/prompt":
            play(jsonrpc="2.0")
        elif message.get("method") == "session/close":
            time.sleep(60)
        elif "id" in message:
            answer = {{"id": IDS(message["id"]), "result": answers[message["method"]]}}
            print(json.dumps(answer | MORE), flush=True)
else:
    play()
"""
CLAUDE = "anthropics/claude-code"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.workflow("one", ONE)
    assert made.uwf("config", "trust", str(made.folder)).exit_code == 0
    return made


def program(project: Project, kind: str, acts: list[Any], **more: str) -> Path:
    text = STAND_IN.format(python=sys.executable, kind=kind, acts=json.dumps(acts))
    for name, value in {"CAN": "{}", "IDS": "int", "MORE": "{}", **more}.items():
        text = text.replace(name, value)
    file = project.home.parent / "claude"
    file.write_text(text)
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return file


def ran(project: Project, kind: str, acts: list[Any], **more: str) -> CommandOutcome:
    """A run of the workflow with a program that does `acts`."""
    file = str(program(project, kind, acts, **more))
    uses = {"claude": "claude-code", "acp": "acp"}
    agent = {"use": uses[kind], "options": {"command": file}} if kind in uses else {"command": file}
    project.config(f"agents: {{mine: {json.dumps(agent)}}}\nlimits: {{graceSeconds: 0.5}}\n")
    return project.uwf("run", "one", "-p", "go", "--agent", "mine", seconds=60)


def step_of(project: Project) -> Any:
    return project.uwf("step", "show", "@last").document


def init(session: str | None = None) -> Any:
    named = {} if session is None else {"session_id": session}
    return {"say": {"type": "system", "subtype": "init", "tools": ["Read"], **named}}


def message(text: str, tool: str | None = None, name: str = "m1") -> Any:
    content: list[Any] = [{"type": "text", "text": text}]
    if tool is not None:
        content.append({"type": "tool_use", "id": "t1", "name": tool, "input": {}})
    return {"say": {"type": "assistant", "message": {"id": name, "content": content}}}


def result(text: str | None = REPLY, **more: Any) -> Any:
    said = {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1}
    return {"say": {**said, **({} if text is None else {"result": text}), **more}}


def update(**fields: Any) -> Any:
    return {"say": {"method": "session/update", "params": {"sessionId": "s1", "update": fields}}}


def chunk(text: str) -> Any:
    return update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def tool(**more: Any) -> Any:
    return update(
        sessionUpdate="tool_call", toolCallId="t", title="todo", status="completed", **more
    )


def end(reason: str = "end_turn", id_: Any = 3, **more: Any) -> Any:
    return {"say": {"id": id_, "result": {"stopReason": reason}, **more}}


SPURIOUS = {"subtype": "error_during_execution", "is_error": True, "num_turns": 0}
OUTPUT = {"say": {"output": REPLY}}


@pytest.mark.parametrize(
    ("kind", "acts", "words"),
    [
        pytest.param("claude", [init(), result(), result(None, **SPURIOUS)],
                     "error_during_execution", id=f"{CLAUDE} #16768: a second result"),
        pytest.param("claude", [init(), result(), init("another")], None,
                     id=f"{CLAUDE} #16768: a late init of another session"),
        pytest.param("claude", [init(), result(), message("The build is over.", name="m2"),
                                result("The build is over.")], None,
                     id=f"{CLAUDE} #16768: a background task wakes it up"),
        pytest.param("claude", [init(), result(), {"sleep": 60}], "did not end",
                     id=f"{CLAUDE} #16768: it stays"),
        pytest.param("claude", [init(), result(), {"exit": 1}], "exit code 1",
                     id=f"{CLAUDE} #16768: exit code 1"),
        pytest.param("claude", [init(), result(), {"kill": 11}], "SIGSEGV",
                     id=f"{CLAUDE} #16768: a signal"),
        pytest.param("claude", [init(), message(REPLY, "TodoWrite"), result("")], None,
                     id=f"{CLAUDE} #7124, #8126: the last turn is only a tool"),
        pytest.param("claude", [init(), message(REPLY), result(""), {"exit": 1}], "exit code 1",
                     id=f"{CLAUDE} #7124, #8126: and it fails at its end"),
        pytest.param("acp", [chunk(REPLY), end(), {"exit": 1}], "exit code 1",
                     id="acp: exit code 1 after the answer"),
        pytest.param("acp", [chunk(REPLY), end(), {"kill": 9}], "SIGKILL",
                     id="acp: killed after the answer"),
        pytest.param("acp", [chunk(REPLY), end(), {"sleep": 60}], None,
                     id="acp: it hangs after the answer"),
        pytest.param("command", [OUTPUT, {"exit": 4}], "exit code 4", id="command: exit code"),
        pytest.param("command", [OUTPUT, {"kill": 15}], "SIGTERM", id="command: a signal"),
        pytest.param("command", [OUTPUT, {"sleep": 60}], "did not finish", id="command: it stays"),
    ],
)  # fmt: skip
def test_a_reply_that_was_received_is_kept_whatever_its_program_does_then(
    project: Project, kind: str, acts: list[Any], words: str | None
) -> None:
    done = ran(project, kind, acts)
    assert done.document["status"] == "completed", done
    step = step_of(project)
    assert step["output"]["text"] == "forty-two"
    notices = [each for each in step["notices"] or () if each.startswith("agent-ended-badly: ")]
    assert len(notices) == (words is not None)
    if words is not None:
        assert words in notices[0]
        assert notices[0] in done.stderr


@pytest.mark.parametrize(
    ("kind", "acts"),
    [
        ("claude", [init(), message(REPLY), {"exit": 0}]),
        ("claude", [init(), message(REPLY), {"sleep": 60}]),
        ("claude", [init(), message(REPLY), result(REPLY, is_error=True)]),
        ("claude", [init(), {"raw": json.dumps(result()["say"])[:-1]}]),
        ("acp", [chunk(REPLY), {"exit": 0}]),
        ("acp", [chunk(REPLY), end("max_tokens")]),
        ("acp", [chunk(REPLY), {"sleep": 60}]),
        ("command", [{"raw": json.dumps(OUTPUT["say"])[:-1]}]),
        ("command", [OUTPUT, {"raw": "done\n"}, {"exit": 1}]),
        ("command", [{"say": {"sessionId": "s"}}, {"exit": 1}]),
    ],
)
def test_what_looks_like_a_reply_is_none_before_its_end_is_marked(
    project: Project, kind: str, acts: list[Any]
) -> None:
    """borders.md 1.1 and 1.3; kind: agents."""
    done = ran(project, kind, acts).document
    assert done["status"] == "suspended"
    [step] = done["steps"]
    assert step["failure"] is not None and not step["notices"]


@pytest.mark.parametrize(
    "acts",
    [
        [end(), chunk(REPLY)],
        [chunk(REPLY[:20]), end(), *map(chunk, REPLY[20:])],
        [chunk(REPLY[:20]), end(), {"sleep": 0.1}, chunk(REPLY[20:40]), {"sleep": 0.1},
         chunk(REPLY[40:])],
        [end(), tool(), chunk(REPLY)],
        [chunk(REPLY), end(), tool()],
        [chunk(REPLY), tool(), end()],
        [chunk("Let me see."), tool(), chunk(REPLY), tool(), end()],
        [chunk(REPLY), end(), end("refusal")],
    ],
    ids=lambda acts: " ".join(next(iter(act)) for act in acts)[:40],
)  # fmt: skip
def test_what_an_agent_says_around_its_answer_belongs_to_it(
    project: Project, acts: list[Any]
) -> None:
    """anomalyco/opencode #17505, logancyang/obsidian-copilot #2561,
    PrimeIntellect-ai/verifiers #2262; kind: agents.
    """
    done = ran(project, "acp", acts)
    assert done.document["status"] == "completed", done
    assert step_of(project)["output"]["text"] == "forty-two"


@pytest.mark.parametrize(
    "endless", [[chunk("x"), {"sleep": 0.02}] * 3000, [{"raw": "{"}, {"sleep": 60}]]
)
def test_an_agent_that_does_not_get_quiet_ends_in_time(project: Project, endless: Any) -> None:
    began = time.monotonic()
    done = ran(project, "acp", [chunk(REPLY), end(), *endless])
    assert done.document["status"] == "completed", done
    assert time.monotonic() - began < 11


def test_a_session_that_is_not_closed_costs_no_reply(project: Project) -> None:
    done = ran(project, "acp", [chunk(REPLY), end()], CAN='{"close": {}}')
    assert done.document["status"] == "completed", done
    assert "did not close" in step_of(project)["notices"][0]


@pytest.mark.parametrize("ids", ["int", "str", "float"])
@pytest.mark.parametrize("more", ["{}", '{"error": None, "method": None, "params": None}'])
def test_ids_and_unused_fields_may_come_back_in_other_forms(
    project: Project, ids: str, more: str
) -> None:
    """gensecaihq/Wazuh-MCP-Server #59; kind: JSON-RPC."""
    name = {"int": 3, "str": "3", "float": 3.0}[ids]
    chunked = {"say": {**chunk(REPLY)["say"], "id": None}}
    done = ran(project, "acp", [chunked, end(id_=name, error=None)], IDS=ids, MORE=more)
    assert done.document["status"] == "completed", done
