"""The servers of a call, started when it begins and ended with it, and their tools."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any

from uwf_agent_builtin.mcp.connection import (
    Connection,
    Deadline,
    McpError,
    ProgramConnection,
    handshake,
)
from uwf_agent_builtin.options import McpServer
from uwf_agent_builtin.redaction import cleaned
from uwf_agent_builtin.schemas import problems
from uwf_agent_builtin.tools.errors import ToolError
from uwf_agent_builtin.tools.record import Arguments, BuiltinTool, CallContext, ServerTools, cut
from uwf_core.api import Call, Unavailable
from uwf_llm.sendable import safe_name

RESULT_BYTES = 32 * 1024
_OUTPUT_BYTES = 64 * 1024 * 1024
_PAGES, _TOOLS, _TOOL_CHARACTERS, _DESCRIPTION = 20, 128, 32_000, 2_000


@contextmanager
def open_servers(
    servers: Mapping[str, McpServer], call: Call, narrowed: Sequence[str] | None
) -> Iterator[ServerTools]:
    """Start the servers that the role may use, and list their tools.

    Args:
        servers: by name. call: with the whole environment; a server gets what it declares.
        narrowed: the tools of the role; None allows all.

    Raises:
        Unavailable: one of them does not start, or does not list its tools.
    """
    with ExitStack() as opened:
        tools: list[BuiltinTool] = []
        wrong: list[str] = []
        for name, server in servers.items():
            prefix = f"mcp__{name}__"
            if narrowed is not None and not any(each.startswith(prefix) for each in narrowed):
                continue
            try:
                connection = _connect(server, call)
                opened.callback(connection.close)
                until = Deadline(server.seconds, call.cancel)
                handshake(connection, until)
                found = _Listing(prefix, server, connection)
                found.read(until)
            except McpError as fault:
                hint = f"check `mcp.{name}` of the agent's options"
                raise Unavailable(f"the MCP server {name!r} {fault}", hint=hint) from fault
            tools += found.tools
            wrong += found.problems
        names = None if narrowed is None else set(map(safe_name, narrowed))
        kept = tuple(each for each in tools if names is None or each.name in names)
        yield ServerTools(kept, tuple(wrong), _record(kept) if tools or wrong else None)


def _connect(server: McpServer, call: Call) -> Connection:
    if server.url is not None:
        from uwf_agent_builtin.mcp.http_connection import HttpConnection  # only where it is used

        token = call.env.get(server.token_env) if server.token_env else None
        return HttpConnection(server.url, token)
    assert server.command is not None
    declared = {name: call.env[name] for name in server.env if name in call.env}
    limits = replace(call.limits, idle_seconds=None, reply_bytes=_OUTPUT_BYTES)
    own = replace(call, env={**cleaned(call.env), **declared}, limits=limits)
    try:
        return ProgramConnection(own.start_program([server.command, *server.args], stdin=None))
    except Unavailable as fault:
        raise McpError(f"cannot be started: {fault.message}") from fault


class _Listing:
    """The tools of one server."""

    def __init__(self, prefix: str, server: McpServer, connection: Connection) -> None:
        self._prefix = prefix
        self._server = server
        self._connection = connection
        self.tools: list[BuiltinTool] = []
        self.problems: list[str] = []

    def read(self, until: Deadline) -> None:
        """Read all pages of the list.

        Raises:
            McpError: the server fails, or its list does not end.
        """
        cursor: Any = None
        for _ in range(_PAGES):
            params = {} if cursor is None else {"cursor": cursor}
            page = self._connection.request("tools/list", params, until)
            listed = page.get("tools")
            if not isinstance(listed, list):
                raise McpError("answered tools/list without a list of tools")
            for each in listed:
                self._add(each)
            cursor = page.get("nextCursor")
            if not isinstance(cursor, str):
                return
        raise McpError(f"lists its tools on more than {_PAGES} pages")

    def _add(self, listed: Any) -> None:
        fields = listed if isinstance(listed, Mapping) else {}
        own, parameters = fields.get("name"), _completed(fields.get("inputSchema"))
        about = fields.get("description")
        if not isinstance(own, str) or not own.strip():
            self._leave_out(own, "it has no name")
            return
        if self._server.tools is not None and own not in self._server.tools:
            return
        name = safe_name(f"{self._prefix}{own}")
        if any(each.name == name for each in self.tools):
            self._leave_out(own, "the server has several of this name")
        elif len(self.tools) >= _TOOLS:
            self._leave_out(own, f"the server has more than {_TOOLS} tools")
        elif (why := _fault(parameters)) is not None:
            self._leave_out(own, why)
        else:
            text = about if isinstance(about, str) else ""
            run = _Run(own, self._server, self._connection)
            self.tools.append(BuiltinTool(name, text[:_DESCRIPTION], parameters, run))

    def _leave_out(self, name: Any, why: str) -> None:
        if len(self.problems) < 20:
            self.problems.append(f"the tool {self._prefix}{str(name)[:80]!r} is left out: {why}")


def _completed(schema: Any) -> Any:
    """The schema of a tool's arguments; one that is missing is that of no arguments."""
    if schema is not None and not isinstance(schema, Mapping):
        return schema
    given = {name: value for name, value in (schema or {}).items() if value is not None}
    return {"type": "object", "properties": {}, **given}


