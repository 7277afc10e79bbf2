"""`--changed` runs the tests that a change concerns."""

import pytest
from tests.changed import concerns

STORE = "tests/core/cas/test_store.py"
SOURCE = "uwf-core/src/uwf_core/cas/store.py"


@pytest.mark.parametrize(
    ("changed", "test", "text", "concerned"),
    [
        (SOURCE, STORE, "", True),
        (SOURCE, "tests/e2e/test_demo.py", "", False),
        (SOURCE, "tests/e2e/test_demo.py", "import uwf_core.cas", True),
        ("uwf-agent-acp/src/uwf_agent_acp/agent/turn.py", "tests/acp/test_agent.py", "", True),
        ("uwf-agent-acp/src/uwf_agent_acp/agent/turn.py", STORE, "", False),
        (STORE, STORE, "", True),
        (STORE, "tests/core/cas/test_graph.py", "", False),
        ("tests/core/cas/conftest.py", STORE, "", True),
        ("tests/core/calling.py", STORE, "from tests.core.calling import project", True),
        ("tests/core/calling.py", STORE, "", False),
        ("docs/index.md", STORE, "", False),
    ],
)
def test_a_change_concerns_the_tests_of_its_room_and_those_that_name_it(
    changed: str, test: str, text: str, concerned: bool
) -> None:
    assert concerns(changed, test, text) is concerned
