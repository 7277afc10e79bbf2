"""Receive a reply: as JSON or as a stream of events, which its first bytes decide (services label
both wrongly), up to the end mark of its protocol. What ends without it is a failure, and an error
in any form is the failure that its words mean.
"""

import codecs
import json
from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from uwf_core.errors import Stalled, TimedOut, TooLarge, Truncated, Unavailable
from uwf_core.fields.records import integer
from uwf_llm.error_documents import UNKNOWN, error_in, read_json, status_in
from uwf_llm.failures import RequestFailed
from uwf_llm.protocol import ReplyReader
from uwf_llm.reply import ReplyBuilder
from uwf_llm.service import HttpResponse
from uwf_llm.sse import SseEvent, SseParser

_LAST_SECONDS = 10.0
"""How long to wait for what follows the end of a reply, such as the usage."""
_DONE = "[DONE]"


class Reception(NamedTuple):
    """A response that is to be read.

    Attributes:
        reader, builder: of the protocol, and what it builds.
        done_ends: `[DONE]`, or the end of a whole document, ends a reply (`Model.end_mark`).
        provider: the name of the service in the configuration.
        protocol: the name of its protocol.
    """

    response: HttpResponse
    reader: ReplyReader
    builder: ReplyBuilder
    done_ends: bool
    provider: str
    protocol: str

    def read(self) -> None:
        """Read the reply.

        Raises:
            RequestFailed: it is an error, is something else, or has no end.
            AgentFailure: the time limit was reached, or the call was cancelled.
        """
        start, pieces = _start(self.response)
        if start == b"<":
            raise RequestFailed(web_page(self.builder.place))
        if start not in (b"{", b"["):
            self._stream(pieces)
            return
        body = b"".join(pieces)
        documents, rest = _documents(body.decode("utf-8-sig", "replace"))
        if rest in ("", f"data: {_DONE}", _DONE) and documents:
            # Several are the events of a stream, of which a proxy took the `data:`.
            self._whole(documents[0] if len(documents) == 1 else documents)
        else:
            self._whole(document_of(body, self.builder))

    def _whole(self, document: Any) -> None:
        events = isinstance(document, list) and document
        if events and all(isinstance(each, dict) for each in document):
            # Gemini's stream without `alt=sse`.
            for each in document:
                self._event(each)
        elif (error := error_in(document)) is not None:
            raise self.builder.error(error)
        elif not self.reader.whole(document):
            raise RequestFailed(self._foreign())
        self._check_end(ended=self.done_ends, hint=self._hint())

    def _stream(self, pieces: Iterator[bytes]) -> None:
        parser, marked = SseParser(), False
        try:
            marked = self._events(parser, pieces)
        except (RequestFailed, Stalled, TimedOut, TooLarge):
            # What follows the end of a reply does not discard it; of an error, it has the words.
            if not self.reader.complete or self.builder.is_broken:
                raise
        hint = self._hint() if marked else None
        self._check_end(ended=marked and self.done_ends, hint=hint, stray=parser.stray)

    def _events(self, parser: SseParser, pieces: Iterator[bytes]) -> bool:
        """Read events; whether `[DONE]` ended them."""
        events = (event for piece in pieces for event in parser.feed(piece))
        for event in chain(events, parser.finish()):
            data = event.data.strip()
            if data == _DONE:
                self.response.settle()
                return True
            self._take(data, event)
            if self.reader.done:
                self.response.settle()
                return False
            if self.reader.complete:
                self.response.hurry(_LAST_SECONDS)
        return False

    def _take(self, data: str, event: SseEvent) -> None:
        if event.name.lower().rpartition(".")[2] in ("error", "exception"):
            raise self.builder.error(read_json(data) or {"message": data or event.name})
        if data:
            known = data == "null" or data[0] in "{[" or read_json(data) is not None
            self._event(_parsed(data, self.builder.place) if known else data)  # an error's words

    def _event(self, document: Any) -> None:
        error = error_in(document)
        if error is not None:
            raise self.builder.error(error)
        self.reader.event(document)

    def _check_end(self, *, ended: bool, hint: str | None, stray: str = "") -> None:
        if ended or self.reader.complete:
            return
        error = error_in(stray.strip())
        if error is not None and status_in(error) != UNKNOWN:
            raise self.builder.error(error)
        said = f"; it said:{stray}" if stray else ""
        text = f"{self.builder.place}: the stream ended before the reply did{said}"
        if hint is not None:
            text = f"{self.builder.place}: the reply has no end mark of {self.protocol}{said}"
        raise RequestFailed(Truncated(text, hint=hint), retryable=True)

    def _hint(self) -> str:
        setting = f"providers.{self.provider}.endMark"
        return f"if this service never sends one: uwf config set {setting} done"

    def _foreign(self) -> Unavailable:
        return no_chat(self.builder.place, self.protocol)


def document_of(body: bytes, builder: ReplyBuilder) -> Any:
    """The body of a response as JSON.

    Raises:
        RequestFailed: it is not JSON, or is an error.
    """
    text = body.decode("utf-8-sig", "replace")
    if text.lstrip()[:1] == "<":
        raise RequestFailed(web_page(builder.place))
    document = read_json(text)
    if document is None:
        document = next(iter(_documents(text)[0]), None)  # an error, and something else
        if error_in(document) is None:
            document = _parsed(text, builder.place)
    error = error_in(document)
    if error is not None:
        raise builder.error(error)
    return document


def web_page(place: str) -> Unavailable:
    """The failure for a page instead of a reply."""
    return Unavailable(
        f"{place} is not a model service: it returned a web page",
        hint="check baseUrl; it usually ends with /v1",
    )


def no_chat(place: str, protocol: str) -> Unavailable:
    """The failure for a document that is something else."""
    return Unavailable(
        f"{place} does not speak the protocol {protocol}: it returned something else",
        hint="check baseUrl, which usually ends with /v1, and protocol of the provider",
    )


def _start(response: HttpResponse) -> tuple[bytes, Iterator[bytes]]:
    """The first byte that is neither white space nor a mark of the encoding, and the whole body."""
    pieces, seen = response.pieces(), b""
    for piece in pieces:
        seen += piece
        start = seen.removeprefix(codecs.BOM_UTF8).lstrip()[:1]
        if start and len(seen) >= len(codecs.BOM_UTF8):
            return start, chain((seen,), pieces)
    return seen.removeprefix(codecs.BOM_UTF8).lstrip()[:1], iter((seen,))


def _documents(text: str) -> tuple[list[Any], str]:
    """The documents that a text begins with, and the rest."""
    decoder, found, rest = json.JSONDecoder(parse_int=integer), [], text.strip()
    while rest[:1] in ("{", "["):
        try:
            document, end = decoder.raw_decode(rest)
        except (ValueError, RecursionError):
            break
        found.append(document)
        rest = rest[end:].lstrip()
    return found, rest


def _parsed(text: str, place: str) -> Any:
    try:
        return json.loads(text, parse_int=integer)
    except (ValueError, RecursionError) as fault:
        wrong = Truncated(f"{place}: the response is not JSON: {fault}")
        raise RequestFailed(wrong, retryable=True) from fault
