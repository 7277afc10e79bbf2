"""What can go wrong between a client and an agent.

AcpError
├── RpcError           the agent answered a request with an error
├── BadAnswer          it answered something that the protocol does not know
├── Abandoned          nobody waits for the answer any more
└── ConnectionClosed   it ended, or closed its output, before it had answered
"""

from typing import Any

PARSE_ERROR, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32601, -32602, -32603
"""Codes of JSON-RPC 2.0, https://www.jsonrpc.org/specification#error_object"""


class AcpError(Exception):
    """The root: something between us and the agent."""


class RpcError(AcpError):
    """An error object of JSON-RPC. Raised for the agent's, and by our services for the agent."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"{message} ({code})" if data is None else f"{message} ({code}): {data}")
        self.code = code
        self.message = message
        self.data = data


class BadAnswer(AcpError):
    """An answer without what its method promises; the message names both."""


class Abandoned(AcpError):
    """The request was given up while it waited for its answer; the message is its method."""


class ConnectionClosed(AcpError):
    """The agent's output ended before the answer to `method`.

    `noise` is the last thing it said that was no message, "" where there was none.
    """

    def __init__(self, method: str, noise: str = "") -> None:
        said = f"; it said {noise!r}" if noise else ""
        super().__init__(f"the connection ended before {method} was answered{said}")
        self.method = method
        self.noise = noise
