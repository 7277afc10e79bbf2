"""The protocols of uwf keep the contract that plugins are held to."""

import json

import pytest

from model_wires import model_at
from uwf_llm.chat import ChatRequest, Message
from uwf_llm.client import ChatClient
from uwf_llm.sse import SseParser
from uwf_testing.model_contract import ModelContract
from uwf_testing.model_server import ScriptedModel

TURN = {
    "text": "I look, and I see. Ä",
    "reasoning": "Where is it?",
    "toolCalls": [{"name": "a", "arguments": {"path": "x"}}],
}


class _OfCore(ModelContract):
    @pytest.fixture
    def events(self, model):
        """What our server streams, which the vendors' clients read as well."""
        with ScriptedModel([TURN]) as server:
            chosen = model_at(server, model)
            with ChatClient(chosen) as client:
                path, body = client._protocol.request(
                    ChatRequest(messages=(Message(role="user", text="x"),)), stream=True
                )
            import httpx

            answer = httpx.post(chosen.base_url + path, content=body)
        parser = SseParser()
        data = [*parser.feed(answer.content), *parser.finish()]
        return [json.loads(each.data) for each in data if each.data != "[DONE]"]


class TestOpenaiChat(_OfCore):
    @pytest.fixture
    def model(self):
        return "openai-chat"


class TestOpenaiResponses(_OfCore):
    @pytest.fixture
    def model(self):
        return "openai-responses"


class TestAnthropic(_OfCore):
    @pytest.fixture
    def model(self):
        return "anthropic"


class TestGemini(_OfCore):
    @pytest.fixture
    def model(self):
        return "gemini"
