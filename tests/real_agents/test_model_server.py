"""uwf's model protocols beside a server that is not ours: aimock, which speaks all four."""

import json
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from acp_world import node_folder
from note_workflow import NOTE

from uwf_core.api import AgentFailure
from uwf_core.api.models import Model
from uwf_core.testing.project import Project
from uwf_llm.chat import ChatRequest, ChatTool, Message
from uwf_llm.client import ChatClient
from uwf_llm.limits import RetryPolicy

pytestmark = pytest.mark.timeout(120)

KEY = "sk-of-the-tests"
PATHS = {
    "openai-chat": ("/v1", "gpt-5"),
    "openai-responses": ("/v1", "gpt-5"),
    "anthropic": ("", "claude-sonnet-4-5"),
    "gemini": ("/v1beta", "gemini-2.5-pro"),
}
"""The path of each protocol, and a model that its service would have."""
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
CALLS = [
    {"name": "read_file", "arguments": json.dumps({"path": "ä.txt"}), "id": "call_a"},
    {"name": "grep", "arguments": json.dumps({"pattern": "x" * 60}), "id": "call_b"},
]
FAILURES = {401: "auth", 429: "rate_limited", 500: "unavailable"}
OUTPUT = "---\n$status: written\ntext: for Ada\n---\nIt is a note.\n"
FIXTURES = [
    {"match": {"toolCallId": "call_b"}, "response": {"content": "Both are read."}},
    {"match": {"toolCallId": "call_role"}, "response": {"content": OUTPUT}},
    {
        "match": {"userMessage": "Look at both."},
        "response": {
            "content": "I look. " * 9,
            "reasoning": "First the files. " * 9,
            "toolCalls": CALLS,
            "usage": {"input_tokens": 20, "output_tokens": 7},
        },
    },
    {
        "match": {"userMessage": "Write a note."},
        "response": {"toolCalls": [{**CALLS[0], "id": "call_role"}]},
    },
    {"match": {"userMessage": "Answer by the schema."}, "response": {"content": '{"a": "b"}'}},
    {"match": {"userMessage": "Be cut."}, "response": {"content": "Ha", "finishReason": "length"}},
    *(
        {
            "match": {"userMessage": f"Fail with {status}."},
            "response": {"error": {"message": "as told", "type": "x"}, "status": status},
        }
        for status in FAILURES
    ),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """Of a server with the fixtures, which rejects every request that none of them matches."""
    if "UWF_REAL_AIMOCK" not in os.environ:
        pytest.skip("UWF_REAL_AIMOCK names no program")
    file = tmp_path_factory.mktemp("aimock") / "fixtures.json"
    file.write_text(json.dumps({"fixtures": FIXTURES}))
    program = [str(Path(node_folder(), "node")), os.environ["UWF_REAL_AIMOCK"]]
    words = ["--port", "0", "--fixtures", str(file), "--strict", "--validate-on-load"]
    pipe = subprocess.PIPE
    with subprocess.Popen([*program, *words], stdout=pipe, text=True) as server:
        assert server.stdout is not None
        lines = iter(server.stdout.readline, "")
        yield next(found[0] for line in lines if (found := re.search(r"http://\S+", line)))
        server.terminate()


class Talk(NamedTuple):
    """A client of a protocol; `streams`: its replies come in pieces."""

    client: ChatClient
    streams: bool

    def __call__(self, *messages, **fields):
        heard = []
        told = [
            Message(role="user", text=each) if isinstance(each, str) else each for each in messages
        ]
        request = ChatRequest(messages=tuple(told), **fields)
        reply = self.client.chat(request, on_delta=heard.append if self.streams else None)
        assert bool(heard) == self.streams
        return reply


@pytest.fixture(params=list(PATHS))
def protocol(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["streamed", "whole"])
def talk(request, address, protocol):
    path, name = PATHS[protocol]
    model = Model(
        alias="m",
        name=name,
        provider="p",
        base_url=f"{address}{path}",
        api_key=KEY,
        protocol=protocol,
    )
    with ChatClient(model, retry=RetryPolicy(attempts=1)) as client:
        yield Talk(client, request.param)


def test_calls_and_reasoning_arrive_and_their_results_go_back(talk):
    tools = tuple(
        ChatTool(name=each["name"], description="x", parameters={"type": "object"})
        for each in CALLS
    )
    reply = talk("Look at both.", tools=tools)
    assert (reply.text, reply.reasoning) == ("I look. " * 9, "First the files. " * 9)
    assert [(call.id, call.name) for call in reply.tool_calls] == [
        (each["id"], each["name"]) for each in CALLS
    ]
    assert [json.loads(call.arguments) for call in reply.tool_calls] == [
        json.loads(each["arguments"]) for each in CALLS
    ]
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (20, 7)
    results = [
        Message(role="tool", text="its result", tool_call_id=call.id) for call in reply.tool_calls
    ]
    first = Message(role="user", text="Look at both.")
    last = talk(first, reply.message, *results, tools=tools)
    assert (last.text, last.stop_reason) == ("Both are read.", "stop")


def test_a_schema_is_accepted_and_a_cut_reply_is_one(talk):
    assert json.loads(talk("Answer by the schema.", schema=SCHEMA).text) == {"a": "b"}
    cut = talk("Be cut.")
    assert (cut.text, cut.stop_reason) == ("Ha", "length")


def test_errors_are_typed_failures(talk):
    for status, kind in FAILURES.items():
        with pytest.raises(AgentFailure, match="as told") as failure:
            talk(f"Fail with {status}.")
        assert failure.value.kind.word == kind


def test_a_role_of_the_builtin_agent_reads_a_file_and_replies(address, protocol, tmp_path):
    path, name = PATHS[protocol]
    project = Project(tmp_path)
    project.workflow("note", NOTE)
    (project.folder / "ä.txt").write_text("Dear Ada")
    provider = {"baseUrl": f"{address}{path}", "protocol": protocol}
    models = {"one": {"provider": "local", "name": name}}
    config = {"providers": {"local": provider}, "models": models, "defaultModel": "one"}
    project.config(json.dumps(config))
    with project.client(default_agent="builtin") as client:
        thread = client.start("note", "For Ada")["thread"]
        (row,) = client.exec(thread).document["steps"]
        step = client.step(row["step"])
        (call,) = [call for turn in client.turns(thread) for call in turn["toolCalls"]]
    assert step["output"] == {"$status": "written", "text": "for Ada"}
    assert (call["name"], call["isError"]) == ("read_file", False)
    assert "Dear Ada" in call["result"]