def _fault(parameters: Any) -> str | None:
    """Why a schema of arguments cannot be used."""
    if not isinstance(parameters, Mapping) or parameters.get("type") != "object":
        return "the schema of its arguments is not that of an object"
    if len(json.dumps(parameters)) > _TOOL_CHARACTERS:
        return f"the schema of its arguments has more than {_TOOL_CHARACTERS} characters"
    try:
        problems(parameters, {})
    except Exception as fault:  # of the validator: an invalid schema, a remote reference
        return f"the schema of its arguments is invalid: {str(fault)[:200]}"
    return None


class _Run:
    """Calls a tool of a server."""

    def __init__(self, name: str, server: McpServer, connection: Connection) -> None:
        self._name = name
        self._server = server
        self._connection = connection

    def __call__(self, arguments: Arguments, context: CallContext) -> str:
        seconds = max(0.1, min(self._server.seconds, context.seconds_left()))
        until = Deadline(seconds, context.call.cancel)
        params = {"name": self._name, "arguments": dict(arguments)}
        try:
            result = self._connection.request("tools/call", params, until)
        except McpError as fault:
            raise ToolError(f"the server {fault}") from fault
        text = _bounded(_text_of(result))
        if result.get("isError"):
            raise ToolError(text or "the tool failed")
        return text


def _bounded(text: str) -> str:
    """`text`, without its middle where it has more than `RESULT_BYTES` bytes in UTF-8."""
    found, most = text, RESULT_BYTES
    while len(found.encode("utf-8", "surrogatepass")) > RESULT_BYTES:
        most = most * 7 // 8
        found = cut(text, most, "the result")
    return found


def _text_of(result: Mapping[str, Any]) -> str:
    """The texts of a result; other content is named."""
    content = result.get("content")
    parts = []
    for each in content if isinstance(content, list) else ():
        kind = each.get("type") if isinstance(each, Mapping) else None
        text = each.get("text") if isinstance(each, Mapping) else None
        resource = each.get("resource") if isinstance(each, Mapping) else None
        if isinstance(resource, Mapping):
            text = resource.get("text")
        parts.append(text if isinstance(text, str) else f"[content of the type {kind!r:.60}]")
    if not parts and "structuredContent" in result:
        parts.append(json.dumps(result["structuredContent"], ensure_ascii=False))
    return "\n".join(parts)


def _record(tools: Sequence[BuiltinTool]) -> str:
    listed = {
        each.name: {"description": each.description, "parameters": each.parameters}
        for each in sorted(tools, key=lambda each: each.name)
    }
    return json.dumps(listed, ensure_ascii=False, indent=1)
