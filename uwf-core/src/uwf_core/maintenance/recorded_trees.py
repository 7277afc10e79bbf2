"""The trees of recorded files that the steps of a thread name."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from uwf_core.ids import Ref
from uwf_core.thread.decisions import workspace_of
from uwf_core.thread.history import Step, failed_steps, newest_first, read_step
from uwf_core.thread.names import attempts_prefix
from uwf_core.thread.worktree import branch_of

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.head import Head
    from uwf_core.thread.types import WorkspacePayload

_TREE: Final = re.compile(r"[0-9a-f]{64}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class RecordedTree(NamedTuple):
    """A tree, and of which moment it is: `before step X`."""

    tree: str
    moment: str


def trees_of(store: "Store", head: "Head", seen: set[str]) -> list[RecordedTree]:
    """The trees of a thread, oldest first: of its steps, its failed attempts, and its open attempt.

    Those of steps that are `seen`, in a thread that shares them, are left out; its own are added.

    Raises:
        StoreError: a node is missing or damaged.
    """
    found = list[RecordedTree]()
    for variable in store.variables(attempts_prefix(head.thread)):
        attempt = store.payload(Ref(variable.value))
        found += _trees(workspace_of(attempt), f"attempt {variable.value}")
    for step in steps_of(store, head, seen):
        found += _trees(workspace_of(step.payload), f"step {step.ref}")
    return found[::-1]


def _trees(workspace: "WorkspacePayload | None", what: str) -> Iterator[RecordedTree]:
    if workspace is None:
        return
    for moment, snapshot in (("after", workspace["after"]), ("before", workspace["before"])):
        if snapshot is not None and snapshot["tree"] is not None:
            yield RecordedTree(snapshot["tree"], f"{moment} {what}")


def gaps_of(store: "Store", heads: "Iterable[Head]") -> list[str]:
    """What is not recorded of the files of threads: the moment and the cause of each gap, once."""
    gaps, seen = dict[str, str](), set[str]()
    for head in heads:
        for step in reversed([*steps_of(store, head, seen)]):
            workspace = workspace_of(step.payload)
            if workspace is None:
                continue
            for moment, found in (("before", workspace["before"]), ("after", workspace["after"])):
                if found is not None and found["reason"] is not None:
                    gaps.setdefault(found["reason"], f"{moment} step {step.ref}")
    return [f"{moment}: {reason}" for reason, moment in gaps.items()]


def steps_of(store: "Store", head: "Head", seen: set[str]) -> Iterator[Step]:
    """The steps and failed attempts of a thread that are not `seen`, newest first."""
    for ref in reversed(failed_steps(store, head.state)):
        yield read_step(store, ref)
    for step in newest_first(store, Ref(head.ref), Ref(head.state.start)):
        if step.ref in seen:
            return
        seen.add(step.ref)
        yield step
        for failed in reversed(step.payload["previousAttempts"]):
            yield read_step(store, Ref(failed))


def wrong_git_name(kind: str, payload: Mapping[str, Any]) -> str | None:
    """What a node of a bundle names to git that is neither an id nor the branch of its thread: git
    could take it for an option, or use a branch of the user.
    """
    if kind == "worktree" and payload["branch"] != branch_of(payload["thread"]):
        return f"the branch of a worktree is {payload['branch']!r}"
    if kind in ("worktree", "called"):
        named = [(payload["base"], _COMMIT)]
    elif kind in ("step", "attempt") and (workspace := workspace_of(payload)) is not None:
        snapshots = [each for each in (workspace["before"], workspace["after"]) if each is not None]
        named = [(each["tree"], _TREE) for each in snapshots]
        named += [(each["commit"], _COMMIT) for each in snapshots]
    else:
        return None
    wrong = [name for name, form in named if name is not None and not form.fullmatch(name)]
    return f"{wrong[0]!r} is not the id of an object of git" if wrong else None


def moments_of(store: "Store", heads: Iterable["Head"]) -> dict[str, str]:
    """The trees of threads, each with the first moment that it is of."""
    found, seen = dict[str, str](), set[str]()
    for head in heads:
        for tree, moment in trees_of(store, head, seen):
            found.setdefault(tree, moment)
    return found
