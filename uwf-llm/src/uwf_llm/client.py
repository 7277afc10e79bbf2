"""The client: one request with its attempts."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Self, TypeVar

from uwf_core.api import Cancel
from uwf_core.api.models import Model
from uwf_core.errors import AgentFailure
from uwf_llm.address import checked_key, headers_of, read_address
from uwf_llm.chat import ChatReply, ChatRequest, Delta
from uwf_llm.exchange import Deadline, ResponseHead
from uwf_llm.failures import ErrorResponse, RequestFailed, failure_from, without_secrets
from uwf_llm.limits import ChatLimits, Clock, Retries, RetryPolicy
from uwf_llm.plugin import protocol_of
from uwf_llm.protocol import ModelProtocol
from uwf_llm.reception import Reception, document_of, no_chat
from uwf_llm.reply import OnDelta, ReplyBuilder
from uwf_llm.sendable import sendable
from uwf_llm.service import HttpRequest, HttpResponse, Service

_Result = TypeVar("_Result")
_SECRET_LENGTH = 8


class ChatClient:
    """Calls one model of one service. Thread-safe; `close` it at the end.

    Args:
        model: the model and its service, from the configuration; `api_key` None sends no key.
        limits: limits of time and size.
        retry: which failed requests are retried.
        headers: further headers; like the key, their values never appear in errors.
        clock: time and randomness; tests replace it.

    Raises:
        BadRequest: `base_url` is not an address, or a header cannot be sent.
        AuthRefused: the key has characters that cannot be sent.
    """

    def __init__(
        self,
        model: Model,
        *,
        limits: ChatLimits | None = None,
        retry: RetryPolicy | None = None,
        headers: Mapping[str, str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.model = model
        self._limits = limits or ChatLimits()
        self._retry = retry or RetryPolicy()
        self._clock = clock or Clock()
        self._protocol, self._service = self._connect(headers or {})
        secrets = (model.api_key or "", *(headers or {}).values())
        self._secrets = tuple(each for each in secrets if len(each) >= _SECRET_LENGTH)

    def _connect(self, headers: Mapping[str, str]) -> tuple[ModelProtocol, Service]:
        model = self.model
        address = read_address(model.base_url)
        self._name = f"{model.protocol} {address.place} {model.name}"
        protocol = protocol_of(model)(model, self._name)
        key = checked_key(model.api_key)
        return protocol, Service(address, headers_of(protocol.headers(key), headers), self._limits)

    def chat(
        self,
        request: ChatRequest,
        *,
        on_delta: OnDelta | None = None,
        cancel: Cancel | None = None,
        seconds: float | None = None,
    ) -> ChatReply:
        """Ask the model.

        Args:
            request: the request.
            on_delta: gets each piece of the reply as it arrives, in the caller's thread; without
                it the reply is not streamed.
            cancel: ends the call within a tenth of a second in any state.
            seconds: a shorter limit than that of the client.

        Raises:
            AgentFailure: by kind. Unavailable (no connection, 5xx), AuthRefused, RateLimited
                (with `until_ms` where it is known), ContextTooLong, BadRequest (its subclass
                ToolsUnsupported), Refused, EmptyReply, Truncated, TooLarge, Stalled, TimedOut,
                AgentInterrupted (cancelled). No message holds the key.
        """
        deadline = self._deadline_of(cancel, seconds)
        started = self._clock.monotonic()

        def attempt() -> ChatReply:
            return self._ask(request, on_delta, deadline)

        reply, attempts = self._repeat(attempt, deadline, on_delta)
        took = round((self._clock.monotonic() - started) * 1000)
        return replace(reply, attempts=attempts, usage=replace(reply.usage, duration_ms=took))

    def list_models(
        self, *, cancel: Cancel | None = None, seconds: float | None = None
    ) -> list[str]:
        """The names of the service's models, in its order.

        Raises:
            AgentFailure: as `chat`.
        """
        deadline = self._deadline_of(cancel, seconds)

        def attempt() -> list[str]:
            with self._service.exchange(
                HttpRequest("GET", self._protocol.models_path), deadline
            ) as response:
                if not _succeeded(response.head):
                    raise failure_from(self._error_of(response))
                builder = ReplyBuilder(self._place)
                builder.head = self._response(response.head)
                names = self._protocol.model_names(document_of(response.whole(), builder))
                if names is None:
                    raise RequestFailed(no_chat(self._place, self.model.protocol))
                return names

        return self._repeat(attempt, deadline, None)[0]

    def close(self) -> None:
        """Close all connections. Safe to call twice."""
        self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def _place(self) -> str:
        return self._service.address.place

    def _deadline_of(self, cancel: Cancel | None, seconds: float | None) -> Deadline:
        most = self._limits.total_seconds
        allowed = most if seconds is None else min(most, seconds)
        return Deadline(allowed, cancel or Cancel(), self._clock, self._place)

    def _repeat(
        self, attempt: Callable[[], _Result], deadline: Deadline, on_delta: OnDelta | None
    ) -> tuple[_Result, int]:
        """Retry until it succeeds or the policy ends it; the result, and the number of requests."""
        retries = Retries(self._retry, self._clock)
        requests = 0
        while True:
            requests += 1
            try:
                return attempt(), requests
            except _Adapted:
                continue
            except RequestFailed as fault:
                failure = self._without_secrets(fault.failure)
                wait = retries.next_wait(fault.after_seconds) if fault.retryable else None
                if wait is None or wait >= deadline.left():
                    raise failure from fault.__cause__
            if on_delta is not None:
                on_delta(Delta(kind="again", text=f"{failure.message}; again in {wait:.1f} s"))
            deadline.wait(wait)

    def _ask(self, request: ChatRequest, on_delta: OnDelta | None, deadline: Deadline) -> ChatReply:
        """One request and its response."""
        stream = on_delta is not None
        wire = sendable(request, plain_keys=getattr(self._protocol, "plain_keys", False))
        request = wire.request
        builder = ReplyBuilder(self._place, wire.shown(on_delta), len(request.messages))
        builder.service = self._name
        path, body = self._protocol.request(request, stream=stream)
        reader = self._protocol.reader(request, builder)
        post = HttpRequest("POST", path, body, self._limits.idle_seconds if stream else None)
        with self._service.exchange(post, deadline) as response:
            if not _succeeded(response.head):
                self._raise_error(response, request, stream=stream)
            builder.head = self._response(response.head)
            model = self.model
            done_ends = model.end_mark == "done"
            Reception(response, reader, builder, done_ends, model.provider, model.protocol).read()
        return wire.received(reader.finish())

    def _raise_error(self, response: HttpResponse, request: ChatRequest, *, stream: bool) -> None:
        """Raise the failure of an error response, or `_Adapted`."""
        error = self._error_of(response)
        if error.status in (400, 422) and self._protocol.adapt(
            request, error.searchable(), stream=stream
        ):
            raise _Adapted
        raise failure_from(error)

    def _error_of(self, response: HttpResponse) -> ErrorResponse:
        return self._response(response.head)._replace(body=response.error_body())

    def _response(self, head: ResponseHead) -> ErrorResponse:
        return ErrorResponse(
            status=head.status,
            headers=head.headers,
            now_ms=self._clock.now_ms(),
            body=b"",
            place=self._place,
            model=self.model.name,
            keyed=bool(self.model.api_key),
        )

    def _without_secrets(self, failure: AgentFailure) -> AgentFailure:
        failure.message = without_secrets(failure.message, self._secrets)
        failure.args = (failure.message,)
        return failure


class _Adapted(Exception):
    """The request is repeated in a form that the service supports."""


def _succeeded(head: ResponseHead) -> bool:
    return 200 <= head.status < 300
