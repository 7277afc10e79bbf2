"""The protocols of uwf beside one another: what they are called, and where the server has them."""

from dataclasses import replace
from typing import NamedTuple

from uwf_core.api.models import Model
from uwf_llm.chat import ChatRequest, ChatTool, Message

KEY = "sk-test-0123456789abcdef"


class Wire(NamedTuple):
    """A protocol: the property of the scripted server with its address, the header of the key."""

    url: str
    key: str


WIRES = {
    "openai-chat": Wire("openai_url", "authorization"),
    "openai-responses": Wire("openai_url", "authorization"),
    "anthropic": Wire("anthropic_url", "x-api-key"),
    "gemini": Wire("gemini_url", "x-goog-api-key"),
}


def model_at(server, protocol, **fields):
    """A model of the scripted server by a protocol."""
    url = getattr(server, WIRES[protocol].url)
    given = {"alias": "m", "name": "model-1", "provider": "p", "api_key": KEY, **fields}
    return Model(base_url=url, protocol=protocol, **given)


ANY = {"type": "object", "properties": {}}
TOOLS = (
    ChatTool(name="read_file", description="Reads.", parameters=ANY),
    ChatTool(name="grep", description="Searches.", parameters=ANY),
)
ASKED = ChatRequest(
    messages=(Message(role="system", text="You are."), Message(role="user", text="Do it.")),
    tools=TOOLS,
)
TURN = {
    "text": "I look at both. " * 4,
    "reasoning": "First the files. " * 4,
    "toolCalls": [
        {"name": "read_file", "arguments": {"path": "ä.py"}, "id": "call_a"},
        {"name": "grep", "arguments": {"pattern": "x" * 60}, "id": "call_b"},
    ],
    "usage": {"inputTokens": 20, "outputTokens": 7, "cacheReadTokens": 80},
}
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}


def continued(reply):
    results = [
        Message(role="tool", text=f"result of {call.name}", tool_call_id=call.id)
        for call in reply.tool_calls
    ]
    return replace(ASKED, messages=(*ASKED.messages, reply.message, *results))
