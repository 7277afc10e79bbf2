"""What a tool works with: the methods of the client, for one call."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from uwf_core.driving.acting import ThreadDriver
from uwf_core.engine.engine import Engine
from uwf_core.engine.open_engine import open_engine
from uwf_core.engine.watch import Listener
from uwf_core.views.recorded import open_step


class ToolDriver(ThreadDriver):
    """The methods of the client, and the engine below them."""

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self._engine

    def read_step(self, step: str) -> str:
        """The turns and the output of a step, as Markdown."""
        from uwf_core.views.read import read_step

        return read_step(open_step(self._engine, step))


class ServedFolder(NamedTuple):
    """Where the server was started: its environment and its folder."""

    env: Mapping[str, str]
    folder: str

    @contextmanager
    def driver(self, notices: list[str]) -> Iterator[ToolDriver]:
        """A driver for one call, which reads settings and store anew; `notices` gets its lines."""
        engine = open_engine(
            env=self.env,
            cwd=self.folder,
            via="mcp",
            on_fault=lambda fault: notices.append(f"{fault}"),
        )
        try:
            yield ToolDriver(engine, Listener(None, notices.append))
        finally:
            engine.close()
