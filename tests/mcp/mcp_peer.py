"""`uwf mcp`, and the official SDK's client of it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
from anyio.from_thread import start_blocking_portal
from mcp.client._memory import InMemoryTransport
from mcp.client.stdio import stdio_client

from mcp import ClientSession, StdioServerParameters
from uwf_core.commands import Session
from uwf_core.testing.project import Project
from uwf_mcp.serve import make_server

CALL_SECONDS = 60.0

REVIEWED = """
version: 1
name: reviewed
description: A text that a person approves.
roles:
  writer:
    goal: Write.
    frontmatter:
      properties: {$status: {const: done}, text: {type: string}}
      required: [$status]
  person:
    human: true
    goal: Approve.
    frontmatter: {properties: {$status: {const: approved}}, required: [$status]}
graph:
  $START:
    new: {role: writer, prompt: Write it.}
    resume: {role: writer, prompt: Write it again.}
  writer: {done: {role: person, prompt: Look at it.}}
  person: {approved: {role: $END, prompt: Done.}}
"""


class Peer:
    """The client of a server, for tests that are not asynchronous."""

    def __init__(self, portal: Any, session: ClientSession) -> None:
        self._portal = portal
        self.session = session
        self.progress: list[str | None] = []

    def run(self, call: Any, *given: Any) -> Any:
        """The result of a coroutine."""
        return self._portal.call(call, *given)

    def tools(self) -> dict[str, Any]:
        """The tools by name."""
        return {each.name: each for each in self.run(self.session.list_tools).tools}

    def raw(self, tool: str, **given: Any) -> Any:
        """The whole answer of a tool."""

        async def heard(_passed: float, _total: float | None, message: str | None) -> None:
            self.progress.append(message)

        async def call() -> Any:
            with anyio.fail_after(CALL_SECONDS):
                return await self.session.call_tool(tool, given, progress_callback=heard)

        return self.run(call)

    def answer(self, tool: str, **given: Any) -> dict[str, Any]:
        """The answer of a tool that must succeed; the client validates it by its schema."""
        found = self.raw(tool, **given)
        assert not found.is_error, found.content[0].text
        return found.structured_content

    def __call__(self, tool: str, **given: Any) -> dict[str, Any]:
        """The document of a tool that must succeed."""
        return self.answer(tool, **given)["recorded"]

    def fault(self, tool: str, **given: Any) -> str:
        """The text of the error of a tool that must fail."""
        found = self.raw(tool, **given)
        assert found.is_error, found.content[0].text
        return found.content[0].text


@contextmanager
def connected(
    project: Project, *words: str, as_process: bool = False, **env: str
) -> Iterator[Peer]:
    """A server in the project's folder, and its client. `as_process`: the server is a process, as
    for users; in this one it starts in a tenth of the time.
    """
    command = project.command("mcp", *words)
    program = StdioServerParameters(
        command=command[0], args=command[1:], env={**project.env, **env}, cwd=project.folder
    )
    with start_blocking_portal() as portal, ExitStack() as stack:
        enter = portal.wrap_async_context_manager
        streams: Any = stdio_client(program)
        if not (as_process or env):
            asked = Session()
            asked.env = project.env  # type: ignore[assignment]
            server = make_server(asked, str(project.folder), words[1::2])
            streams = InMemoryTransport(server)
        reader, writer = stack.enter_context(enter(streams))
        session = stack.enter_context(enter(ClientSession(reader, writer)))
        portal.call(session.initialize)
        failure = None
        try:
            yield Peer(portal, session)
        except Exception as problem:  # the client's task groups would wrap it
            failure = problem
    if failure is not None:
        raise failure
