"""What a tool works with: a client for one call."""

from collections.abc import Mapping
from typing import NamedTuple

from uwf_core.client import Client
from uwf_core.engine.engine import Engine


class ToolDriver(Client):
    """The client, and the engine below it."""

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self._engine


class ServedFolder(NamedTuple):
    """Where the server was started: its environment and its folder."""

    env: Mapping[str, str]
    folder: str

    def driver(self, notices: list[str]) -> ToolDriver:
        """A client for one call, which reads settings and store anew; `notices` gets its lines."""
        return ToolDriver.open(env=self.env, cwd=self.folder, via="mcp", on_notice=notices.append)
