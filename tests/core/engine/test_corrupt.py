"""A thread whose newest step or workflow is gone: said by whoever looks, run by nobody."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.core.engine.conftest import APPROVED, DONE
from tests.store_file import opened_store

from uwf_core.client import Client, ThreadFilter
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


@pytest.mark.parametrize("place", [0, 4, 9, 12, 25])
def test_one_altered_character_of_a_threads_id_spoils_no_list(
    place: int, project: Project, uwf: Client
) -> None:
    threads = [uwf.start("loop", f"Task {number}.")["thread"] for number in range(3)]
    altered = threads[1][:place] + "u" + threads[1][place + 1 :]  # no character of an id
    with opened_store(project.home / "store.db") as store:
        names = (f"@uwf/thread/{altered}", f"@uwf/thread/{threads[1]}")
        store.execute("UPDATE variable SET name = ? WHERE name = ?", names)
    rows = {row["thread"]: row for row in uwf.list()}
    assert set(rows) == {threads[0], altered, threads[2]}
    assert rows[altered]["status"] == "corrupt"
    assert "perhaps its id" in str(rows[altered]["suspendMessage"])
    since_first = uwf.list(ThreadFilter(all=True, after_ms=rows[threads[2]]["startedAtMs"] - 1))
    assert threads[2] in [row["thread"] for row in since_first]
