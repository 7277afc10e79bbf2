"""A scripted model server on 127.0.0.1: OpenAI's chat completions and responses, Anthropic's
messages, Gemini's generateContent.

    with ScriptedModel(["Let me see.", {"text": "Done."}]) as model:
        run_my_agent(base_url=model.openai_url)      # or anthropic_url, gemini_url
    assert model.requests[0].body["model"] == "any-name"
    assert model.turns_left == 0

Real sockets, its own thread, no dependency beyond the core. Streams (SSE) or not, as the
request asks; tools, reasoning, usage with cached tokens, delays, provider-like errors, dropped
connections, garbage: `uwf_testing.model_server_script` has what a turn may say. Requests
beyond the script get 400, which clients do not retry; so do requests that a strict service rejects
(`uwf_testing.model_server_strict`), and they take no turn.

As a program, for agents that are not written in Python (prints its port, then serves until a
signal):

    python -m uwf_testing.model_server SCRIPT.yaml [--port PORT] [--log FILE]

`--log` appends each request as a line of JSON, keys left out.
"""

import argparse
import json
import signal
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from uwf_core.errors import DefinitionError
from uwf_testing import model_server_anthropic as anthropic
from uwf_testing import model_server_gemini as gemini
from uwf_testing import model_server_openai as openai
from uwf_testing import model_server_responses as responses
from uwf_testing.model_server_http import Answer, ModelHttpServer
from uwf_testing.model_server_record import Dialect, ModelReply, ModelRequest, json_reply
from uwf_testing.model_server_script import (
    ModelError,
    ModelScript,
    ModelTurn,
    ModelUsage,
    RawAnswer,
    read_model_script,
)
from uwf_testing.model_server_strict import refusal

_FORMS = {"openai": openai, "anthropic": anthropic, "responses": responses, "gemini": gemini}
_SIDE_USAGE = ModelUsage(input_tokens=1, output_tokens=1)


class ScriptedModel:
    """The server, as a context manager; it serves from `start` (or `with`) to `close`.

    Args:
        turns: the answers of the model, in order: a text, a `ModelTurn`, its mapping in camelCase,
            or a function of the `ModelRequest` that gives a `ModelTurn`.
        side_text: if given, requests without tools take no turn and get this text: agents request
            titles, summaries and guards beside their main loop.
        script: a whole script instead, with all its keys.
        port: 0 takes a free one.

    Raises:
        DefinitionError: a turn is wrong.
    """

    def __init__(
        self,
        turns: Iterable[Any] = (),
        *,
        side_text: str | None = None,
        script: ModelScript | None = None,
        port: int = 0,
        on_request: Callable[[ModelRequest], None] | None = None,
    ) -> None:
        self._script = script or ModelScript(turns=tuple(turns), side_text=side_text)
        self._plan = self._script.plan()
        self._given = 0
        self._requests: list[ModelRequest] = []
        self._on_request = on_request
        self._changed = threading.Condition()
        self._server = ModelHttpServer(port, self._answer)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.005,), name="scripted-model", daemon=True
        )

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    @property
    def openai_url(self) -> str:
        """The base address for OpenAI-compatible clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base address for Anthropic's clients, which add `/v1/messages` themselves."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def gemini_url(self) -> str:
        """The base address for Gemini's clients; Google's own add `/v1beta` themselves."""
        return f"http://127.0.0.1:{self.port}/v1beta"

    @property
    def requests(self) -> list[ModelRequest]:
        """Every request so far, side requests and all, in the order they came."""
        with self._changed:
            return list(self._requests)

    @property
    def turns_left(self) -> int:
        """The number of unused turns of the script (of one round, if it repeats)."""
        with self._changed:
            return max(0, len(self._plan) - self._given)

    def wait_for_requests(self, count: int, seconds: float = 60.0) -> bool:
        """Wait until `count` requests came; False after `seconds` without them."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._requests) >= count, seconds)

    def start(self) -> Self:
        """Serve from now on."""
        self._thread.start()
        return self

    def close(self) -> None:
        """End every connection and thread. Safe to call twice.

        Raises:
            Exception: what a function of the script raised.
        """
        if self._thread.is_alive():
            self._server.close()
            self._thread.join()
        else:
            self._server.server_close()
        if self._server.faults:
            raise self._server.faults.pop()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.close()

    def _answer(self, request: ModelRequest) -> Answer:
        """Answer a request; called by the thread of its connection."""
        path = urlsplit(request.path).path.rstrip("/")
        dialect = _dialect(request.method, path)
        if self._script.api_key not in (None, request.key):
            return self._refusal(request, dialect or "openai", 401, "the key is wrong")
        if dialect is not None:
            return self._of_the_model(replace(request, dialect=dialect))
        self._keep(request)
        if request.method == "POST" and path.endswith("/messages/count_tokens"):
            return Answer(anthropic.count_reply(request))
        if request.method in ("GET", "HEAD"):
            return Answer(_listing(path, self._script.models))
        return Answer(_not_found(path))

    def _of_the_model(self, request: ModelRequest) -> Answer:
        form = request.dialect or "openai"
        if not isinstance(request.body, dict):
            return self._refusal(request, form, 400, "the request is not a JSON mapping")
        refused = refusal(request, form) if self._script.strict else None
        if refused is not None:
            return self._refusal(request, form, 400, refused)
        side = self._script.side_text
        if side is not None and not request.tool_names:
            self._keep(request)
            return _said(ModelTurn(text=side, usage=_SIDE_USAGE), request)
        request, planned = self._take(request)
        if planned is None:
            text = f"the script has {len(self._plan)} turns and all were given"
            return _failed(ModelError(status=400, message=text), form)
        return _said(planned if isinstance(planned, ModelTurn) else planned(request), request)

    def _take(self, request: ModelRequest) -> tuple[ModelRequest, Any]:
        """The next turn, and the request that names it."""
        with self._changed:
            index = self._given
            again = self._script.repeat and bool(self._plan)
            place = index % len(self._plan) if again else index
            planned = self._plan[place] if place < len(self._plan) else None
            if planned is not None:
                self._given += 1
                request = replace(request, turn=index)
            self._keep(request)
        return request, planned

    def _refusal(self, request: ModelRequest, form: Dialect, status: int, text: str) -> Answer:
        self._keep(request)
        return _failed(ModelError(status=status, message=text), form)

    def _keep(self, request: ModelRequest) -> None:
        with self._changed:
            self._requests.append(request)
            if self._on_request is not None:
                self._on_request(request)
            self._changed.notify_all()


