"""Which threads a list asks for, and a thread as a row of it, from its head."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.api.store import Variable
from uwf_core.api.sums import UsagePayload
from uwf_core.errors import CorruptNodeError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import calls_of
from uwf_core.thread.head import ORIGINAL, PARENT, ThreadSummary, given_tags
from uwf_core.thread.lifecycle import status_fields
from uwf_core.thread.names import HEADS, TASK
from uwf_core.thread.state import ThreadState

if TYPE_CHECKING:
    from uwf_core.api.store import Holder
    from uwf_core.engine.documents import RunningDocument, ThreadRow
    from uwf_core.engine.engine import Engine


class ThreadFilter(NamedTuple):
    """Which threads to list. Times are ms since 1970, exclusive; `statuses` win over `all`.
    `trials`: also those of uwf-eval's trials; `children`: also those that other threads called.

    `tags`: those of persons. `role`: at which it is or waits. `agent`: which took a step or is
    bound. `failure`: the kind for which it waits. `text`: in its task, in any case of letters.
    """

    all: bool = False
    statuses: Sequence[str] = ()
    after_ms: int | None = None
    before_ms: int | None = None
    limit: int | None = None
    offset: int = 0
    workflow: str | None = None
    trials: bool = False
    children: bool = False
    tags: Mapping[str, str] = {}
    role: str | None = None
    agent: str | None = None
    failure: str | None = None
    text: str | None = None

    @property
    def looks_inside(self) -> bool:
        """Whether more than the status and the tags decide."""
        return any(each is not None for each in (self.role, self.agent, self.failure, self.text))


def row_of(
    variable: Variable, state: ThreadState | ThreadSummary, holder: "Holder | None"
) -> "ThreadRow":
    """The row of a thread."""
    return {
        "thread": variable.name[len(HEADS) :],
        "workflow": state.workflow,
        "workflowName": state.workflow_name,
        "cwd": variable.tags["cwd"],
        "head": variable.value,
        "depth": state.depth,
        "parent": variable.tags.get(PARENT),
        "tags": given_tags(variable.tags),
        **status_fields(state),
        "steps": state.steps,
        "usage": state.totals,
        "running": _running(holder),
        "original": variable.tags.get(ORIGINAL),
        "startedAtMs": state.started_ms,
        "updatedAtMs": variable.updated_ms,
        "task": variable.tags.get(TASK),
    }


def corrupt_row(thread: ThreadId, message: str) -> "ThreadRow":
    """The row of a thread of which only the id is known."""
    # A damaged id has no time of creation; 0 stands for unknown.
    started_ms = thread.created_ms if ThreadId.matches(thread) else 0
    unread = ThreadSummary("corrupt", "", "", started_ms, depth=0)
    head = Variable(HEADS + thread, "", {"cwd": ""}, started_ms, started_ms, b"")
    return {**row_of(head, unread, None), "suspendMessage": message}


def _running(holder: "Holder | None") -> "RunningDocument | None":
    if holder is None:
        return None
    return {"pid": holder.pid, "host": holder.host, "startedAtMs": holder.since_ms}


def used_with_calls(engine: "Engine", state: ThreadState) -> "UsagePayload":
    """What a thread has used, with its open calls as far as they can be read."""
    if not calls_of(engine.store, ThreadId(state.thread)):
        return state.totals
    from uwf_core.engine.budget import ledger_of  # for threads that call others

    try:
        return ledger_of(engine, state)["usage"]
    except CorruptNodeError:  # of a thread below, which is shown as corrupt itself
        return state.totals
