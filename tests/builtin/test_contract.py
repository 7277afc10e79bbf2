"""The contract of every agent, kept by the builtin one."""

import json
from dataclasses import replace
from typing import ClassVar

import pytest
from builtin_kit import model_at

from uwf_core.fields.records import read_record
from uwf_testing.agent_contract import AgentContract
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelTurn
from uwf_testing.peer import Peer

FAILURES = {
    "auth": {"error": {"status": 401, "message": "wrong key"}},
    "rate_limited": {"error": {"status": 429, "message": "slow down", "retryAfter": "120"}},
    "bad_request": {"error": {"status": 400, "message": "no"}},
    "context_too_long": {"error": {"status": 400, "message": "maximum context length is 8"}},
    "refused": {"refusal": "I will not."},
    "unavailable": {"error": {"status": 503, "message": "overloaded"}},
    "truncated": {"text": "x" * 500, "drop": "middle"},
    "empty": {"text": ""},
}
OF_PROGRAMS = "the model is a service, no program"


class ModelPeer(Peer):
    """A scripted model for each call."""

    abilities = (
        *("say", "usage", "no_usage", "structured", "write", "say_variable", "deny", "fail"),
        *("missing", "garbage", "cut", "silence", "hang", "spawn", "spawn_and_say"),
        *("heard", "knows", "offered"),
    )
    lacks: ClassVar = {
        "question": "it asks a person by the suspend form, which is an output",
        "say_answer": "it asks a person by the suspend form, which is an output",
        "crash": OF_PROGRAMS,
        "read_stdin": OF_PROGRAMS,
        "close_stdin": OF_PROGRAMS,
        "say_bytes": "the service speaks JSON, in which there are no such bytes",
        "hang_after": "a stream that has ended well is the whole answer",
        "lost": "sessions are files of the agent's own; tests/builtin/test_sessions.py loses them",
        "replaced": "sessions are files of the agent's own",
    }
    kinds = tuple(FAILURES)

    def __init__(self, root):
        self._root = root
        self._plans = {}
        self._model = ScriptedModel([self._answer] * 1000).start()

    def prepare(self, act, call):
        name = f"call-{len(self._plans)}"
        self._plans[name] = self._turns(act)
        url = "http://127.0.0.1:9/v1" if act.do == "missing" else self._model.openai_url
        changes = {"model": replace(model_at(url), name=name)}
        if act.do != "structured" and hasattr(call, "schema"):
            changes["schema"] = {}  # the kit's texts have no frontmatter
        return replace(call, **changes)

    def _answer(self, request):
        turn = self._plans[request.body["model"]].pop(0)
        return turn(request) if callable(turn) else read_record(ModelTurn, turn)

    def heard(self):
        """The last text of the user in each call's last request."""
        last = {each.body["model"]: each for each in self._model.requests}
        return [
            [message["content"] for message in each.messages if message["role"] == "user"][-1]
            for each in last.values()
        ]

    def knows(self, session):
        (file,) = self._root.rglob(f"{session}.jsonl")
        lines = map(json.loads, file.read_text().splitlines())
        return [line["text"] for line in lines if line.get("role") == "user"]

    def offered(self):
        return self._model.requests[-1].tool_names

    def close(self):
        self._model.close()

    def _turns(self, act):
        made = getattr(self, f"_{act.do}", None)
        return made(act) if made else [{"text": act.text}] * 4

    def _usage(self, act):
        """As a service tells it that knows nothing of caches."""
        usage = {
            "prompt_tokens": act.usage.input_tokens,
            "completion_tokens": act.usage.output_tokens,
        }
        usage = {name: count for name, count in usage.items() if count is not None}
        message = {"role": "assistant", "content": act.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return [{"raw": {"body": json.dumps({"choices": [choice], "usage": usage})}}]

    def _no_usage(self, act):
        return [{"text": act.text, "noUsage": True}]

    def _structured(self, act):
        return [{"toolCalls": [{"name": "resolve", "arguments": dict(act.structured)}]}] * 6

    def _write(self, act):
        arguments = {"path": act.name, "content": act.text}
        call = {"name": "write_file", "arguments": arguments}
        return [{"toolCalls": [call]}, {"text": act.text}]

    def _say_variable(self, act):
        command = f'printf %s "${{{act.name}-unset}}"'

        def answer(request):
            return ModelTurn(text=request.messages[-1]["content"])

        return [{"toolCalls": [{"name": "run_command", "arguments": {"command": command}}]}, answer]

    def _deny(self, act):
        call = {"name": "fetch_url", "arguments": {"url": "http://example.com/"}}
        return [{"toolCalls": [call]}, {"text": act.text}]

    def _fail(self, act):
        return [FAILURES[act.kind]] * 8

    def _garbage(self, act):
        return [{"raw": {"body": "<html>no JSON</html>", "contentType": "text/html"}}] * 8

    def _cut(self, act):
        return [{"text": act.text or "x" * 500, "drop": "quiet"}] * 8

    def _silence(self, act):
        return [{"text": ""}] * 8

    def _hang(self, act):
        return [{"text": "x", "hang": "start"}]

    def _spawn(self, act):
        command = "setsid sleep 600 & sleep 600"
        return [{"toolCalls": [{"name": "run_command", "arguments": {"command": command}}]}]

    def _spawn_and_say(self, act):
        command = "setsid sleep 600 & true"
        return [
            {"toolCalls": [{"name": "run_command", "arguments": {"command": command}}]},
            {"text": act.text},
        ]


class TestBuiltin(AgentContract):
    @pytest.fixture
    def agent(self):
        return "builtin"

    @pytest.fixture
    def options(self):
        return {"allowShell": "workspace", "fetch": False, "maxAttempts": 1}

    @pytest.fixture
    def peer(self, tmp_path):
        return ModelPeer(tmp_path)
