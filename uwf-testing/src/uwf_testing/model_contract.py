"""The promises of every model protocol, as tests: subclass `ModelContract` and define its fixtures.

```python
import pytest
from uwf_testing.model_contract import ModelContract

class TestAcme(ModelContract):
    @pytest.fixture
    def model(self):
        return "acme"                             # the name of the entry point

    @pytest.fixture
    def events(self):                             # a streamed reply with text, as parsed JSON
        return [{"say": "Hello."}, {"end": True}]
```

The kit writes requests with tools, reasoning, images and hostile texts, and reads the events whole,
cut after each one, and with parts replaced by values of other types.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from uwf_core.api.agent import ToolCall
from uwf_core.api.models import Model, ModelProtocolSpec
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import MODELS
from uwf_llm.chat import ChatReply, ChatRequest, ChatTool, Image, Message
from uwf_llm.failures import RequestFailed
from uwf_llm.protocol import ModelProtocol, ReplyReader
from uwf_llm.reply import ReplyBuilder
from uwf_testing.contract import KIT_VERSION
from uwf_testing.plugin_contract import PluginContract

__all__ = ["KIT_VERSION", "ModelContract"]

_SERVICE = "kit service"
_KEY = "kit-secret-key-4711"
_OTHERS: tuple[Any, ...] = (None, [], {}, "", "\x00\ud800", -1, 1.5, float("inf"), True, [[{}]])
_TOOLS = tuple(
    ChatTool(name=name, description="", parameters={"type": "object"}) for name in ("b", "a")
)
_CALLS = (
    ToolCall(id="one", name="a", arguments="{}"),
    ToolCall(id="two", name="b", arguments="{cut"),
)
_CONVERSATION = (
    Message(role="system", text="You are."),
    Message(role="user", text="Do \x00\ud800 it.", images=(Image(media_type="a/b", data=b"x"),)),
    Message(role="assistant", text="", reasoning="Hm.", tool_calls=_CALLS),
    Message(role="tool", text="", tool_call_id="one"),
    Message(role="tool", text="no", tool_call_id="two"),
    Message(role="assistant", text=" "),
    Message(role="user", text="Continue."),
)
_REQUEST = ChatRequest(
    messages=_CONVERSATION, tools=_TOOLS, schema={"type": "object"}, max_tokens=9
)

Read = Callable[[list[Any]], ChatReply]


class ModelContract(PluginContract):
    """The promises of `ModelProtocol`."""

    kind = "model"
    group = MODELS

    @pytest.fixture
    def events(self) -> list[Any]:
        """The events of a streamed reply with text, as parsed JSON."""
        raise NotImplementedError("define a fixture `events` that returns a streamed reply")

    @pytest.fixture
    def made(self, record: ModelProtocolSpec, plugins: Plugins, plugin_name: str) -> ModelProtocol:
        """A new object of the protocol."""
        url = "http://127.0.0.1:9/v1"
        model = Model(
            alias="m", name="model/1", provider="p", base_url=url, extra={"x_kit": {"a": 1}}
        )
        factory = plugins.attribute(MODELS, plugin_name, record.factory)
        given: ModelProtocol = factory(replace(model, protocol=plugin_name), _SERVICE)
        return given

    @pytest.fixture
    def read(self, made: ModelProtocol) -> Read:
        """Reads events with a new reader."""

        def run(events: list[Any]) -> ChatReply:
            reader = made.reader(_REQUEST, ReplyBuilder("kit"))
            for event in events:
                reader.event(event)
            return reader.finish()

        return run

    def test_it_has_the_methods_of_the_contract(self, made: ModelProtocol) -> None:
        """The object is a `ModelProtocol`, and its reader a `ReplyReader`."""
        assert isinstance(made, ModelProtocol)
        assert isinstance(made.reader(_REQUEST, ReplyBuilder("kit")), ReplyReader)
        assert made.models_path.startswith("/")

    @pytest.mark.parametrize("stream", [True, False])
    def test_a_request_is_json_below_the_base_address(
        self, made: ModelProtocol, stream: bool
    ) -> None:
        """Any conversation can be written, and has the keys of `extra`."""
        path, body = made.request(_REQUEST, stream=stream)
        assert path.startswith("/")
        document = json.loads(body)
        assert document["x_kit"] == {"a": 1}
        assert "Continue." in json.dumps(document)

    def test_equal_requests_are_equal_bytes_whatever_the_order_of_the_tools(
        self, made: ModelProtocol
    ) -> None:
        """So that a service can cache them."""
        turned = replace(_REQUEST, tools=_TOOLS[::-1])
        first = made.request(_REQUEST, stream=True)
        assert first == made.request(_REQUEST, stream=True) == made.request(turned, stream=True)

    def test_the_key_is_in_a_header_and_nowhere_else(self, made: ModelProtocol) -> None:
        """Without a key, no header holds one."""
        assert any(_KEY in text for text in made.headers(_KEY).values())
        assert not any("None" in text for text in made.headers(None).values())

    def test_a_streamed_reply_is_read(
        self, made: ModelProtocol, read: Read, events: list[Any]
    ) -> None:
        """It has a text and a reason to stop, and goes back in a conversation."""
        reply = read(events)
        assert reply.text.strip()
        assert reply.stop_reason
        said = replace(reply, service=_SERVICE).message
        back = replace(_REQUEST, messages=(*_CONVERSATION, said, Message(role="user", text="?")))
        document = json.loads(made.request(back, stream=False).body)
        assert reply.text in json.dumps(document, ensure_ascii=False)

    def test_a_reader_knows_when_a_reply_has_ended(
        self, made: ModelProtocol, events: list[Any]
    ) -> None:
        """`complete` is False at first and True after the last event."""
        reader = made.reader(_REQUEST, ReplyBuilder("kit"))
        assert not reader.complete
        for event in events:
            reader.event(event)
        assert reader.complete

    def test_a_reply_of_odd_types_is_a_reply_or_a_failure_and_never_a_crash(
        self, read: Read, events: list[Any]
    ) -> None:
        """Each value of each event is replaced by values of other types."""
        for at, event in enumerate(events):
            for changed in _changed(event):
                self._survives(read, [*events[:at], changed, *events[at + 1 :]])
        for end in range(len(events)):
            self._survives(read, events[:end])
        self._survives(read, list(_OTHERS))

    def test_adapting_ends(self, made: ModelProtocol) -> None:
        """A service that rejects everything is not asked for ever."""
        words = "temperature schema json_schema tools stream include cache_control signature"
        changes = sum(made.adapt(_REQUEST, words, stream=True) for _ in range(50))
        assert changes < 20

    @staticmethod
    def _survives(read: Read, events: list[Any]) -> None:
        try:
            reply = read(events)
        except RequestFailed:
            return
        assert isinstance(reply, ChatReply)
        assert isinstance(reply.text, str)
        assert reply.text.strip() or reply.tool_calls
        json.dumps(reply.extra, allow_nan=False)


def _changed(value: Any) -> Iterator[Any]:
    """`value` with each part of it replaced by something else."""
    yield from _OTHERS
    if isinstance(value, dict):
        for name, part in value.items():
            yield {each: value[each] for each in value if each != name}
            for other in _changed(part):
                yield {**value, name: other}
    elif isinstance(value, list):
        for at, part in enumerate(value):
            for other in _changed(part):
                yield [*value[:at], other, *value[at + 1 :]]
