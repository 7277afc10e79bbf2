"""The branches of a recorded fan-out, checked against their threads and their tasks of now.

The prompts of branches are recorded in their threads alone, and their results in both.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.engine.location import folder_of_edge
from uwf_core.engine.plan import with_text
from uwf_core.ids import Ref
from uwf_core.replay.compare import same_text, same_value
from uwf_core.replay.walk import Difference
from uwf_core.thread.history import body_of, read_step, text_at
from uwf_core.thread.worktree import branch_of
from uwf_core.workflow.fan_out import (
    CANCELLED,
    RESULTS,
    BranchTask,
    branch_result,
    joint_output,
    joint_status,
)
from uwf_core.workflow.variants import GIT_BRANCH, PLACE
from uwf_core.yaml.text import frontmatter

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.replay.chain import Recorded
    from uwf_core.thread.links import CalledThread
    from uwf_core.workflow.definition import Role


def branch_key(task: BranchTask) -> str:
    """What distinguishes a branch from the others of its fan-out: its name or number."""
    return str(task.place) if task.name is None else task.name


def task_of(called: "CalledThread", tasks: Sequence[BranchTask]) -> BranchTask | None:
    """The task that a recorded branch has now; None if there is no such branch any more."""
    found = next((each for each in tasks if branch_key(each) == called.key), None)
    return found if found is not None and found.branch.role == called.role else None


def instruction_of(store: "Store", attempt: "Recorded", task: BranchTask) -> str:
    """The task of a branch with the words of a person to the fan-out."""
    return with_text(task.prompt, text_at(store, attempt.payload["attempt"]["said"]))


def list_differences(attempt: "Recorded", tasks: Sequence[BranchTask]) -> Iterator[Difference]:
    """Whether a fan-out has the same branches, in the same order."""
    recorded = [f"{each.key}: {each.role}" for each in attempt.called]
    now = [f"{branch_key(each)}: {each.branch.role}" for each in tasks]
    if recorded != now:
        yield Difference("branches", _listed(recorded), _listed(now))


def _listed(branches: Sequence[str]) -> str:
    return "\n".join(("the branches:", *branches)) if branches else "no branch"


def task_differences(
    store: "Store",
    attempt: "Recorded",
    event: str | None,
    task: BranchTask,
    before: BranchTask | None,
    cwd: str,
) -> Iterator[Difference]:
    """How the prompt and the folder of a branch differ.

    Args:
        store: where they are. attempt: the fan-out.
        event: of the call of the branch; None for a thread that is deleted.
        task: what it is to do now. before: in the recorded workflow, if that has it.
        cwd: the folder of the calling thread.
    """
    if before is not None:
        recorded, now = (folder_of_edge(cwd, each.location) for each in (before, task))
        if recorded != now:
            yield Difference("location", recorded, now)
    if event is not None:
        text = store.text(Ref(store.payload(Ref(event))["prompt"]))
        now = instruction_of(store, attempt, task)
        if not same_text(text, now):
            yield Difference("prompt", text, now)


def joint_differences(store: "Store", attempt: "Recorded", role: "Role") -> Iterator[Difference]:
    """Whether a step of a fan-out has recorded what its branches delivered, and in which status
    that results now.
    """
    assert role.fan_out is not None
    payload: Any = attempt.payload
    joined = store.payload(Ref(payload["output"]))
    results = []
    for called in attempt.called:
        assert called.place is not None
        status = called.status or ""
        if status == CANCELLED:
            results.append(branch_result(called.place, status, "", None))
            continue
        last = read_step(store, Ref(str(called.end)))
        output, thread = store.payload(Ref(last.payload["output"])), last.payload["thread"]
        if thread != called.thread or last.payload["next"]["status"] != "completed":
            recorded = f"thread {called.thread} completed with step {last.ref}"
            now = f"that is a step of thread {thread}: {last.payload['next']['status']}"
            yield Difference("called", recorded, now)
        if output["$status"] != status:
            recorded = f"thread {called.thread} ended with {status}"
            yield Difference("called", recorded, f"it ended with {output['$status']}")
        text = body_of(store, last)
        place = _place(joined, called)
        results.append(branch_result(called.place, output["$status"], text, output, place))
    statuses = [each["$status"] for each in results]
    status = joint_status(statuses, role.fan_out.then or ())
    joint = joint_output(status, results, [each.name for each in attempt.called])
    if not same_value(joined, joint):
        yield Difference("output", frontmatter(joined, ""), frontmatter(joint, ""))


def _place(joined: Any, called: "CalledThread") -> dict[str, str]:
    """The worktree of a branch, which only the joint result records if its thread is deleted."""
    for found in joined[RESULTS]:
        if found.get(GIT_BRANCH) == branch_of(called.thread):
            return {name: found[name] for name in PLACE}
    return {}
