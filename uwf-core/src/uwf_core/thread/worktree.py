"""What the result of a call says of the worktree in which the called thread worked."""

from typing import TYPE_CHECKING, Any, Final

from uwf_core.ids import Ref
from uwf_core.workflow.variants import FOLDER, GIT_BRANCH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uwf_core.cas.store import Store
    from uwf_core.thread.state import ThreadState

_BRANCHES: Final = "uwf/"


def branch_of(thread: str) -> str:
    """The git branch of a thread's worktree."""
    return _BRANCHES + thread


def place_of(state: "ThreadState") -> dict[str, str]:
    """The fields of a result that name the folder and the branch of the called thread; none if it
    has no worktree.
    """
    own = state.worktree
    return {} if own is None else {FOLDER: state.cwd, GIT_BRANCH: own.branch}


def place_in_step(store: "Store", step: "Mapping[str, Any]") -> dict[str, str]:
    """The same fields, from the step of a call, whose folder is that of the called thread."""
    last = store.payload(Ref(step["call"]["child"]))
    if store.payload(Ref(last["workflow"]))["workspace"] is None:
        return {}
    return {FOLDER: step["attempt"]["cwd"], GIT_BRANCH: branch_of(step["session"]["id"])}
