"""generateContent of Google's Gemini as a protocol of models, streamed as server-sent events.

Source: https://ai.google.dev/api/generate-content
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from uwf_core.api.agent import ToolCall
from uwf_llm.chat import ChatRequest, Message
from uwf_llm.encoding import arguments_object, given, listed_tools, turns
from uwf_llm.gemini.reply import ContentReader
from uwf_llm.layout import sent_parts
from uwf_llm.quirks import LearningProtocol, schema_quirk
from uwf_llm.reply import listed_names

_MODELS = "models/"
_MODES = {"auto": "AUTO", "none": "NONE", "required": "ANY"}


class GeminiContent(LearningProtocol):
    """generateContent."""

    quirks = (schema_quirk("schema|response_?mime_?type", "json_schema"),)
    reads = ContentReader

    def headers(self, key: str | None) -> Mapping[str, str]:
        """The key."""
        return {} if key is None else {"x-goog-api-key": key}

    def path(self, *, stream: bool) -> str:
        """The path of a request, which has the model."""
        name = quote(self.model.name.removeprefix(_MODELS), safe="")
        what = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"/{_MODELS}{name}:{what}"

    def body(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """The body of a request, streamed or not."""
        del stream
        names = {call.id: call.name for each in request.messages for call in each.tool_calls}
        declared = listed_tools(request.tools, "parametersJsonSchema")
        form, choice = self.schema_form(request), request.tool_choice
        mode = _MODES.get(choice or "")
        one = {"mode": mode} if mode else {"mode": "ANY", "allowedFunctionNames": [choice]}
        settings = given(
            maxOutputTokens=request.max_tokens,
            temperature=request.temperature,
            responseMimeType=form and "application/json",
            responseJsonSchema=form and request.schema,
        )
        return given(
            contents=turns(request.messages, "model", "parts", lambda m: self._parts(m, names)),
            systemInstruction={"parts": [{"text": request.system}]} if request.system else None,
            tools=[{"functionDeclarations": declared}] if declared else None,
            toolConfig={"functionCallingConfig": one} if declared and choice is not None else None,
            generationConfig=settings or None,
        )

    def model_names(self, document: Any) -> list[str] | None:
        """From `{models: [{name: models/NAME}]}`."""
        names = listed_names(document)
        return None if names is None else [name.removeprefix(_MODELS) for name in names]

    def _parts(self, message: Message, names: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        if message.role == "assistant":
            yield from [*sent_parts(message, self.service, _said, _call)] or _said("")
        elif message.role == "tool":
            number = message.tool_call_id or ""
            response: dict[str, Any] = {"name": names.get(number, number), "id": number}
            yield {"functionResponse": {**response, "response": {"output": message.text}}}
        else:
            yield {"text": message.text}
        for image in message.images:
            yield {"inlineData": {"mimeType": image.media_type, "data": image.base64()}}


def _said(text: str) -> list[dict[str, Any]]:
    return [{"text": text}]


def _call(call: ToolCall) -> dict[str, Any]:
    return {"functionCall": {"id": call.id, "name": call.name, "args": arguments_object(call)}}
