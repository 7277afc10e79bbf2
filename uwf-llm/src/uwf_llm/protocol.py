"""The contract of a model protocol: how requests and replies of one kind of service look on the
wire. The client does the rest: connections, attempts, limits of time and size, redaction.

    class MyProtocol:
        def __init__(self, model: Model, service: str) -> None: ...

A distribution announces its protocols by the hook `uwf_models` (group `uwf.models`); the protocols
of uwf are made the same way (`uwf_llm.plugin`). One object serves one `ChatClient`.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

from uwf_core.api.models import Model
from uwf_llm.chat import ChatReply, ChatRequest
from uwf_llm.reply import ReplyBuilder


class WireRequest(NamedTuple):
    """A request to send.

    Attributes:
        path: below the base address, with its query: `/messages`.
        body: JSON as bytes. Equal requests give equal bytes, so that a service can cache them.
    """

    path: str
    body: bytes


@runtime_checkable
class ReplyReader(Protocol):
    """Reads one reply. It gets what the service sends as parsed JSON, of any shape and type: what
    it does not understand, it ignores.
    """

    @property
    def complete(self) -> bool:
        """Whether the reply has ended: a connection that breaks now loses nothing."""
        ...

    @property
    def done(self) -> bool:
        """Whether nothing more of interest follows, such as the usage."""
        ...

    def whole(self, document: Any) -> bool:
        """Read a reply that was not streamed; False if it is not one of this protocol.

        Raises:
            RequestFailed: the document is an error.
        """
        ...

    def event(self, document: Any) -> None:
        """Read the data of one event of a stream.

        Raises:
            RequestFailed: the event is an error.
        """
        ...

    def finish(self) -> ChatReply:
        """The reply; called once, when all of it was read.

        Raises:
            RequestFailed: it was refused, is empty, or broke off (`ReplyBuilder.finish`).
        """
        ...


@runtime_checkable
class ModelProtocol(Protocol):
    """A protocol for one client. Thread-safe."""

    @property
    def models_path(self) -> str:
        """The path of the list of models, below the base address."""
        ...

    def headers(self, key: str | None) -> Mapping[str, str]:
        """The headers of every request, with the key where the service expects it."""
        ...

    def request(self, request: ChatRequest, *, stream: bool) -> WireRequest:
        """Write a request as this service understands it by now (`adapt`)."""
        ...

    def reader(self, request: ChatRequest, builder: ReplyBuilder) -> ReplyReader:
        """Read the reply to `request` into `builder`."""
        ...

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Learn from the text of a 400: whether another form of the request may succeed, which
        `request` writes from now on. Must give up after a few changes.
        """
        ...

    def model_names(self, document: Any) -> list[str] | None:
        """The names in the list of models; None if the document is something else."""
        ...


ProtocolFactory = Callable[[Model, str], ModelProtocol]
"""Called with the model and the name of its service, which replies carry as `service`."""
