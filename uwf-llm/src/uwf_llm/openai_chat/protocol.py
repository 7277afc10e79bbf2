"""OpenAI's chat completions as a protocol of models."""

from collections.abc import Mapping
from typing import Any

from uwf_core.api.agent import Model
from uwf_llm.chat import ChatRequest
from uwf_llm.openai_chat.adapt import Quirks, adapted_quirks
from uwf_llm.openai_chat.body import BodyWriter, response_format
from uwf_llm.openai_chat.reply import ChatReader
from uwf_llm.protocol import WireRequest
from uwf_llm.reply import ReplyBuilder, listed_names


class OpenaiChat:
    """Chat completions, with what a service turns out not to support left out."""

    models_path = "/models"

    def __init__(self, model: Model, service: str) -> None:
        self._bodies = BodyWriter(model, service)
        self._quirks = Quirks()

    def headers(self, key: str | None) -> Mapping[str, str]:
        """A bearer token."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def request(self, request: ChatRequest, *, stream: bool) -> WireRequest:
        """The request with the quirks known by now."""
        body = self._bodies.body(request, self._quirks, stream=stream)
        return WireRequest("/chat/completions", body)

    def reader(self, request: ChatRequest, builder: ReplyBuilder) -> ChatReader:
        """A reader of the reply."""
        builder.response_format = response_format(request, self._quirks)
        return ChatReader(builder)

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Whether a parameter was left to drop."""
        adapted = adapted_quirks(self._quirks, request, words, stream=stream)
        self._quirks = adapted or self._quirks
        return adapted is not None

    def model_names(self, document: Any) -> list[str] | None:
        """From `{data: [{id}]}` and the like."""
        return listed_names(document)
