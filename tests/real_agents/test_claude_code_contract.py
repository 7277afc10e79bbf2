"""The contract of every agent, kept by Claude Code itself."""

from typing import ClassVar

import pytest
from claude_code_peer import NEWER, ClaudePeer

from uwf_testing.agent_contract import AgentContract, KitLimits


@pytest.mark.filterwarnings("ignore:Class-scoped fixture")
class TestClaudeCode(AgentContract):
    limits: ClassVar = KitLimits(
        call_seconds=60.0,
        hang_seconds=2.0,
        cancel_seconds=1.5,
        slack_seconds=20.0,
        large_bytes=2_000_000,
        reply_bytes=50_000,
    )
    writes_below_home: ClassVar = (".claude", ".claude.json")

    @pytest.fixture
    def agent(self):
        return "claude-code"

    @pytest.fixture
    def peer(self, tmp_path):
        return ClaudePeer(tmp_path / "peer", NEWER)
