"""The server, made of the SDK's parts: tools over stdin and stdout.

The SDK's `MCPServer` makes schemas of functions with pydantic. Ours come from the classes of the
documents (`uwf_core.fields`), which its `Server` takes as they are.
"""

import json
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from uwf_core import __version__
from uwf_core.errors import UsageError
from uwf_core.fields.mismatch import FieldFault, suggestion
from uwf_core.fields.records import read_record, shape_of
from uwf_core.mcp import running
from uwf_core.mcp.driver import ServedFolder
from uwf_core.mcp.page import Page, answer_of, page_schema
from uwf_core.mcp.skill import descriptions
from uwf_core.mcp.tools import TOOLS, Tool, tools_of
from uwf_core.process.cancel import Cancel

MOST_CALLS = 8
"""How many calls work at a time; others wait for these."""
_PROGRESS_SECONDS = 2.0
_SLICE_SECONDS = 1.0


class Serving(NamedTuple):
    """What a server needs from the command.

    Attributes:
        allowed: of `tools.PERMISSIONS`. skill: the document with a section for each tool.
        instructions: what a client tells its model about the server.
        clean: makes what a terminal or a model would obey visible in every text of a document.
        error: the document of an error, without secrets.
    """

    place: ServedFolder
    allowed: Collection[str]
    skill: str
    instructions: str
    clean: Callable[[Any], Any]
    error: Callable[[Exception], Mapping[str, Any]]


def serve(serving: Serving) -> None:
    """Answer the client on stdin until it closes it."""
    anyio.run(_serve, serving)


async def _serve(serving: Serving) -> None:
    server = make_server(serving)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def make_server(serving: Serving) -> Server[Any]:
    """A server with the tools that are allowed."""
    tools = tools_of(serving.allowed)
    listed = [*_listed(tools, descriptions(serving.skill))]
    limiter = anyio.CapacityLimiter(MOST_CALLS)

    async def list_tools(_ctx: ServerRequestContext, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(
        context: ServerRequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        call = _Call(serving, limiter, context.session.report_progress)
        try:
            tool = _named(params.name, tools)
            given = _arguments(tool, params.arguments or {})
            answer = await (call.wait(given) if tool.waits else call.once(tool, given))
        except Exception as problem:
            error = serving.clean(serving.error(problem))
            return types.CallToolResult(content=[_text(error)], is_error=True)
        return types.CallToolResult(content=[_text(answer)], structured_content=answer)

    return Server(
        "uwf",
        version=__version__,
        title="United Workforce",
        instructions=serving.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _text(document: Any) -> types.TextContent:
    return types.TextContent(type="text", text=json.dumps(document, ensure_ascii=False))


def _listed(tools: Mapping[str, Tool], texts: Mapping[str, str]) -> list[types.Tool]:
    return [
        types.Tool(
            name=name,
            description=texts[name],
            input_schema=shape_of(tool.arguments).schema(),
            output_schema=page_schema(tool.document, is_run=tool.is_run),
            annotations=types.ToolAnnotations(
                read_only_hint=tool.permission is None,
                destructive_hint=tool.permission is not None and name != "stop",
                idempotent_hint=tool.permission is None or name == "stop",
                open_world_hint=tool.calls_model or tool.permission is not None,
            ),
        )
        for name, tool in tools.items()
    ]


def _named(name: str, tools: Mapping[str, Tool]) -> Tool:
    if name in tools:
        return tools[name]
    if name in TOOLS:
        permission = TOOLS[name].permission
        raise UsageError(
            f"the tool {name!r} is not allowed",
            hint=f"your user can allow it: uwf mcp --allow {permission}",
        )
    raise UsageError(f"unknown tool {name!r}", hint=suggestion(name, tools))


def _arguments(tool: Tool, given: Mapping[str, Any]) -> Any:
    try:
        return read_record(tool.arguments, given)
    except FieldFault as fault:
        subject = f"{fault.path[-1]} " if fault.path else ""
        raise UsageError(
            subject + fault.message, where=f"arguments {fault.place()}".strip(), hint=fault.hint
        ) from fault


class _Call:
    """One call of a tool. Its work is done by a worker thread, since uwf waits for disks."""

    def __init__(
        self,
        serving: Serving,
        limiter: anyio.CapacityLimiter,
        progress: Callable[[float, float | None, str | None], Awaitable[None]],
    ) -> None:
        self._serving = serving
        self._limiter = limiter
        self._progress = progress

    async def once(self, tool: Tool, given: Any) -> dict[str, Any]:
        """Call the function of the tool. If the client cancels the call or leaves, an agent that
        works for it is stopped before this returns.
        """
        cancel = Cancel()
        more = (cancel,) if tool.calls_model else ()
        answer, failure = None, None
        async with anyio.create_task_group() as group:  # it would wrap an error
            group.start_soon(self._accompany, cancel)
            try:
                answer = await self._in_thread(tool.call, given, *more)
            except Exception as problem:
                failure = problem
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure
        assert answer is not None  # only `waited` gives none
        return answer

    async def _accompany(self, cancel: Cancel) -> None:
        """Report progress until the call ends, one way or the other."""
        started = time.monotonic()
        try:
            while True:
                await anyio.sleep(_PROGRESS_SECONDS)
                await self._progress(time.monotonic() - started, None, "working")
        finally:
            cancel.set("the client left, or cancelled the call")

    async def wait(self, given: Any) -> dict[str, Any]:
        """Wait until a run ends, in slices, so that a client that leaves ends it."""
        started = reported = time.monotonic()
        while True:
            passed = time.monotonic() - started
            left = max(given.seconds - passed, 0)
            answer = await self._in_thread(running.waited, given.thread, min(left, _SLICE_SECONDS))
            if answer is not None:
                return answer
            if left <= 0:
                unfinished = await self._in_thread(running.running, given.thread)
                assert unfinished is not None
                return unfinished
            if time.monotonic() - reported >= _PROGRESS_SECONDS:
                reported = time.monotonic()
                await self._progress(passed, float(given.seconds), "running")

    async def _in_thread(
        self, call: Callable[..., Page | None], *given: Any
    ) -> dict[str, Any] | None:
        return await anyio.to_thread.run_sync(self._work, call, given, limiter=self._limiter)

    def _work(self, call: Callable[..., Page | None], given: Any) -> dict[str, Any] | None:
        notices: list[str] = []
        with self._serving.place.driver(notices) as uwf:
            page = call(uwf, *given)
        if page is None:
            return None
        page = page._replace(
            document=self._serving.clean(page.document),
            notices=[self._serving.clean(each) for each in (*notices, *page.notices) if each],
        )
        return answer_of(page)
