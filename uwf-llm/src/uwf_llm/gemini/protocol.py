"""generateContent of Google's Gemini as a protocol of models."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from uwf_core.api.agent import Model
from uwf_llm.chat import ChatRequest
from uwf_llm.gemini.body import body
from uwf_llm.gemini.reply import ContentReader
from uwf_llm.protocol import WireRequest
from uwf_llm.reply import ReplyBuilder, listed_names

_SCHEMA = re.compile(r"response_?(json_?)?schema|response_?mime_?type|schema", re.IGNORECASE)
_MODELS = "models/"


class GeminiContent:
    """generateContent, streamed as server-sent events."""

    models_path = "/models"

    def __init__(self, model: Model, service: str) -> None:
        self._model = model
        self._service = service
        self._schema = True

    def headers(self, key: str | None) -> Mapping[str, str]:
        """The key."""
        return {} if key is None else {"x-goog-api-key": key}

    def request(self, request: ChatRequest, *, stream: bool) -> WireRequest:
        """The request; its path has the model."""
        name = quote(self._model.name.removeprefix(_MODELS), safe="")
        what = "streamGenerateContent?alt=sse" if stream else "generateContent"
        data = body(request, self._model, self._service, schema=self._schema)
        return WireRequest(f"/{_MODELS}{name}:{what}", data)

    def reader(self, request: ChatRequest, builder: ReplyBuilder) -> ContentReader:
        """A reader of the reply."""
        asked = request.schema is not None and self._schema
        builder.response_format = "json_schema" if asked else None
        return ContentReader(builder)

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Whether structured output was left to drop."""
        del stream
        if request.schema is None or not self._schema or not _SCHEMA.search(words):
            return False
        self._schema = False
        return True

    def model_names(self, document: Any) -> list[str] | None:
        """From `{models: [{name: models/NAME}]}`."""
        names = listed_names(document)
        return None if names is None else [name.removeprefix(_MODELS) for name in names]
