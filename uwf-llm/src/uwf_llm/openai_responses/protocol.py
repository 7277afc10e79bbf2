"""OpenAI's Responses as a protocol of models."""

from collections.abc import Mapping
from typing import Any

from uwf_core.api.agent import Model
from uwf_llm.chat import ChatRequest
from uwf_llm.openai_responses.body import body
from uwf_llm.openai_responses.quirks import ResponsesQuirks, adapted_quirks
from uwf_llm.openai_responses.reply import ResponsesReader
from uwf_llm.protocol import WireRequest
from uwf_llm.reply import ReplyBuilder, listed_names


class OpenaiResponses:
    """OpenAI's Responses, with `store` off."""

    models_path = "/models"

    def __init__(self, model: Model, service: str) -> None:
        self._model = model
        self._service = service
        self._quirks = ResponsesQuirks()

    def headers(self, key: str | None) -> Mapping[str, str]:
        """A bearer token."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def request(self, request: ChatRequest, *, stream: bool) -> WireRequest:
        """The request with the quirks known by now."""
        data = body(request, self._model, self._service, self._quirks, stream)
        return WireRequest("/responses", data)

    def reader(self, request: ChatRequest, builder: ReplyBuilder) -> ResponsesReader:
        """A reader of the reply."""
        form = self._quirks.response_format
        builder.response_format = form if request.schema is not None else None
        return ResponsesReader(builder)

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Whether something was left to drop."""
        del stream
        adapted = adapted_quirks(self._quirks, request, words)
        self._quirks = adapted or self._quirks
        return adapted is not None

    def model_names(self, document: Any) -> list[str] | None:
        """From `{data: [{id}]}`."""
        return listed_names(document)
