"""The promises of every agent, as tests: subclass `AgentContract` and define three fixtures.

```python
import pytest
from uwf_testing.agent_contract import AgentContract

class TestEcho(AgentContract):
    @pytest.fixture
    def agent(self):
        return "echo"                         # the name of the entry point

    @pytest.fixture
    def options(self, tmp_path):
        return {"program": "echo-program"}    # as in the configuration; none by default

    @pytest.fixture
    def peer(self, tmp_path):
        return EchoPeer(tmp_path)             # see uwf_testing.peer
```

Clauses are skipped, with the reason, if they need a capability that the agent does not declare or
an ability that the peer lacks. `python -m uwf_testing echo --tests tests/` prints a table of the
result.
"""

from uwf_testing.contract import KIT_VERSION, Contract  # first: it registers the rewriting

# isort: split
from uwf_testing.agent_answers import AnswerClauses
from uwf_testing.agent_failures import FailureClauses, TimeClauses
from uwf_testing.agent_isolation import IsolationClauses
from uwf_testing.agent_sessions import SessionClauses
from uwf_testing.harness import Command, KitLimits
from uwf_testing.peer import Act, Peer

__all__ = ["KIT_VERSION", "Act", "AgentContract", "Command", "Contract", "KitLimits", "Peer"]


class AgentContract(AnswerClauses, FailureClauses, TimeClauses, SessionClauses, IsolationClauses):
    """The promises of `Agent`. Every clause runs the agent as the engine does: opened from its
    record, supervised, with limits, and with a validated reply.
    """
