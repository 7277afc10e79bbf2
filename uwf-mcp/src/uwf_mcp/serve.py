"""The server, made of the SDK's parts: tools over stdin and stdout.

The SDK's `MCPServer` makes schemas of functions with pydantic. Ours come from the table of
operations and the classes of the documents, which its `Server` takes as they are.
"""

import json
import re
import time
from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from uwf_core import __version__
from uwf_core.client import Cancel, Client
from uwf_core.commands import Session, clean_document, document_text, error_document
from uwf_core.errors import UsageError
from uwf_core.fields.mismatch import suggestion
from uwf_core.fields.records import shape_of
from uwf_mcp.page import answer_of
from uwf_mcp.tools import TOOLS, ServedTool, allowed_tools

PROGRESS_SECONDS = 2.0
TOOLS_HEADING = "## The tools of `uwf mcp`"


def serve(session: Session, folder: str, allowed: Collection[str]) -> None:
    """Answer the client on stdin until it closes it."""
    anyio.run(_serve, make_server(session, folder, allowed))


async def _serve(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def make_server(session: Session, folder: str, allowed: Collection[str]) -> Server[Any]:
    """A server with the tools that are allowed. Each call reads settings and store anew."""
    tools = allowed_tools(allowed)
    listed = [*map(_listed, tools.values())]

    async def list_tools(_ctx: ServerRequestContext, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            tool, given = _named(params.name, tools), params.arguments or {}
            work = partial(_answer, session, folder, tool, given)
            answer = await _called(work, context)
        except Exception as problem:
            error = clean_document(error_document(session, problem))
            return types.CallToolResult(content=[_text(error)], is_error=True)
        return types.CallToolResult(content=[_text(answer)], structured_content=answer)

    return Server(
        "uwf",
        version=__version__,
        title="United Workforce",
        instructions=f"{introduction('bootstrap')}\n\n{introduction('usage', TOOLS_HEADING)}",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def introduction(document: str, heading: str = "# .*") -> str:
    """The text between the title of a document for agents, or another heading, and the next
    section: what a client tells its model about the server.
    """
    text = document_text(document)
    after_title = re.split(f"^{heading}\n", text, maxsplit=1, flags=re.MULTILINE)[1]
    return re.split(r"^## ", after_title, maxsplit=1, flags=re.MULTILINE)[0].strip()


def _text(document: Any) -> types.TextContent:
    return types.TextContent(type="text", text=json.dumps(document, ensure_ascii=False))


def _listed(tool: ServedTool) -> types.Tool:
    reads = tool.permission == "read"
    is_free = reads and not tool.uses_agent  # an agent answers each time anew, for tokens
    return types.Tool(
        name=tool.name,
        description=tool.text,
        input_schema=shape_of(tool.arguments).schema(),
        output_schema=tool.schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=is_free,
            destructive_hint=not reads and tool.name != "stop",
            idempotent_hint=is_free or tool.name == "stop",
            open_world_hint=tool.uses_agent,
        ),
    )


def _named(name: str, tools: Mapping[str, ServedTool]) -> ServedTool:
    if name in tools:
        return tools[name]
    if name in TOOLS:
        raise UsageError(
            f"the tool {name!r} is not allowed",
            hint=f"your user can allow it: uwf mcp --allow {TOOLS[name].permission}",
        )
    raise UsageError(f"unknown tool {name!r}", hint=suggestion(name, tools))


async def _called(work: Any, context: ServerRequestContext) -> dict[str, Any]:
    """What a worker thread answers, since uwf waits for disks. If the client cancels the call or
    leaves, an agent that works for it is stopped before this returns.
    """
    cancel = Cancel()
    answer, failure = dict[str, Any](), None
    async with anyio.create_task_group() as group:  # it would wrap an error
        group.start_soon(_accompany, context, cancel)
        try:
            answer = await anyio.to_thread.run_sync(work, cancel)
        except Exception as problem:
            failure = problem
        group.cancel_scope.cancel()
    if failure is not None:
        raise failure
    return answer


async def _accompany(context: ServerRequestContext, cancel: Cancel) -> None:
    """Report progress until the call ends, one way or the other."""
    started = time.monotonic()
    try:
        while True:
            await anyio.sleep(PROGRESS_SECONDS)
            await context.session.report_progress(time.monotonic() - started, None, "working")
    finally:
        cancel.set("the client left, or cancelled the call")


def _answer(
    session: Session, folder: str, tool: ServedTool, given: Mapping[str, Any], cancel: Cancel
) -> dict[str, Any]:
    """The answer of a tool, with what a terminal or a model would obey made visible."""
    notices, more, read = list[str](), dict[str, Any](), tool.read(given)
    with Client.open(env=session.env, cwd=folder, via="mcp", on_notice=notices.append) as uwf:
        document = tool.call(uwf, read, cancel)
    if tool.is_run:
        document, code, error = document
        more = {"exitCode": int(code)}
        notices += filter(None, () if error is None else (error.message, error.hint))
    page = getattr(read, "offset", 0), getattr(read, "limit", None)
    answer = answer_of(clean_document(document), tool.pages, *page, clean_document(notices))
    return {**answer, **more}
