"""How servers of the Model Context Protocol really behave: each test plays a public report."""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from uwf_core.api import is_answer, request_number
from uwf_core.testing.project import CommandOutcome, Project
from uwf_testing.model_server import ScriptedModel

ONE = """
version: 1
name: one
roles:
  writer:
    goal: Write.
    tools: [mcp__s__status]
    frontmatter: {properties: {$status: {const: done}}, required: [$status]}
graph:
  $START: {new: {role: writer, prompt: W}, resume: {role: writer, prompt: W}}
  writer: {done: {role: $END, prompt: E}}
"""
CALL = {"toolCalls": [{"name": "mcp__s__status", "arguments": {}}]}
TURNS = [CALL, CALL, "---\n$status: done\n---\n"]
SCHEMA = {"type": "object", "properties": {}}


class Server(ThreadingHTTPServer):
    """A server by HTTP. Its session ends before the `ends`-th request is answered, with `gone`."""

    daemon_threads = True

    def __init__(self, ends: int = 0, gone: tuple[int, str] = (404, ""), **how: Any) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.ends, self.gone = ends, gone
        self.version = how.get("version", "2025-06-18")
        self.is_strict, self.form = how.get("is_strict", False), how.get("form", json.dumps)
        self.forgets = how.get("forgets")
        self.kind = how.get("kind", "application/json")
        self.seen: list[str] = []
        self.sessions = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/mcp"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *_words: Any) -> None:
        pass

    def do_POST(self) -> None:
        server, named = self.server, self.headers.get("mcp-protocol-version")
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, session = message["method"], self.headers.get("mcp-session-id")
        server.seen.append(method)
        if method == "initialize":
            if session or named:
                return self.say(400, "a session or a version before any was agreed on")
            server.sessions += 1
            return self.answer(message, {"protocolVersion": server.version}, server.sessions)
        if len(server.seen) == server.ends and server.sessions == 1:
            server.sessions += 1
        if server.forgets == method:
            return self.say(404)
        if session != f"s{server.sessions}":
            return self.say(*server.gone)
        if server.is_strict and named != server.version:
            return self.say(400, f"unsupported protocol version: {named}")
        if "id" not in message:
            return self.say(202)
        tools = [{"name": "status", "inputSchema": SCHEMA}]
        content = [{"type": "text", "text": "fine"}]
        return self.answer(message, {"tools": tools} if "list" in method else {"content": content})

    def answer(self, message: Any, result: Any, session: int | None = None) -> None:
        text = self.server.form({"jsonrpc": "2.0", "id": message["id"], "result": result})
        self.say(200, text, session)

    def say(self, status: int, text: str = "", session: int | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", self.server.kind)
        self.send_header("content-length", str(len(text.encode())))
        if session is not None:
            self.send_header("mcp-session-id", f"s{session}")
        self.end_headers()
        self.wfile.write(text.encode())


@contextmanager
def serving(**how: Any) -> Iterator[Server]:
    with Server(**how) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


class Run:
    """A run of a role with two calls of a tool; `results` is what the model saw of them."""

    def __init__(self, root: Path, server: dict[str, Any]) -> None:
        with ScriptedModel(TURNS) as model:
            project = Project(root)
            del project.env["UWF_DEFAULT_AGENT"]
            project.workflow("one", ONE)
            coder = {"use": "builtin", "options": {"mcp": {"s": {"seconds": 5, **server}}}}
            project.config(
                f"providers: {{local: {{baseUrl: {model.openai_url}}}}}\n"
                "models: {m: {provider: local, name: m}}\ndefaultModel: m\n"
                f"agents: {{coder: {json.dumps(coder)}}}\ndefaultAgent: coder\n"
            )
            self.done: CommandOutcome = project.uwf("run", "one", "-p", "go", seconds=60)
            sent = model.requests[-1].body["messages"] if model.requests else []
            self.results = [each["content"] for each in sent if each["role"] == "tool"]


ENDED = "modelcontextprotocol/rust-sdk #733, python-sdk #1676, anthropics/claude-code #62008"


@pytest.mark.parametrize(
    "gone", [(404, ""), (404, "<h1>Not found</h1>"), (400, "No valid session ID provided")]
)
@pytest.mark.parametrize("ends", [2, 3, 4, 5], ids=lambda number: f"{ENDED}: request {number}")
def test_a_server_that_restarts_costs_a_role_no_tool(
    tmp_path: Path, ends: int, gone: tuple[int, str]
) -> None:
    with serving(ends=ends, gone=gone) as server:
        run = Run(tmp_path, {"url": server.url})
    assert run.done.document["status"] == "completed", run.done
    assert run.results == ["fine", "fine"]
    assert server.seen.count("initialize") == 2


def test_a_session_is_begun_again_once_for_each_request(tmp_path: Path) -> None:
    with serving(forgets="tools/call") as server:
        run = Run(tmp_path, {"url": server.url})
    assert all("HTTP 404" in each for each in run.results) and len(run.results) == 2
    assert server.seen.count("initialize") == 3
    assert server.seen.count("tools/call") == 4


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_request_names_the_version_that_was_agreed_on(tmp_path: Path, version: str) -> None:
    """newo-ether/Agora #78, modelcontextprotocol/modelcontextprotocol #548; kind: MCP."""
    with serving(version=version, is_strict=True) as server:
        run = Run(tmp_path, {"url": server.url})
    assert run.results == ["fine", "fine"], run.done


def test_a_version_that_uwf_does_not_speak_is_named_with_its_own(tmp_path: Path) -> None:
    with serving(version="1999-01-01") as server:
        failure = Run(tmp_path, {"url": server.url}).done.document["steps"][0]["failure"]
    assert "'1999-01-01'" in failure["message"] and "2025-06-18" in failure["message"]


def as_event(message: Any) -> str:
    text = json.dumps(message, indent=1).replace("\n", "\ndata: ")
    return f": ping\n\nevent: message\ndata: {text}\n\n"


FORMS: dict[str, Any] = {
    "error null": lambda said: json.dumps({**said, "error": None}),
    "every field": lambda said: json.dumps({"method": None, "params": None, "error": None, **said}),
    "text id": lambda said: json.dumps({**said, "id": str(said["id"])}),
    "float id": lambda said: json.dumps({**said, "id": float(said["id"])}),
    "a batch": lambda said: json.dumps([{"method": "notifications/message"}, said]),
    "a byte order mark": lambda said: f"\ufeff{json.dumps(said)}",
}
OF_HTTP = {"an event": as_event}


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream", "text/plain"])
@pytest.mark.parametrize("form", [*FORMS, *OF_HTTP])
def test_an_answer_by_http_may_have_any_form(tmp_path: Path, form: str, kind: str) -> None:
    """gensecaihq/Wazuh-MCP-Server #59; kind: JSON-RPC."""
    with serving(form={**FORMS, **OF_HTTP}[form], kind=kind) as server:
        run = Run(tmp_path, {"url": server.url})
    assert run.results == ["fine", "fine"], run.done


BY_STDIO = """\
import json, sys
how, schema = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    tools = {"tools": [{"name": "status", **schema}]}
    result = {
        "initialize": {"protocolVersion": "2024-11-05"}, "tools/list": tools,
        "tools/call": {"content": [{"type": "text", "text": "fine"}]},
    }[message["method"]]
    id_ = {"text": str, "float": float, "other": lambda _: "zzz"}.get(how, int)(message["id"])
    more = {"error": None, "method": None, "params": None} if how == "fields" else {}
    said = {"jsonrpc": "2.0", "id": id_, "result": result, **more}
    print(json.dumps({"method": "notifications/message", "id": None}))
    print(json.dumps([said] if how == "batch" else said), flush=True)
"""


def by_stdio(root: Path, how: str = "", schema: Any = None) -> Run:
    given = json.dumps([how, {"inputSchema": SCHEMA} if schema is None else schema])
    return Run(root, {"command": sys.executable, "args": ["-S", "-c", BY_STDIO, given]})


@pytest.mark.parametrize("how", ["text", "float", "fields", "batch"])
def test_an_answer_by_stdio_may_have_any_form(tmp_path: Path, how: str) -> None:
    """gensecaihq/Wazuh-MCP-Server #59; kind: JSON-RPC."""
    run = by_stdio(tmp_path, how)
    assert run.results == ["fine", "fine"], run.done


def test_an_answer_with_another_id_is_named(tmp_path: Path) -> None:
    [step] = by_stdio(tmp_path, "other").done.document["steps"]
    assert "'zzz'" in step["failure"]["message"]


@pytest.mark.parametrize(
    "schema",
    [
        {"inputSchema": {"type": "object"}},
        {"inputSchema": {}},
        {"inputSchema": None},
        {},
        {"inputSchema": {"type": "object", "properties": None, "required": None}},
        {"inputSchema": {"properties": {}}},
    ],
    ids=json.dumps,
)
def test_a_tool_without_a_schema_is_a_tool_without_arguments(tmp_path: Path, schema: Any) -> None:
    """mark3labs/mcphost #88, NousResearch/hermes-agent #2095, inboxapi/cli #106; kind: MCP."""
    run = by_stdio(tmp_path, schema=schema)
    assert run.results == ["fine", "fine"], run.done


@given(st.integers(1, 10**9))
def test_an_id_is_the_same_as_a_number_a_float_or_a_text(number: int) -> None:
    for id_ in (number, float(number), str(number), f"{number}.0"):
        assert is_answer({"id": id_, "result": {}}, number)
        assert not is_answer({"id": id_, "result": {}}, number + 1)
        assert not is_answer({"id": id_, "method": "ping"}, number)


@given(st.none() | st.booleans() | st.text() | st.lists(st.integers()) | st.floats())
def test_no_other_id_breaks_or_is_taken_for_one(id_: Any) -> None:
    found = request_number(id_)
    assert found is None or float(id_) == found
