"""Anthropic's Messages as a protocol of models."""

import re
from collections.abc import Mapping
from typing import Any

from uwf_core.api.agent import Model
from uwf_llm.anthropic.body import body
from uwf_llm.anthropic.quirks import AnthropicQuirks, adapted_quirks
from uwf_llm.anthropic.reply import MessagesReader
from uwf_llm.chat import ChatRequest
from uwf_llm.protocol import WireRequest
from uwf_llm.reply import ReplyBuilder, listed_names

_VERSION = "2023-06-01"


class AnthropicMessages:
    """Anthropic's Messages. The base address may end with `/v1` or, as for Anthropic's own clients,
    before it.
    """

    plain_keys = True

    def __init__(self, model: Model, service: str) -> None:
        self._model = model
        self._service = service
        self._quirks = AnthropicQuirks()
        base = model.base_url.partition("?")[0].rstrip("/").removesuffix("/messages")
        self._below = "" if re.search(r"/v\d[^/]*\Z", base) else "/v1"

    @property
    def models_path(self) -> str:
        """The list of models."""
        return f"{self._below}/models"

    def headers(self, key: str | None) -> Mapping[str, str]:
        """The version of the protocol, and the key."""
        version = {"anthropic-version": _VERSION}
        return version if key is None else {**version, "x-api-key": key}

    def request(self, request: ChatRequest, *, stream: bool) -> WireRequest:
        """The request with the quirks known by now."""
        data = body(request, self._model, self._service, self._quirks, stream)
        return WireRequest(f"{self._below}/messages", data)

    def reader(self, request: ChatRequest, builder: ReplyBuilder) -> MessagesReader:
        """A reader of the reply."""
        asked = request.schema is not None and self._quirks.schema
        builder.response_format = "json_schema" if asked else None
        return MessagesReader(builder)

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Whether something was left to drop."""
        del stream
        adapted = adapted_quirks(self._quirks, request, words)
        self._quirks = adapted or self._quirks
        return adapted is not None

    def model_names(self, document: Any) -> list[str] | None:
        """From `{data: [{id}]}`."""
        return listed_names(document)
