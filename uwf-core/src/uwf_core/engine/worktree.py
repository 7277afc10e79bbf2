"""The git worktree of a thread: made before its first step, at the state of the folder in which the
thread was started or from which it was called.
"""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.api.extract import ExtractProblem
from uwf_core.engine.events import save_worktree
from uwf_core.engine.labels import note
from uwf_core.engine.plan import steps_after
from uwf_core.errors import RoutingFailed, UsageError, WrongStateError
from uwf_core.files.surroundings import changes_outside, surroundings_of
from uwf_core.files.unfinished import changed_submodules, doubtful, find_unfinished
from uwf_core.files.worktree import (
    add_worktree,
    commit_of_state,
    commit_worktree,
    find_working_tree,
    folder_of,
    has_folder,
    making_worktree,
)
from uwf_core.files.worktree_entries import WorkingTree
from uwf_core.files.worktree_place import check_place, is_worktree, restore_pointer
from uwf_core.moderator.next import apply_edge
from uwf_core.process import crash_points
from uwf_core.process.git import GitFailed
from uwf_core.thread.calls import STARTED
from uwf_core.thread.decisions import Worktree
from uwf_core.thread.history import typed_input
from uwf_core.thread.worktree import branch_of
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from collections.abc import Callable

    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Attempt, Run
    from uwf_core.thread.head import Head
    from uwf_core.thread.state import ThreadState
    from uwf_core.workflow.definition import Definition, Role

_WORKTREE = "worktree"


def begins_in_worktree(store: "Store", definition: "Definition", state: "ThreadState") -> bool:
    """Whether a thread that has no worktree gets one before its first step: its call decides, and
    its workflow if no call waits for it.
    """
    if state.caller is not None:
        called = store.payload(state.caller.event)
        if called["purpose"] != STARTED:
            return called["base"] is not None
    return definition.workspace == _WORKTREE


def in_worktree(run: "Run") -> "Run":
    """The run of a thread with its worktree, which is made now if the thread has none yet; of any
    other thread unchanged.

    Raises:
        RoutingFailed: it cannot be made, or is gone; nothing is stored.
        UsageError: another folder shall replace it, or it is on another machine.
    """
    state = run.head.state
    if state.worktree is None and not begins_in_worktree(run.engine.store, run.definition, state):
        return run
    if run.cwd is not None:
        raise UsageError(
            f"thread {state.thread} works in a separate git worktree, which --cwd cannot replace",
            hint="repeat the command without --cwd",
        )
    if state.worktree is None:
        return _with_new_worktree(run)
    if run.head.is_queued:
        from uwf_core.engine.moving import is_elsewhere, moved_here  # for threads of workers

        if is_elsewhere(run.head):
            return moved_here(run)
    _restore(run, run.watch.notice)
    if not is_worktree(state.worktree.folder):
        raise _missing(run)
    return run


def _restore(run: "Run", notice: "Callable[[str], None]") -> None:
    """Write the `.git` of the thread's worktree again if somebody deleted it."""
    own = run.head.state.worktree
    if own is not None and restore_pointer(own.folder, own.origin):
        notice(f"the .git of the worktree {own.folder} was deleted; it is restored")


def _missing(run: "Run") -> RoutingFailed:
    state = run.head.state
    assert state.worktree is not None
    folder, branch = state.worktree.folder, state.worktree.branch
    if Path(folder).is_dir():
        [problem] = find_unfinished(folder, branch)
        return RoutingFailed(problem, hint=f"next: uwf thread exec {state.thread}")
    return RoutingFailed(
        f"the worktree {folder!r} of thread {state.thread} is missing",
        hint=f"if the branch {branch} still exists: git worktree prune, then git worktree add "
        f"{folder} {branch}; else a new thread continues in a new worktree: uwf thread fork "
        f"{run.head.ref}",
    )


