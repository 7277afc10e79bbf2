"""What waits for a person: the questions, failures and limits of all threads."""

from collections.abc import Iterator
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from uwf_core.errors import UwfError
from uwf_core.ids import ThreadId
from uwf_core.thread.calls import asks_below, calling_heads, threads_in_calls, waiting_below
from uwf_core.thread.head import read_head
from uwf_core.views.recorded import RecordedThread
from uwf_core.views.row import ThreadFilter
from uwf_core.views.show import commands_of, show_thread, until_done
from uwf_core.views.thread_list import list_threads

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.calls import Waiting
    from uwf_core.thread.decisions import Suspension
    from uwf_core.thread.head import Head
    from uwf_core.views.unserved import Unserved

InboxKind = Literal["question", "message", "failure", "limit", "interrupted", "worker"]
"""`question` expects an answer to a form, `message` a text; `worker` a worker that can run the
thread; the others a decision to continue.
"""


class InboxItem(TypedDict):
    """A thread that waits.

    - `thread` takes the answer; `root` is the thread that called it or, as of a limit, itself.
    - `task`: the first line of the root's task. `role`, `message`: who asks what, or what failed.
    - `failure`: the kind of a failure, `until`: when a service accepts calls again, `deadline`: of
      the answer, else null.
    - `head`: for the option --head, so that an answer cannot reach a later question.
    - `form`: the JSON Schema of the answer, else null. `commands`: each continues the thread.
    """

    thread: str
    root: str
    workflowName: str
    task: str
    kind: InboxKind
    role: str
    message: str
    failure: str | None
    until: int | None
    deadline: int | None
    sinceMs: int
    head: str
    form: dict[str, Any] | None
    commands: list[str]


def inbox(engine: "Engine", thread: str | None = None) -> list[InboxItem]:
    """All threads that wait for a person: those with a deadline first, the nearest at the top, then
    the longest wait; takes no lock. Those of the
    original uwf are read-only: nobody can answer them. What workers will repeat waits for nobody,
    unless a service named the time until which it waits: a person may know better. With `thread`
    only what waits in it and in those that it called, in their order.
    """
    if thread is not None:
        return waiting_in(engine, thread)
    rows = list_threads(engine, ThreadFilter(statuses=("suspended",)))
    ours = [row["thread"] for row in rows if row["original"] is None]
    in_calls = threads_in_calls(engine.store)
    found = [
        item
        for thread in ours
        for item in waiting_in(engine, thread, is_alone=thread not in in_calls)
    ]
    if engine.has_workers:
        found = _without_queued(engine, found) + _unserved(engine)
    return sorted(found, key=lambda item: (item["deadline"] or inf, item["sinceMs"]))


def _without_queued(engine: "Engine", items: list[InboxItem]) -> list[InboxItem]:
    from uwf_core.views.unserved import queued_among  # for threads of workers

    queued = queued_among(engine, [ThreadId(item["thread"]) for item in items])
    return [item for item in items if item["until"] is not None or item["thread"] not in queued]


def _unserved(engine: "Engine") -> list[InboxItem]:
    """The threads that no live worker can run."""
    from uwf_core.views.unserved import unserved_threads

    found = []
    for each in unserved_threads(engine):
        with suppress(UwfError):  # `thread list` and `cas verify` report it
            found.append(_unserved_item(engine, each))
    return found


def _unserved_item(engine: "Engine", row: "Unserved") -> InboxItem:
    head = read_head(engine.store, ThreadId(row.thread))
    state = head.state
    above = calling_heads(engine.store, state) if state.caller is not None else []
    root = RecordedThread(engine, above[-1] if above else head)
    waits = state.suspension
    role = state.attempt.role if state.attempt else state.current_role or (waits and waits.role)
    commands = [row.command, f"uwf thread exec {row.thread} --until-done"]
    return _item(root, head, "worker", role or "", row.message, commands)


def _item(
    root: RecordedThread, head: "Head", kind: InboxKind, role: str, message: str,
    commands: list[str], suspension: "Suspension | None" = None,
) -> InboxItem:  # fmt: skip
    """An item of a tree; `head` is that of the thread that takes the answer."""
    return {
        "thread": head.thread,
        "root": root.id,
        "workflowName": root.stored.workflow_name,
        "task": root.task_line,
        "kind": kind,
        "role": role,
        "message": message,
        "failure": suspension.kind if suspension and suspension.reason == "failure" else None,
        "until": suspension and suspension.until_ms,
        "deadline": suspension and suspension.expires and suspension.expires["deadline"],
        "sinceMs": head.variable.updated_ms,
        "head": head.ref,
        "form": None,
        "commands": commands,
    }


def waiting_in(engine: "Engine", root: str, *, is_alone: bool = False) -> list[InboxItem]:
    """What waits for a person in a thread and below it; nothing of one that cannot be read.
    `is_alone`: it is part of no open call, and no process runs it.
    """
    try:
        head = read_head(engine.store, ThreadId(root))
        waits = head.state.suspension
        is_itself = is_alone and head.state.attempt is None  # else it runs, or was interrupted
        if is_itself and waits is not None and waits.reason != "limit":
            return [_own_item(engine, head, waits)]
        return list(_items(engine, head))
    except UwfError:  # `thread list` and `cas verify` report it
        return []


def _own_item(engine: "Engine", head: "Head", waits: "Suspension") -> InboxItem:
    """The item of a thread that waits itself, without a look at other threads."""
    thread = RecordedThread(engine, head)
    thread.has_calls = False
    form = thread.form
    commands = until_done(commands_of(engine, thread.id, thread, waits, form), thread.id)
    item = _item(thread, head, _kind(waits), waits.role, waits.message, commands, waits)
    return {**item, "form": form}


def _items(engine: "Engine", head: "Head") -> Iterator[InboxItem]:
    thread, root = head.thread, RecordedThread(engine, head)
    waiting = asks_below(engine.store, head) or waiting_below(engine.store, head)
    limited = [each for each in waiting if each.suspension.reason == "limit"]
    if limited:
        yield from _limits(engine, root, head, limited)
    for each in waiting:
        if each in limited:
            continue
        shown = show_thread(engine, thread if len(waiting) == 1 else each.head.thread)
        waits, commands = each.suspension, until_done(shown["next"], shown["thread"])
        item = _item(root, each.head, _kind(waits), waits.role, waits.message, commands, waits)
        yield {**item, "form": RecordedThread(engine, each.head).form}


def _limits(
    engine: "Engine", root: RecordedThread, head: "Head", limited: "list[Waiting]"
) -> Iterator[InboxItem]:
    """An item for each limit that a tree has reached, wherever in it: the root grants it."""
    from uwf_core.engine.budget import newest_limit  # for threads with limits
    from uwf_core.engine.grants import grant_command

    by_limit: dict[str, list[Waiting]] = {}
    for each in limited:
        by_limit.setdefault(newest_limit(engine.store, each.head.thread)["limit"], []).append(each)
    for waiting in by_limit.values():
        roles = ", ".join(dict.fromkeys(each.suspension.role for each in waiting))
        messages = "\n".join(dict.fromkeys(each.suspension.message for each in waiting))
        commands = until_done([grant_command(engine, head.thread, waiting)], head.thread)
        item = _item(root, head, "limit", roles, messages, commands, waiting[0].suspension)
        yield {**item, "sinceMs": min(each.head.variable.updated_ms for each in waiting)}


def _kind(suspension: "Suspension") -> InboxKind:
    if suspension.reason != "role":
        return suspension.reason
    return "message" if suspension.question is None else "question"
