"""What both protocols of OpenAI share: tools, their choice and structured output."""

from typing import Any

from uwf_llm.chat import ChatRequest
from uwf_llm.encoding import given, listed_tools
from uwf_llm.quirks import LearningProtocol


class OpenaiProtocol(LearningProtocol):
    """A protocol of OpenAI, whose `schema` has the forms of `ResponseFormat`."""

    @staticmethod
    def tagged(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
        """An object of a type, with its fields."""
        return {"type": kind, **fields}

    def tools(self, request: ChatRequest, **more: Any) -> dict[str, Any]:
        """The keys for the tools, of which each has `more` fields."""
        if not request.tools:
            return {}
        listed = listed_tools(request.tools, "parameters")
        choice = request.tool_choice
        is_word = choice in (None, "auto", "none", "required")
        return given(
            tools=[self.tagged("function", {**each, **more}) for each in listed],
            tool_choice=choice if is_word else self.tagged("function", {"name": choice}),
            parallel_tool_calls=self.accepted(request, "parallel_tool_calls"),
        )

    def format(self, request: ChatRequest) -> dict[str, Any] | None:
        """The format of the answer."""
        form = self.schema_form(request)
        if form != "json_schema":
            return form and {"type": form}
        named = {"name": "output", "schema": request.schema, "strict": request.schema_strict}
        return self.tagged(form, named)
