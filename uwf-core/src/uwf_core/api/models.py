"""The announcement of a model protocol; the protocol itself is `uwf_llm.protocol`."""

from typing import NamedTuple

from uwf_core.api.agent import API_VERSION


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
