"""A thread whose newest step or workflow is gone: said by whoever looks, run by nobody."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.core.engine.conftest import APPROVED, DONE

from uwf_core.client import Client
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import Ref
from uwf_core.testing.project import Project

ASKED = {"role": "developer", "suspend": {"reason": "x", "form": {"type": "object"}}}
FAILED = {"role": "developer", "fail": {"kind": "crashed", "message": "x"}}


@pytest.mark.parametrize("gone", ["head", "workflow"])
@pytest.mark.parametrize("script", [[DONE], [DONE, APPROVED], [ASKED], [FAILED]])
def test_a_thread_without_its_head_or_workflow_is_shown_as_corrupt_and_can_be_forgotten(
    script: Sequence[dict[str, Any]], gone: str, project: Project, uwf: Client, thread: str
) -> None:
    project.script(script)
    uwf.exec(thread, count=2)
    ref = str(uwf.show(thread)[gone])  # type: ignore[literal-required]
    uwf._engine.store.delete([Ref(ref)], 2**62)
    shown, (listed,) = uwf.show(thread), uwf.list()
    assert (shown["status"], listed["status"]) == ("corrupt", "corrupt")
    assert (shown["currentRole"], shown["form"]) == (None, None)
    for run in (uwf.exec, uwf.resume):
        with pytest.raises(CorruptNodeError, match="corrupt"):
            run(thread)
    assert uwf.show(thread) == shown
    uwf.remove(thread)
    assert uwf.list() == []
