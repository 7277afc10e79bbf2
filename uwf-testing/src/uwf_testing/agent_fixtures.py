"""The fixtures of the agent contract: those of the author, and the harness."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.scan import AGENTS
from uwf_testing.harness import Command, Harness, KitLimits
from uwf_testing.peer import NoPeer, Peer
from uwf_testing.plugin_contract import PluginWithOptionsContract


class AgentFixtures(PluginWithOptionsContract):
    """The fixtures of an agent contract. An author defines `agent`, `peer` and, if the agent needs
    any, `options`.
    """

    kind = "agent"
    group = AGENTS

    limits: ClassVar[KitLimits] = KitLimits()
    """How long the kit waits, and how much it sends."""

    writes_below_home: ClassVar[tuple[str, ...]] = ()
    """Paths relative to the home folder in which the program behind the agent keeps its files (such
    as `.config/echo`). Any other file in the home folder is an error.
    """

    @pytest.fixture
    def agent(self) -> str | Command:
        """The name of the agent to test, or a command."""
        raise NotImplementedError("define a fixture `agent` that returns the agent's name")

    @pytest.fixture
    def options(self) -> Mapping[str, Any]:
        """The agent's options, as in the configuration."""
        return {}

    @pytest.fixture
    def peer(self) -> Peer:
        """The scripted peer."""
        return NoPeer()

    @pytest.fixture
    def plugin_name(self, agent: str | Command) -> str:
        """The name of the entry point; a command has none."""
        if isinstance(agent, Command):
            pytest.skip("a command is declared in the configuration, not announced")
        return agent

    @pytest.fixture
    def harness(
        self,
        agent: str | Command,
        options: Mapping[str, Any],
        peer: Peer,
        plugins: Plugins,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> Iterator[Harness]:
        """The agent and its peer in separate folders, which are also HOME and TMPDIR of this
        process.
        """
        harness = Harness(agent, options, peer, self.limits, plugins)
        harness.settle(tmp_path / "harness")
        monkeypatch.setenv("HOME", str(harness.home))
        monkeypatch.setenv("TMPDIR", str(harness.temporary))
        monkeypatch.setattr(tempfile, "tempdir", None)
        try:
            yield harness
        finally:
            harness.clean_up()

    def subject(self, request: pytest.FixtureRequest) -> str:
        """The agent's name."""
        harness: Harness = request.getfixturevalue("harness")
        return harness.name

    def declared(self, request: pytest.FixtureRequest) -> frozenset[str]:
        """The agent's capabilities."""
        harness: Harness = request.getfixturevalue("harness")
        return harness.capabilities()

    def why_not(self, name: str, request: pytest.FixtureRequest) -> str | None:
        """Why the peer lacks an ability; None: it has it."""
        harness: Harness = request.getfixturevalue("harness")
        return harness.peer.why_not(name)
