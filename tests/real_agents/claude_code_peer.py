"""The real Claude Code as the peer of the kit: its model is scripted, its tools are its own.

What the model cannot bring about (an end of the program, a session that is replaced) a shell script
does that stands before the program on the PATH and calls it.
"""

import json
import os
import shlex
from dataclasses import replace
from pathlib import Path

from uwf_agent_claude_code.options import ClaudeCodeOptions
from uwf_core.fields.records import read_record
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn
from uwf_testing.peer import Peer

OLDER, NEWER = "UWF_REAL_CLAUDE_CODE", "UWF_REAL_CLAUDE_CODE_NEWER"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "ANTHROPIC_API_KEY": "sk-test",
}


def error(status, message="the script says so", **more):
    return {"error": {"status": status, "message": message, **more}, "repeat": 9}


def tool(name, **arguments):
    return {"toolCalls": [{"name": name, "arguments": arguments}]}


FAILURES = {
    "auth": [error(401, "invalid x-api-key")],
    "rate_limited": [error(429, "slow down", retryAfter="1")],
    "bad_request": [error(400, "no such thing")],
    "context_too_long": [error(400, "prompt is too long: 200001 tokens > 200000 maximum")],
    "unavailable": [error(529, "Overloaded")],
    "refused": [{"refusal": "I will not.", "repeat": 9}],
    "truncated": [{"text": "half", "stopReason": "max_tokens", "repeat": 9}],
    "max_turns": [{**tool("Bash", command="true"), "repeat": 9}],
    "max_budget": [{**tool("Bash", command="true"), "usage": {"inputTokens": 10**6}, "repeat": 9}],
    "empty": [{"text": "", "repeat": 9}],
}
BEFORE_THE_PROGRAM = {
    "crash": "cat >/dev/null; exit {code}",
    "cut": '{real} "$@" | head -c 20000 | sed \'$d\'; printf \'{{"type": "resu\'',
    "hang_after": '{real} "$@"; exec sleep 600',
    "close_stdin": 'exec 0</dev/null; echo go | {real} "$@"',
    "replaced": 'for word; do shift; new=$word; [ "$word" = --resume ] && new=--session-id; '
    '[ "$last" = --resume ] && new=$(cat /proc/sys/kernel/random/uuid); last=$word; '
    'set -- "$@" "$new"; done; exec {real} "$@"',
}


