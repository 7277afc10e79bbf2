"""The protocols of uwf beside one another: what they are called, and where the server has them."""

from typing import NamedTuple

from uwf_core.api.agent import Model

KEY = "sk-test-0123456789abcdef"


class Wire(NamedTuple):
    """A protocol: the property of the scripted server with its address, the header of the key."""

    url: str
    key: str


WIRES = {
    "openai-chat": Wire("openai_url", "authorization"),
    "openai-responses": Wire("openai_url", "authorization"),
    "anthropic": Wire("anthropic_url", "x-api-key"),
    "gemini": Wire("gemini_url", "x-goog-api-key"),
}


def model_at(server, protocol, **fields):
    """A model of the scripted server by a protocol."""
    url = getattr(server, WIRES[protocol].url)
    given = {"alias": "m", "name": "model-1", "provider": "p", "api_key": KEY, **fields}
    return Model(base_url=url, protocol=protocol, **given)
