"""Limits above branches that run at the same time, each in a process."""

from pathlib import Path

import pytest
from tests.core.calling import children
from tests.core.obeying import for_each, joined, obeying_project, statuses, task
from tests.faults.calls import miscounted
from tests.step_parts import call_of

from uwf_core.client import Client
from uwf_core.testing.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    def reserving(name: str, dollars: float, most: str) -> str:
        role = f"  worker:\n    reserve: {{costUsd: {dollars}}}\n"
        return for_each(name, most=most).replace("  worker:\n", role)

    return obeying_project(
        tmp_path, many=reserving("many", 0.5, "16"), careful=reserving("careful", 1, "4")
    )


def limited(project: Project, workflow: str, dollars: float, *does: str) -> str:
    """A root that may cost so many US dollars; its planner costs half of one."""
    words = ("thread", "start", workflow, "-p", task(*does), "--max-cost", str(dollars))
    thread = project.uwf(*words).document["thread"]
    assert isinstance(thread, str)
    return thread


def test_sixteen_branches_exceed_a_limit_by_what_running_steps_use_above_their_reservations(
    project: Project, uwf: Client
) -> None:
    limit, reserved, cost = 4.0, 0.5, 0.75
    fit = 7  # into what the planner has left
    root = limited(project, "many", limit, *[f"meet={fit} cost={cost}"] * 16)
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["suspendReason"]) == (5, "limit")
    below = children(uwf, root)
    steps = [step.node for child in below for step in uwf.thread(child).steps()]
    assert len(steps) == fit
    used = uwf.show(root)["usage"]["costUsd"]
    assert used == 0.5 + cost * fit == limit + fit * (cost - reserved)
    assert miscounted(uwf, root) is None
    assert set(statuses(uwf, root)) == {"completed", "limit"}


def test_a_branch_that_a_reservation_holds_up_runs_once_another_has_used_less(
    project: Project, uwf: Client
) -> None:
    root = limited(project, "careful", 2, *["cost=0.25 sleep=100"] * 3)
    outcome = uwf.exec(root, until_done=True)
    assert (outcome.exit_code, outcome.document["status"]) == (0, "completed"), outcome
    assert len(call_of(joined(uwf, root))["branches"]) == 3
    assert miscounted(uwf, root) is None
