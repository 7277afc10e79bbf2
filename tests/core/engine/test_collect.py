"""Collections beside those who work."""

import pytest
from tests.core.engine.conftest import DONE
from tests.core.running import running

from uwf_core.client import Client
from uwf_core.errors import UnknownIdError
from uwf_core.testing.project import Project

LATER_SECONDS = 100
"""As if so much time had passed since everything was put."""


def test_what_a_run_has_put_since_it_began_stays_however_long_it_takes(
    project: Project, uwf: Client
) -> None:
    """A step refers to it only at its end, and nobody else does."""
    thread, text = uwf.start("loop", "The task.")["thread"], uwf.nodes.put_type({"type": "string"})
    with running(project, thread, DONE):
        ref = uwf.nodes.put(text, "what the agent has said so far")
        uwf.collect_garbage(-LATER_SECONDS)
        assert uwf.node(ref)
    assert uwf.collect_garbage(-LATER_SECONDS)["freed"]
    with pytest.raises(UnknownIdError):
        uwf.node(ref)
