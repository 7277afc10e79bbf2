"""The contract of every puppet; test_wrong_agents.py runs it in processes of their own."""

import os

import pytest
from folders import tmp_path
from kit_agents.names import ANNOUNCED_WRONGLY, BREAKS, NAMES, WITH_PROGRAMS
from kit_agents.peer import PuppetPeer, QuickPeer
from short_form import shortened

from uwf_testing.agent_contract import AgentContract, KitLimits

__all__ = ["tmp_path"]

QUICK = KitLimits(
    call_seconds=4.0,
    hang_seconds=0.06,
    cancel_seconds=0.3,  # later than the call begins, else nothing is cancelled
    grace_seconds=0.3,
    slack_seconds=5.0,
    gone_seconds=0.6,
    large_bytes=2_000_000,
)


class Puppets:
    """The fixtures; the agent is the class's own."""

    limits = QUICK

    @pytest.fixture
    def agent(self):
        return type(self).__name__.removeprefix("Test_")

    @pytest.fixture
    def peer(self, tmp_path):
        folder = tmp_path / "peer"
        folder.mkdir()
        return QuickPeer(folder)


class WithPrograms(Puppets):
    """For what may be wrong with programs, real ones are run, which need their time."""

    limits = QUICK._replace(hang_seconds=1.0, call_seconds=6.0)

    @pytest.fixture
    def peer(self, tmp_path):
        folder = tmp_path / "peer"
        folder.mkdir()
        return PuppetPeer(folder)


names = (*WITH_PROGRAMS, *(name for name in (*NAMES, *ANNOUNCED_WRONGLY)))
part, parts = map(int, os.environ.get("KIT_PART", "0/1").split("/"))
for name in list(dict.fromkeys(names))[part::parts]:
    fixtures = WithPrograms if name in WITH_PROGRAMS else Puppets
    broken = BREAKS[name] if name in BREAKS else (ANNOUNCED_WRONGLY[name],)
    contract = type(f"Test_{name}", (fixtures, AgentContract), {})
    globals()[contract.__name__] = shortened(contract, broken)