def _dialect(method: str, path: str) -> Dialect | None:
    if method != "POST":
        return None
    if path.endswith("/chat/completions"):
        return "openai"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return "gemini"
    return "anthropic" if path.endswith("/messages") else None


def _said(turn: ModelTurn, request: ModelRequest) -> Answer:
    """A turn in the form of the request."""
    form = request.dialect or "openai"
    if turn.error is not None:
        return Answer(_FORMS[form].error_reply(turn.error), turn)
    if turn.raw is not None:
        return Answer(_raw(turn.raw), turn)
    make = _FORMS[form].stream_reply if request.streams else _FORMS[form].whole_reply
    return Answer(make(turn, request, None if turn.no_usage else _usage(turn, request)), turn)


def _failed(error: ModelError, form: Dialect) -> Answer:
    return Answer(_FORMS[form].error_reply(error))


def _usage(turn: ModelTurn, request: ModelRequest) -> ModelUsage:
    if turn.usage is not None:
        return turn.usage
    said = len(turn.whole_text()) + len(turn.reasoning) + len(turn.refusal)
    said += sum(len(call.text()) for call in turn.tool_calls)
    return ModelUsage(input_tokens=len(request.raw) // 4, output_tokens=max(1, said // 4))


def _raw(raw: RawAnswer) -> ModelReply:
    body = raw.body.encode("utf-8", "surrogateescape") * raw.repeat
    return ModelReply(
        parts=(body,), status=raw.status, content_type=raw.content_type, headers=raw.headers
    )


def _listing(path: str, models: Sequence[str]) -> ModelReply:
    """`/models` and `/models/NAME` in a form that both kinds of clients read; else a greeting."""
    entries = [
        {
            "id": name,
            "object": "model",
            "created": 1_700_000_000,
            "owned_by": "uwf",
            "type": "model",
            "display_name": name,
            "created_at": "2023-11-14T22:13:20Z",
        }
        for name in models
    ]
    if path.endswith("/models"):
        return json_reply({"object": "list", "data": entries, "has_more": False})
    if not path:
        return json_reply({"status": "a scripted model"})
    for entry in entries:
        if path.endswith(f"/models/{entry['id']}"):
            return json_reply(entry)
    return _not_found(path)


def _not_found(path: str) -> ModelReply:
    return openai.error_reply(
        ModelError(status=404, message=f"there is nothing at {path}", code="not_found")
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve a script until SIGINT or SIGTERM; the port is the first line on stdout."""
    parser = argparse.ArgumentParser(prog="python -m uwf_testing.model_server")
    parser.add_argument("script", help="YAML; uwf_testing.model_server_script has the format")
    parser.add_argument("--port", type=int, default=0, help="a free one by default")
    parser.add_argument("--log", help="a file to which each request is appended as JSON")
    options = parser.parse_args(arguments)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        script = read_model_script(options.script)
    except DefinitionError as fault:
        parser.error(f"{fault} ({fault.hint})" if fault.hint else str(fault))
    log = _Log(options.log) if options.log else None
    with ScriptedModel(script=script, port=options.port, on_request=log) as model:
        print(model.port, flush=True)
        ended.wait()


class _Log:
    """Appends requests to a file; each line is there as soon as the request is answered."""

    def __init__(self, file: str) -> None:
        self._file = file

    def __call__(self, request: ModelRequest) -> None:
        line = json.dumps(request.document(), ensure_ascii=False)
        with open(self._file, "a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(line + "\n")


if __name__ == "__main__":
    main()