class ClaudePeer(Peer):
    """The program named by `variable`, and a scripted model for each call."""

    abilities = (
        *("say", "usage", "no_usage", "structured", "write", "say_variable", "deny", "fail"),
        *("missing", "crash", "garbage", "cut", "silence", "hang", "hang_after", "spawn"),
        *("spawn_and_say", "read_stdin", "close_stdin", "lost", "replaced"),
        *("heard", "knows", "offered"),
    )
    lacks = {  # noqa: RUF012
        "question": "without a terminal it asks nobody; it denies",
        "say_answer": "without a terminal it asks nobody",
        "say_bytes": "it prints JSON, in which there are no such bytes",
    }
    kinds = ("auth", "rate_limited", "refused", "max_turns")  # all are among the rows
    always_counted = ("cache_read_tokens", "cache_write_tokens", "cost_usd")

    def __init__(self, folder, variable=OLDER):
        self.real = os.environ[variable]
        self._folder = folder
        self._folder.mkdir(parents=True)
        self._plans = []
        self._config = None
        self.model = ScriptedModel([self._answer] * 2000, side_text="A title").start()

    def prepare(self, act, call):
        number = len(self._plans)
        self._plans.append(self._turns(act, call))
        self._config = Path(call.env["HOME"], ".claude")
        if act.do == "lost":
            for file in self._config.glob(f"projects/*/{call.session or '*'}.jsonl"):
                file.unlink()
        options = ClaudeCodeOptions(
            command=self._command(act, number),
            allowed_tools=("Bash",),
            structured=act.do == "structured",
            max_turns=1 if act.kind == "max_turns" else None,
            budget=0.01 if act.kind == "max_budget" else None,
        )
        url = "http://127.0.0.1:9" if act.do == "dead" else self.model.anthropic_url
        env = {**QUIET, "ANTHROPIC_BASE_URL": f"{url}/{number}", **call.env}
        return replace(call, options=options, env=env)

    def _command(self, act, number):
        if act.do == "missing":
            return "no-such-program"
        script = BEFORE_THE_PROGRAM.get(act.do)
        if script is None:
            return self.real
        file = self._folder / str(number)
        text = script.format(real=shlex.quote(self.real), code=act.code)
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return str(file)

    def _answer(self, request):
        plan = self._plans[int(request.path.split("/")[1])]
        turn = plan[0] if plan[0].get("repeat") else plan.pop(0)
        return self._said(turn, request)

    def _said(self, turn, request):
        if turn.get("resultOfTool"):
            return ModelTurn(text=texts(request.messages[-1])[-1])
        return read_record(ModelTurn, {**turn, "repeat": 1})

    def _turns(self, act, call):
        made = getattr(self, f"_{act.do}", None)
        return made(act, call) if made else [{"text": act.text or "said", "repeat": 9}]

    def _usage(self, act, call):
        used = {"inputTokens": act.usage.input_tokens, "outputTokens": act.usage.output_tokens}
        return [{"text": act.text, "usage": used}]

    def _no_usage(self, act, call):
        return [{"text": act.text, "noUsage": True}]

    def _structured(self, act, call):
        inside = {"_status" if name == "$status" else name: x for name, x in act.structured.items()}
        return [tool("StructuredOutput", output=inside), {"text": "done"}]

    def _write(self, act, call):
        path = str(Path(call.cwd, act.name))
        return [tool("Write", file_path=path, content=act.text), {"text": act.text}]

    def _say_variable(self, act, call):
        command = f'printf %s "${{{act.name}-unset}}"'
        return [tool("Bash", command=command), {"resultOfTool": True}]

    def _deny(self, act, call):
        path = str(self._folder / "outside.txt")
        return [tool("Write", file_path=path, content="x"), {"text": act.text}]

    def _fail(self, act, call):
        return list(FAILURES[act.kind])

    def _garbage(self, act, call):
        return [{"raw": {"body": "<h1>no</h1>", "contentType": "text/html"}, "repeat": 9}]

    def _cut(self, act, call):
        return [{"text": act.text * 9, "repeat": 9}]

    def _silence(self, act, call):
        return [{"text": "", "repeat": 9}]

    def _hang(self, act, call):
        return [{"text": "x", "hang": "start", "repeat": 9}]

    def _spawn(self, act, call):
        return [tool("Bash", command="setsid sleep 600 & sleep 600"), {"text": "never"}]

    def _spawn_and_say(self, act, call):
        command = "setsid sleep 600 >/dev/null 2>&1 & true"
        return [tool("Bash", command=command), {"text": act.text}]

    def heard(self):
        """The texts of the user in each call's last request."""
        last = {request.path.split("/")[1]: request for request in self.model.requests}
        users = [
            [each for each in request.messages if each["role"] == "user"]
            for request in last.values()
            if request.body
        ]
        return ["\n".join(text for each in found for text in texts(each)) for found in users]

    def knows(self, session):
        (file,) = self._config.glob(f"projects/*/{session}.jsonl")
        lines = map(json.loads, file.read_text("utf-8").splitlines())
        return [
            text
            for line in lines
            if line["type"] == "user" and not line.get("isMeta")
            for text in texts(line["message"])
        ]

    def offered(self):
        names = self.model.requests[-1].tool_names
        return [name for name in names if name != "DeferredToolPlaceholder"]

    def close(self):
        self.model.close()


def texts(message):
    """The texts of a message and of the results of tools in it."""
    content = message["content"]
    if isinstance(content, str):
        return [content]
    found = []
    for block in content:
        if block["type"] == "tool_result":
            found += texts(block)
        elif block["type"] == "text":
            found.append(block["text"])
    return found
