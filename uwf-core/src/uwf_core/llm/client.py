"""The client: one request with its attempts."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self, TypeVar

from uwf_core.api.agent import Model
from uwf_core.api.fields import integer
from uwf_core.errors import AgentFailure, Stalled, Truncated, Unavailable
from uwf_core.llm.adapt import Quirks, adapted_quirks
from uwf_core.llm.body import BodyWriter, response_format
from uwf_core.llm.chat import ChatReply, ChatRequest, Delta
from uwf_core.llm.exchange import Deadline, ResponseHead
from uwf_core.llm.failures import ErrorResponse, RequestFailed, failure_from, without_secrets
from uwf_core.llm.limits import ChatLimits, Clock, Retries, RetryPolicy
from uwf_core.llm.reply import OnDelta, ReplyBuilder
from uwf_core.llm.service import HttpRequest, HttpResponse, Service
from uwf_core.llm.sse import SseParser
from uwf_core.process.cancel import Cancel

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
        self._service = Service(model.base_url, model.api_key, headers or {}, self._limits)
        secrets = (model.api_key or "", *(headers or {}).values())
        self._secrets = tuple(each for each in secrets if len(each) >= _SECRET_LENGTH)
        self._quirks = Quirks()
        self._name = f"{self._place} {model.name}"
        self._bodies = BodyWriter(model, self._name)

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
            with self._service.exchange(HttpRequest("GET", "/models"), deadline) as response:
                if not _succeeded(response.head):
                    raise failure_from(self._error_of(response))
                return _model_names(_document(response, self._place), self._place)

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
        quirks, stream = self._quirks, on_delta is not None
        builder = ReplyBuilder(self._place, on_delta, len(request.messages))
        post = HttpRequest(
            "POST",
            "/chat/completions",
            self._bodies.body(request, quirks, stream=stream),
            self._limits.idle_seconds if stream else None,
        )
        with self._service.exchange(post, deadline) as response:
            if not _succeeded(response.head):
                self._raise_error(response, request, quirks, stream=stream)
            if stream and _is_stream(response.head):
                _read_stream(response, builder, self._place)
            elif not builder.take(_document(response, self._place)):
                raise RequestFailed(_no_chat(self._place))
        form = response_format(request, quirks)
        return replace(builder.finish(), response_format=form, service=self._name)

    def _raise_error(
        self, response: HttpResponse, request: ChatRequest, quirks: Quirks, *, stream: bool
    ) -> None:
        """Raise the failure of an error response, or `_Adapted`."""
        error = self._error_of(response)
        if error.status in (400, 422):
            adapted = adapted_quirks(quirks, request, error.searchable(), stream=stream)
            if adapted is not None:
                self._quirks = adapted
                raise _Adapted
        raise failure_from(error)

    def _error_of(self, response: HttpResponse) -> ErrorResponse:
        return ErrorResponse(
            status=response.head.status,
            headers=response.head.headers,
            now_ms=self._clock.now_ms(),
            body=response.error_body(),
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


def _is_stream(head: ResponseHead) -> bool:
    """Whether the body holds events; some servers never stream."""
    kind = head.headers.get("content-type", "")
    return "json" not in kind and "html" not in kind


def _read_stream(response: HttpResponse, builder: ReplyBuilder, place: str) -> None:
    """Read events until the reply is complete.

    Raises:
        RequestFailed: it broke off before that.
    """
    try:
        if _read_events(response, builder, place):
            return
    except (RequestFailed, Stalled):
        # An error after the end of the reply does not discard it.
        if not builder.ended:
            raise
    if not builder.ended:
        failure = Truncated(f"{place}: the stream ended before the reply did")
        raise RequestFailed(failure, retryable=True)


def _read_events(response: HttpResponse, builder: ReplyBuilder, place: str) -> bool:
    """Read events; whether the stream has its end mark."""
    parser = SseParser()
    for piece in response.pieces():
        for data in parser.feed(piece):
            if _take_event(data, builder, place):
                response.settle()
                return True
    return any(_take_event(data, builder, place) for data in parser.finish())


def _take_event(data: str, builder: ReplyBuilder, place: str) -> bool:
    """Add one event; whether it is the end mark."""
    data = data.strip()
    if data and data != "[DONE]":
        builder.take(_parsed(data, place))
    return data == "[DONE]"


def _document(response: HttpResponse, place: str) -> Any:
    """The body as JSON."""
    kind = response.head.headers.get("content-type", "")
    text = response.whole().decode("utf-8", "replace")
    if "html" in kind or text.lstrip()[:1] == "<":
        raise RequestFailed(_no_chat(place, "a web page"))
    return _parsed(text, place)


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_int=integer)
    except (ValueError, RecursionError) as fault:
        wrong = Truncated(f"{place}: the response is not JSON: {fault}")
        raise RequestFailed(wrong, retryable=True) from fault


def _no_chat(place: str, what: str = "something else") -> Unavailable:
    return Unavailable(
        f"{place} is not an OpenAI-compatible service: it returned {what}",
        hint="check baseUrl; it usually ends with /v1",
    )


def _model_names(document: Any, place: str) -> list[str]:
    """From `{data: [{id}]}`, `{models: [{name}]}` (ollama and others) or a bare list."""
    listed = document
    if isinstance(document, dict):
        listed = document.get("data", document.get("models"))
    if not isinstance(listed, list):
        raise RequestFailed(_no_chat(place))
    entries = [entry for entry in listed if isinstance(entry, dict)]
    names = [entry.get("id", entry.get("name")) for entry in entries]
    return [name for name in names if isinstance(name, str)]
