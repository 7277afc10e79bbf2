"""What the protocols of uwf share, and learn from error responses: what a service does not support
is left out, or sent in another form, from then on.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from uwf_core.api.models import Model
from uwf_llm.chat import ChatRequest
from uwf_llm.encoding import encoded, merged
from uwf_llm.protocol import WireRequest
from uwf_llm.reply import Reader, ReplyBuilder, listed_names

ON_OFF = (True, False)


class Quirk(NamedTuple):
    """What some services do not support.

    Attributes:
        name: its key in `LearningProtocol.sent`.
        words: a pattern of the text of a 400 that rejects it; letters of either case match.
        asked: whether a request, streamed or not, has it.
        forms: in which forms it is sent, one after the other.
    """

    name: str
    words: str
    asked: Callable[[ChatRequest, bool], bool] = lambda _request, _stream: True
    forms: tuple[Any, ...] = ON_OFF


def schema_quirk(words: str, *forms: Any) -> Quirk:
    """The form of structured output, `schema`; the last one is none."""
    return Quirk("schema", words, lambda request, _: request.schema is not None, (*forms, None))


TEMPERATURE = Quirk(
    "temperature", "temperature", lambda request, _: request.temperature is not None
)
PARALLEL_CALLS = Quirk(
    "parallel_tool_calls",
    "parallel_tool_calls",
    lambda request, _: request.parallel_tool_calls is not None,
)


def reasoning_quirk(words: str) -> Quirk:
    """Whether a service accepts the reasoning that it sent, `reasoning_back`."""
    return Quirk("reasoning_back", words, lambda request, _: any(m.extra for m in request.messages))


class LearningProtocol:
    """A `ModelProtocol` without its `path`, `body` and `reads`. Initially a service has no quirks.

    Attributes:
        quirks: what may be left out; of several that an error names, the first one.
        reads: reads a reply.
        sent: by the name of each quirk, the form in which it is sent by now.
    """

    models_path = "/models"
    quirks: ClassVar[tuple[Quirk, ...]] = ()
    reads: ClassVar[type[Reader]]

    def __init__(self, model: Model, service: str) -> None:
        self.model = model
        self.service = service
        self.sent: dict[str, Any] = {each.name: each.forms[0] for each in self.quirks}

    def headers(self, key: str | None) -> Mapping[str, str]:
        """A bearer token."""
        return {} if key is None else {"Authorization": f"Bearer {key}"}

    def request(self, request: ChatRequest, *, stream: bool) -> WireRequest:
        """The request in the forms known by now; equal ones give equal bytes."""
        body = encoded(merged(self.model.extra, self.body(request, stream=stream)))
        return WireRequest(self.path(stream=stream), body)

    def path(self, *, stream: bool) -> str:
        """The path of a request, below the base address."""
        raise NotImplementedError

    def body(self, request: ChatRequest, *, stream: bool) -> dict[str, Any]:
        """The body of a request, without the keys of the configuration."""
        raise NotImplementedError

    def reader(self, request: ChatRequest, builder: ReplyBuilder) -> Reader:
        """A reader of the reply."""
        builder.response_format = self.schema_form(request)
        return self.reads(builder)

    def schema_form(self, request: ChatRequest) -> Any:
        """The form in which this service gets the schema of a request; None: it gets none."""
        return None if request.schema is None else self.sent.get("schema")

    @property
    def reasoning_service(self) -> str | None:
        """Whose reasoning goes back: that of the service itself, if it accepts it."""
        return self.service if self.sent["reasoning_back"] else None

    def accepted(self, request: ChatRequest, name: str) -> Any:
        """A field of a request; None if this service does not support it."""
        return getattr(request, name) if self.sent[name] else None

    def adapt(self, request: ChatRequest, words: str, *, stream: bool) -> bool:
        """Whether something was left to drop; each step drops it permanently, so there are few."""
        for quirk in self.quirks:
            weaker = quirk.forms[quirk.forms.index(self.sent[quirk.name]) + 1 :]
            if weaker and quirk.asked(request, stream) and re.search(quirk.words, words, re.I):
                self.sent[quirk.name] = weaker[0]
                return True
        return False

    def model_names(self, document: Any) -> list[str] | None:
        """From `{data: [{id}]}` and the like."""
        return listed_names(document)
