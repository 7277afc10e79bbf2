"""Read a reply of Gemini's generateContent, whole or from the events of a stream; both have the
same form.

Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse
"""

import json
from typing import Any

from uwf_llm.layout import call_part, further, objects, text_part
from uwf_llm.reply import Counts, Reader, mapping, text_of, usage_of

_COUNTS = Counts(
    "promptTokenCount",
    "candidatesTokenCount",
    "cachedContentTokenCount",
    thought="thoughtsTokenCount",
)
_REFUSALS = frozenset(
    (
        *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"),
        *("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT"),
    )
)
_WORDS = {"STOP": "", "FUNCTION_CALL": "", "MAX_TOKENS": "length"}
"""`FUNCTION_CALL` is what some compatible services say in the place of STOP, such as aimock."""
_STANDARD = frozenset(("text", "functionCall", "thought"))


class ContentReader(Reader):
    """Reads a reply; thought signatures are kept at the parts that had them."""

    def whole(self, document: Any) -> bool:
        """Read a reply; False if it is none."""
        said = mapping(document)
        if not any(name in said for name in ("candidates", "promptFeedback")):
            return False
        self.event(document)
        return True

    def event(self, document: Any) -> None:
        """Read a reply, or the next part of one."""
        said, builder = mapping(document), self.builder
        builder.model = text_of(said.get("modelVersion")) or builder.model
        if isinstance(said.get("usageMetadata"), dict):
            builder.usage = usage_of(said["usageMetadata"], _COUNTS)
        feedback = mapping(said.get("promptFeedback"))
        if blocked := text_of(feedback.get("blockReason")):
            words = text_of(feedback.get("blockReasonMessage"))
            builder.stop_reason = blocked
            builder.refuse(f"{blocked}: {words}" if words else "")
            self.complete = True
        for candidate in objects(said.get("candidates"))[:1]:
            for part in objects(mapping(candidate.get("content")).get("parts")):
                self._part(part)
            self._stop(candidate)

    def _part(self, part: dict[str, Any]) -> None:
        builder, fields = self.builder, further(part, _STANDARD)
        call, text = part.get("functionCall"), text_of(part.get("text"))
        if isinstance(call, dict):
            index, given = builder.begin_call(), call.get("args")
            arguments = json.dumps(given or {}, ensure_ascii=False)
            number, name = text_of(call.get("id")) or None, text_of(call.get("name"))
            builder.call(index, id=number, name=name, arguments=arguments)
            builder.layout.append(call_part(fields))
        elif part.get("thought") is True:
            if text:
                builder.reasoning(text)
        elif text or fields.get("thoughtSignature"):
            if text:
                builder.text(text)
            self._grow(len(text), fields)

    def _grow(self, length: int, fields: dict[str, Any]) -> None:
        """A text continues the one before, unless that is signed."""
        layout = self.builder.layout
        last = layout[-1] if layout else {}
        if "text" in last and "fields" not in last:
            length += last["text"]
            layout.pop()
        layout.append(text_part(length, fields))

    def _stop(self, candidate: dict[str, Any]) -> None:
        builder, reason = self.builder, text_of(candidate.get("finishReason"))
        if not reason:
            return
        self.complete = True
        usual = "tool_calls" if builder.calls else "stop"
        words = text_of(candidate.get("finishMessage"))
        if reason in _REFUSALS:
            builder.refuse(f"{reason}: {words}" if words else "")
        elif reason not in _WORDS:
            builder.broke(words)
        builder.stop_reason = _WORDS.get(reason, reason) or usual