def _with_new_worktree(run: "Run") -> "Run":
    engine, thread, origin = run.engine, run.head.thread, run.head.state.cwd
    caller = run.head.state.caller
    base = None if caller is None else engine.store.payload(caller.event)["base"]
    folder, branch = folder_of(engine.home, thread), branch_of(thread)
    tree = _working_tree(origin)
    message = _message(run, "state of the folder")
    try:
        base = base or commit_of_state(tree, message, without=engine.home)
        _check_folder(tree, base, origin)
        with making_worktree(tree, folder, branch) as lock:
            crash_points.reach("worktree")
            add_worktree(tree.top, folder, base, branch, inherits=(lock,))
            crash_points.reach("worktree-made")
            head = _recorded(run, tree, origin, base)
    except (GitFailed, OSError) as error:
        message = f"cannot make a git worktree for {origin!r}: {error}"
        raise RoutingFailed(message, hint=_CURE) from error
    return run._replace(head=head)


def _recorded(run: "Run", tree: WorkingTree, origin: str, base: str) -> "Head":
    folder = folder_of(run.engine.home, run.head.thread)
    own = Worktree(folder, branch_of(run.head.thread), base, origin)
    cwd = f"{folder}/{tree.inside}" if tree.inside else folder
    return save_worktree(run.engine, run.head, own, tree.top, cwd)


_CURE = "fix the cause, then repeat the command; `git status` in that folder may show more"


def _working_tree(folder: str) -> WorkingTree:
    try:
        return find_working_tree(folder)
    except (GitFailed, OSError) as error:
        raise RoutingFailed(
            f"no git worktree can begin at {folder!r}: {error}",
            hint="the folder must lie in a git working tree with a commit (git init, git add -A, "
            "git commit); or remove `workspace: worktree` from the workflow",
        ) from error


def _check_folder(tree: WorkingTree, base: str, origin: str) -> None:
    if not has_folder(tree, base):
        raise RoutingFailed(
            f"the folder {origin!r} is not in commit {base[:12]}, at which its worktree begins: it "
            "is ignored, empty, or of another repository",
            hint="start the thread in a folder with files that git does not ignore, or change the "
            "edge's location",
        )


def _message(run: "Run", what: str) -> str:
    state = run.head.state
    return f"uwf: {what}\n\nThread {state.thread} of {state.workflow_name}."


# -- a step ----------------------------------------------------------------------------------------


def before_step(run: "Run", attempt: "Attempt") -> None:
    """Check that git finds the worktree where it is, before an agent changes anything there, and
    look at what surrounds it.

    Raises:
        RoutingFailed: git takes another folder for the worktree.
    """
    own = run.head.state.worktree
    assert own is not None
    try:
        check_place(own.folder)
    except GitFailed as error:
        raise RoutingFailed(
            f"no agent can work in the worktree of thread {run.head.thread}: {error}",
            hint="correct that setting, then repeat the command",
        ) from error
    with suppress(GitFailed, OSError):  # such as a folder of the user that is gone
        attempt.outside = surroundings_of(own.origin, run.engine.home)


def unfinished_work(run: "Run", attempt: "Attempt") -> "tuple[ExtractProblem, ...]":
    """What a role has left unfinished in the worktree, so that the step cannot be recorded. What a
    person is asked about next, or what a program has reported as its failure, is a notice.
    """
    own, role = attempt.head.state.worktree, attempt.task.role
    assert own is not None and attempt.output is not None
    _restore(run, lambda text: note(run, attempt, text))
    try:
        found = find_unfinished(own.folder, own.branch)
    except (GitFailed, OSError) as error:
        found = [f"git cannot read the worktree {own.folder}: {error}"]
    if found and not run.definition.roles[role].human and not _is_reported(run, attempt):
        return tuple(ExtractProblem("", each) for each in found)
    for each in found:
        note(run, attempt, each)
    return ()


