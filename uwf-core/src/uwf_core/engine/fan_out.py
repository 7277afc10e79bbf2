"""The calls of a fan-out: what each branch is to do, and where."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.engine.call_step import called_definition, earlier_call
from uwf_core.engine.location import folder_in_run, folder_of_edge, lasting_folder
from uwf_core.engine.plan import HeadPosition, with_text
from uwf_core.errors import CorruptNodeError
from uwf_core.moderator.branches import branch_count, branch_tasks
from uwf_core.moderator.next import template_data
from uwf_core.thread.branches import BRANCH
from uwf_core.thread.calls import NewCall, OpenCall
from uwf_core.thread.history import body_of, output_of
from uwf_core.thread.limits import named
from uwf_core.workflow.fan_out import ASKED, ITEM, OUTPUT, BranchTask
from uwf_core.workflow.variants import STEPS

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Run, Task
    from uwf_core.engine.plan import Position
    from uwf_core.thread.earlier import EarlierSteps
    from uwf_core.workflow.definition import Definition, Role


def calls_of_branches(run: "Run", role: "Role", task: "Task") -> list[NewCall]:
    """The calls of all branches, in their order: none for an empty list.

    Raises:
        RoutingFailed: there is no such list, it is too long, or a branch has no prompt or folder.
    """
    position = HeadPosition(run, run.head)
    most = run.engine.settings.limits.branches
    tasks = tasks_of(run.engine.store, position, role, most, before=task.number)
    return [_new_call(run, role, task, each) for each in tasks]


def tasks_of(
    store: "Store", position: "Position", role: "Role", most: int, *, before: int
) -> Sequence[BranchTask]:
    """The tasks of the branches at a position, for the step with the number `before`.

    Raises:
        RoutingFailed: see `branch_tasks`.
    """
    assert role.fan_out is not None
    data = _data(store, position, role, position.steps(before=before))
    return branch_tasks(role.fan_out, _place(role), data, most=most)


def check_branches(run: "Run", role: "Role", calls: Sequence[OpenCall]) -> None:
    """Check that no name of a branch was lost: its result would be left out.

    Raises:
        CorruptNodeError: one was.
    """
    assert role.fan_out is not None
    data = _data(run.engine.store, HeadPosition(run, run.head), role)
    count = branch_count(role.fan_out, _place(role), data)
    if [call.place for call in calls] != list(range(count)):
        thread = run.head.thread
        raise CorruptNodeError(
            f"thread {thread} has the names of {len(calls)} of {count} branches of {role.name}",
            hint=f"next: uwf cas verify {thread} --repair",
        )


def _place(role: "Role") -> str:
    source, _, status = role.name.rpartition("/")
    return f"graph.{source}.{status}"


def _data(
    store: "Store", position: "Position", role: "Role", steps: "EarlierSteps | None" = None
) -> dict[str, Any]:
    """What the names in templates mean: the output that took the edge. A step of the fan-out that
    waited for a person came after that.
    """
    ref = position.prev
    assert ref is not None
    while (step := position.step(ref)).payload["role"] == role.name:
        ref = step.payload["prev"]
        assert ref is not None
    output, body = output_of(store, step), body_of(store, step)
    return template_data(position.definition, output, body, position.given, steps)


def _new_call(run: "Run", role: "Role", task: "Task", each: BranchTask) -> NewCall:
    branch, state = each.branch, run.head.state
    definition = called_definition(run, str(branch.workflow))
    earlier = None
    if each.name is not None:
        earlier = earlier_call(
            run, definition, state.role(role.name).sessions.get(BRANCH + each.name)
        )
    return NewCall(
        plays=branch.role,
        definition=definition,
        base=each.prompt,
        instruction=with_text(each.prompt, task.said),
        cwd=_folder(run, each),
        given=_given(run.definition, definition, each),
        limits=None if branch.limits is None else dict(named(branch.limits)) or None,
        earlier=earlier,
        place=each.place,
        name=each.name,
    )


def _folder(run: "Run", each: BranchTask) -> str:
    folder = folder_of_edge(run.head.state.cwd, each.location)
    return lasting_folder(run, folder_in_run(run, folder))


def _given(caller: "Definition", definition: "Definition", each: BranchTask) -> Any:
    """What the typed input of a branch is taken from: the item of a list, else the output. The
    program of a role gets all that its arguments can name, a person the prompt. The steps of the
    caller stay there.
    """
    read, *item = each.contexts
    output = {name: value for name, value in read.items() if name != STEPS or not caller.steps}
    if definition.branch:
        return {OUTPUT: output, ASKED: each.prompt, **({ITEM: item[0]} if item else {})}
    return item[0] if item else output


def program_contexts(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the names in the arguments of a program mean in the thread of a branch."""
    return (given[OUTPUT], given[ITEM]) if ITEM in given else (given[OUTPUT],)
