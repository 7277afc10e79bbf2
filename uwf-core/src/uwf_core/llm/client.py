"""The client: a request, its attempts, and what comes of them."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypeVar

from uwf_core.api.agent import Model
from uwf_core.api.numbers import integer
from uwf_core.errors import AgentFailure, Stalled, Truncated, Unavailable
from uwf_core.llm.adapt import Manners, better_manners
from uwf_core.llm.body import BodyWriter, response_format
from uwf_core.llm.chat import ChatReply, ChatRequest, Delta
from uwf_core.llm.exchange import Head, Patience
from uwf_core.llm.failures import Fault, Refusal, fault_of, without_secrets
from uwf_core.llm.limits import ChatLimits, Clock, Retries, RetryPolicy
from uwf_core.llm.reply import Draft, OnDelta
from uwf_core.llm.service import Answer, Outgoing, Service
from uwf_core.llm.sse import SseParser
from uwf_core.process.cancel import Cancel

_Result = TypeVar("_Result")
_SECRET_LENGTH = 8


class ChatClient:
    """Calls one model of one service. Any number of threads may use it; `close` it at the end.

    Args:
        model: what and where, from the configuration; `api_key` None sends no key.
        limits: how long and how large.
        retry: when a failed request is made again.
        headers: further headers; their values are kept out of errors as the key is.
        clock: time and chance; tests bring their own.

    Raises:
        BadRequest: `base_url` is no address, or a header cannot be sent.
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
        self._manners = Manners()
        self._bodies = BodyWriter()

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
            request: what is asked.
            on_delta: gets each piece of the reply as it comes, in the caller's thread; the reply
                is streamed only if it is there.
            cancel: ends the call within a tenth of a second, whatever it waits for.
            seconds: a shorter limit than that of the client.

        Raises:
            AgentFailure: by kind. Unavailable (no connection, 5xx), AuthRefused, RateLimited
                (with `until_ms` where it is known), ContextTooLong, BadRequest (its subclass
                ToolsUnsupported), Refused, EmptyReply, Truncated, TooLarge, Stalled, TimedOut,
                AgentInterrupted (cancelled). No message holds the key.
        """
        patience = self._patience(cancel, seconds)
        started = self._clock.monotonic()

        def attempt() -> ChatReply:
            return self._ask(request, on_delta, patience)

        reply, attempts = self._repeat(attempt, patience, on_delta)
        took = round((self._clock.monotonic() - started) * 1000)
        return replace(reply, attempts=attempts, usage=replace(reply.usage, duration_ms=took))

    def list_models(
        self, *, cancel: Cancel | None = None, seconds: float | None = None
    ) -> list[str]:
        """The names of the models that the service has, in its order.

        Raises:
            AgentFailure: as `chat`.
        """
        patience = self._patience(cancel, seconds)

        def attempt() -> list[str]:
            with self._service.exchange(Outgoing("GET", "/models"), patience) as answer:
                if not _succeeded(answer.head):
                    raise fault_of(self._refusal(answer))
                return _model_names(_document(answer, self._place), self._place)

        return self._repeat(attempt, patience, None)[0]

    def close(self) -> None:
        """Close all connections. Safe to call twice."""
        self._service.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _place(self) -> str:
        return self._service.address.place

    def _patience(self, cancel: Cancel | None, seconds: float | None) -> Patience:
        most = self._limits.total_seconds
        allowed = most if seconds is None else min(most, seconds)
        return Patience(allowed, cancel or Cancel(), self._clock, self._place)

    def _repeat(
        self, attempt: Callable[[], _Result], patience: Patience, on_delta: OnDelta | None
    ) -> tuple[_Result, int]:
        """Try until it succeeds or no further attempt is worth it; the result, and the number of
        requests.
        """
        retries = Retries(self._retry, self._clock)
        requests = 0
        while True:
            requests += 1
            try:
                return attempt(), requests
            except _AskOtherwise:
                continue
            except Fault as fault:
                failure = self._without_secrets(fault.failure)
                wait = retries.next_wait(fault.after_seconds) if fault.again else None
                if wait is None or wait >= patience.left():
                    raise failure from fault.__cause__
            if on_delta is not None:
                on_delta(Delta(kind="again", text=f"{failure.message}; again in {wait:.1f} s"))
            patience.wait(wait)

    def _ask(self, request: ChatRequest, on_delta: OnDelta | None, patience: Patience) -> ChatReply:
        """One request and its answer."""
        manners, stream = self._manners, on_delta is not None
        draft = Draft(self._place, on_delta, len(request.messages))
        outgoing = Outgoing(
            "POST",
            "/chat/completions",
            self._bodies.body(self.model.name, request, manners, stream=stream),
            self._limits.idle_seconds if stream else None,
        )
        with self._service.exchange(outgoing, patience) as answer:
            if not _succeeded(answer.head):
                self._refused(answer, request, manners, stream=stream)
            if stream and _is_stream(answer.head):
                _read_stream(answer, draft, self._place)
            elif not draft.take(_document(answer, self._place)):
                raise Fault(_no_chat(self._place))
        return replace(draft.finish(), response_format=response_format(request, manners))

    def _refused(
        self, answer: Answer, request: ChatRequest, manners: Manners, *, stream: bool
    ) -> None:
        """Raise what an error of the service means, unless it can be asked in another way."""
        refusal = self._refusal(answer)
        if refusal.status in (400, 422):
            better = better_manners(manners, request, refusal.everything(), stream=stream)
            if better is not None:
                self._manners = better
                raise _AskOtherwise
        raise fault_of(refusal)

    def _refusal(self, answer: Answer) -> Refusal:
        head, now_ms = answer.head, self._clock.now_ms()
        body = answer.error_body()
        keyed = bool(self.model.api_key)
        return Refusal(head.status, head.headers, body, self._place, self.model.name, now_ms, keyed)

    def _without_secrets(self, failure: AgentFailure) -> AgentFailure:
        failure.message = without_secrets(failure.message, self._secrets)
        failure.args = (failure.message,)
        return failure


class _AskOtherwise(Exception):
    """The same request is made once more, in a way that the service takes."""


def _succeeded(head: Head) -> bool:
    return 200 <= head.status < 300


def _is_stream(head: Head) -> bool:
    """Whether events are to be expected; some servers answer whole whatever is asked."""
    kind = head.headers.get("content-type", "")
    return "json" not in kind and "html" not in kind


def _read_stream(answer: Answer, draft: Draft, place: str) -> None:
    """Read events until the reply is whole.

    Raises:
        Fault: it broke off before.
    """
    try:
        if _read_events(answer, draft, place):
            return
    except (Fault, Stalled):
        # What comes after the end of the reply is not worth losing it.
        if not draft.ended:
            raise
    if not draft.ended:
        raise Fault(Truncated(f"{place}: the stream ended before the reply did"), again=True)


def _read_events(answer: Answer, draft: Draft, place: str) -> bool:
    """Read events; whether the stream says that it is done."""
    parser = SseParser()
    for piece in answer.pieces():
        for data in parser.feed(piece):
            if _take_event(data, draft, place):
                answer.settle()
                return True
    return any(_take_event(data, draft, place) for data in parser.finish())


def _take_event(data: str, draft: Draft, place: str) -> bool:
    """One event; whether it is the last."""
    data = data.strip()
    if data and data != "[DONE]":
        draft.take(_parsed(data, place))
    return data == "[DONE]"


def _document(answer: Answer, place: str) -> Any:
    """The body as JSON."""
    kind = answer.head.headers.get("content-type", "")
    text = answer.whole().decode("utf-8", "replace")
    if "html" in kind or text.lstrip()[:1] == "<":
        raise Fault(_no_chat(place, "a web page"))
    return _parsed(text, place)


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_int=integer)
    except (ValueError, RecursionError) as fault:
        wrong = Truncated(f"{place}: the answer is no JSON: {fault}")
        raise Fault(wrong, again=True) from fault


def _no_chat(place: str, what: str = "something else") -> Unavailable:
    return Unavailable(
        f"{place}: no OpenAI-compatible service is there: it answers {what}",
        hint="is baseUrl right? It usually ends with /v1",
    )


def _model_names(document: Any, place: str) -> list[str]:
    """`{data: [{id}]}`; ollama's and others' `{models: [{name}]}` and bare lists are taken too."""
    listed = document
    if isinstance(document, dict):
        listed = document.get("data", document.get("models"))
    if not isinstance(listed, list):
        raise Fault(_no_chat(place))
    entries = [entry for entry in listed if isinstance(entry, dict)]
    names = [entry.get("id", entry.get("name")) for entry in entries]
    return [name for name in names if isinstance(name, str)]