def _is_reported(run: "Run", attempt: "Attempt") -> bool:
    """Whether a person is asked next, or a program has failed, and the thread continues."""
    assert attempt.output is not None
    definition, role = run.definition, attempt.task.role
    given = typed_input(run.engine.store, definition, attempt.head.state)
    program = definition.roles[role].program
    try:
        steps = steps_after(run, attempt, attempt.output)
        to = apply_edge(definition, role, attempt.output, attempt.body, given, steps)
    except RoutingFailed:
        return False
    if to.status == "suspended":
        return True
    failed = program is not None and attempt.output[STATUS] != program.statuses.get("0")
    return failed and to.status == "idle"


def after_step(run: "Run", attempt: "Attempt") -> None:
    """Note what changed outside of the worktree during a step, and what only submodules have."""
    own, before = attempt.head.state.worktree, attempt.outside
    if own is None or before is None:
        return
    attempt.outside = None
    try:
        after = surroundings_of(own.origin, run.engine.home)
        notices = changes_outside(before, after, own.branch)
    except (GitFailed, OSError) as error:
        notices = [f"what changed outside of the worktree is not known: {error}"]
    if is_worktree(own.folder):
        with suppress(GitFailed):  # then the step has failed with the cause
            notices += [*changed_submodules(own.folder), *doubtful(own.folder, own.base)]
    for each in notices:
        note(run, attempt, each)


# -- calls -----------------------------------------------------------------------------------------


def calls_in_worktree(run: "Run", role: "Role", called: "Definition") -> bool:
    """Whether a called thread begins in a worktree: its workflow decides, or, for a branch, the
    edge or the workflow of the edge. An edge with `shared: true` decides otherwise.
    """
    edge = role.fan_out
    if edge is None:
        return called.workspace == _WORKTREE
    if edge.workspace == _WORKTREE:
        return True
    return not edge.shared and _WORKTREE in (run.definition.workspace, called.workspace)


def base_of_calls(run: "Run", folder: str) -> str:
    """The commit at which the worktrees of called threads begin: the state of the folder that the
    caller works in. In the caller's own worktree, that is a commit on its branch, so that it can
    be merged into what the caller does next.

    Raises:
        RoutingFailed: there can be no worktree.
        UsageError: `--cwd` replaces the folder of the caller.
    """
    if run.cwd is not None:
        raise UsageError(
            f"thread {run.head.thread} calls threads that begin in git worktrees of its folder, "
            "which --cwd cannot replace",
            hint="repeat the command without --cwd",
        )
    tree, own = _working_tree(folder), run.head.state.worktree
    message = _message(run, f"state before step {run.head.state.steps + 1}")
    try:
        if own is not None and tree.top == find_working_tree(own.folder).top:
            return commit_worktree(own.folder, own.branch, message)
        return commit_of_state(tree, message, without=run.engine.home)
    except (GitFailed, OSError) as error:
        message = f"cannot commit the state of {folder!r}: {error}"
        raise RoutingFailed(message, hint=_CURE) from error


def commit_result(run: "Run", child: "ThreadState") -> None:
    """Commit what the roles of a completed thread left uncommitted in its worktree, if it has one,
    so that its branch has all of their work.

    Raises:
        WrongStateError: git cannot; nothing is recorded.
    """
    own = child.worktree
    if own is None or child.status != "completed":
        return
    if not is_worktree(own.folder):
        run.watch.notice(
            f"the worktree {own.folder} of thread {child.thread} is gone; its branch {own.branch} "
            "has only what was committed"
        )
        return
    message = f"uwf: work of thread {child.thread}\n\nWorkflow {child.workflow_name}."
    try:
        commit_worktree(own.folder, own.branch, message)
    except (GitFailed, OSError) as error:
        raise WrongStateError(
            f"cannot commit the work of thread {child.thread} in {own.folder!r}: {error}",
            hint=f"fix the cause there, then: uwf thread exec {run.head.thread}",
        ) from error
