"""A model of the configuration, and the announcement of a model protocol; the protocol itself is
`uwf_llm.protocol`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from uwf_core import API_VERSION


@dataclass(frozen=True, kw_only=True)
class Price:
    """USD per million tokens; None means unknown.

    Attributes:
        input, output: of tokens without the cached ones.
        cache_read, cache_write: of cached tokens.
    """

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None


@dataclass(frozen=True, kw_only=True)
class Model:
    """A model of the configuration, with its provider.

    Attributes:
        alias: its name in the configuration.
        name: its name at the provider.
        provider: the name of the provider in the configuration.
        base_url: of its service.
        api_key: the key; never printed.
        price: what its tokens cost; None if unknown.
        extra: further keys for the body of each request, such as `reasoning_effort`.
        protocol: the name of the protocol that the service speaks.
        protocol_factory: loaded from a plugin, for a protocol that is not built in.
        end_mark: what ends a reply: the mark of the protocol, or `done`, also `[DONE]` alone and
            the end of a whole document, for services that never send that mark.
    """

    alias: str
    name: str
    provider: str
    base_url: str
    api_key: str | None = field(default=None, repr=False)
    price: Price | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    protocol: str = "openai-chat"
    protocol_factory: Callable[..., Any] | None = field(default=None, repr=False)
    end_mark: str = "protocol"


class ModelProtocolSpec(NamedTuple):
    """A protocol of models as its distribution announces it.

    Attributes:
        name: what `protocol` of a provider says; equals the entry point's name.
        summary: one line for people.
        factory: `module:attribute`, called as `factory(model, service)`, gives a
            `uwf_llm.protocol.ModelProtocol`.
        api: the version of this contract that the protocol was written for.
    """

    name: str
    summary: str
    factory: str
    api: str = API_VERSION
