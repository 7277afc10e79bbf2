"""The built-in protocols of models, and the one of a model."""

from collections.abc import Sequence
from importlib import import_module

from uwf_core.api.hookspecs import hookimpl
from uwf_core.api.models import Model, ModelProtocolSpec
from uwf_core.errors import BadRequest
from uwf_llm.protocol import ProtocolFactory

PROTOCOLS = (
    ModelProtocolSpec(
        name="openai-chat",
        summary="chat completions of OpenAI and of most other services",
        factory="uwf_llm.openai_chat.protocol:OpenaiChat",
    ),
    ModelProtocolSpec(
        name="openai-responses",
        summary="OpenAI's Responses, without storage at the service",
        factory="uwf_llm.openai_responses.protocol:OpenaiResponses",
    ),
    ModelProtocolSpec(
        name="anthropic",
        summary="Anthropic's Messages",
        factory="uwf_llm.anthropic.protocol:AnthropicMessages",
    ),
    ModelProtocolSpec(
        name="gemini",
        summary="generateContent of Google's Gemini",
        factory="uwf_llm.gemini.protocol:GeminiContent",
    ),
)


@hookimpl
def uwf_models() -> Sequence[ModelProtocolSpec]:
    """Every protocol above."""
    return PROTOCOLS


def protocol_of(model: Model) -> ProtocolFactory:
    """The factory of a model's protocol: that of its plugin, else a built-in one.

    Raises:
        BadRequest: the protocol is unknown.
    """
    if model.protocol_factory is not None:
        plugin: ProtocolFactory = model.protocol_factory
        return plugin
    spec = next((each for each in PROTOCOLS if each.name == model.protocol), None)
    if spec is None:
        known = ", ".join(each.name for each in PROTOCOLS)
        raise BadRequest(f"unknown model protocol {model.protocol!r}", hint=f"known: {known}")
    module, _, name = spec.factory.partition(":")
    factory: ProtocolFactory = getattr(import_module(module), name)
    return factory
