"""A server made with the official SDK: by stdio, or with a port by HTTP."""

import os
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")


@server.tool()
def add(a: int, b: int) -> str:
    """Add two numbers."""
    return f"{a} + {b} = {a + b}"


@server.tool()
def environment(variable: str) -> str:
    """A variable of the server's environment."""
    return os.environ.get(variable, "not set")


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("the disk is full")


@server.tool()
def long() -> str:
    """A long text."""
    return "x" * 100_000


@server.tool()
def wide() -> str:
    """A text whose characters have three bytes each."""
    return "\N{CJK UNIFIED IDEOGRAPH-6587}" * 20_000


if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run()
