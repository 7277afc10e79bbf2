"""The events of a thread that a person wants to know, read from what is stored. Pure reading."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple
from zlib import crc32

from uwf_core.fields.records import write_record
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import calling_heads, waiting_below
from uwf_core.thread.head import TRIAL, read_head
from uwf_core.thread.history import unordered_events
from uwf_core.thread.tags import first_line
from uwf_core.views.recorded import RecordedThread
from uwf_core.views.show import show_thread

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

NoticeKind = Literal["suspended", "failed", "completed", "limit"]
_KINDS: Mapping[str, tuple[NoticeKind, str]] = {
    "role": ("suspended", "{role} waits for you"),
    "interrupted": ("suspended", "{role} was interrupted"),
    "failure": ("failed", "{role} failed"),
    "limit": ("limit", "a limit is reached"),
}
"""The event of a suspension by its reason, and what the title says."""
_COMPLETED: tuple[NoticeKind, str] = ("completed", "completed")


class Notice(NamedTuple):
    """An event to send. `id` is the same each time it is sent.

    Attributes:
        thread: the root, which the person knows; `of` is the thread that has the event, and `seq`
            its number there.
        role, message: who waits for what, or what failed; empty for a completed thread.
        title: `fix-bug: reviewer waits for you`.
    """

    id: str
    event: NoticeKind
    thread: str
    of: str
    seq: int
    at_ms: int
    workflow: str
    task: str
    role: str
    message: str
    title: str


def notices_of(engine: "Engine", thread: str, after: int, since_ms: int) -> list[Notice]:
    """The events of a thread with a number above `after`, since a moment, in their order.

    Of a called thread those that wait for a person, as events of its root; of a trial none.

    Raises:
        UnknownIdError: there is no such thread. StoreError: it is damaged.
    """
    record = RecordedThread(engine, read_head(engine.store, ThreadId(thread)))
    if TRIAL in record.variable.tags:
        return []
    above = calling_heads(engine.store, record.stored) if record.stored.caller else []
    root = record if not above else RecordedThread(engine, above[-1])
    found = []
    for seq, at_ms, decision in _decisions(engine, record, after):
        event = _KINDS.get(decision["reason"] or "")
        if decision["status"] == "completed" and record.stored.caller is None:
            event = _COMPLETED
        if event is None or at_ms < since_ms:
            continue
        kind, words = event
        workflow = engine.redactor.text(root.stored.workflow_name)
        role = decision["role"] or "" if kind != "completed" else ""
        found.append(
            Notice(
                f"{thread}.{seq}", kind, root.id, thread, seq, at_ms, workflow,
                engine.redactor.text(first_line(root.task)), role,
                engine.redactor.text(decision["message"] or ""),
                f"{workflow}: {words.format(role=role)}",
            )
        )  # fmt: skip
    return sorted(found, key=lambda notice: notice.seq)


def reminders_of(engine: "Engine", thread: str, about: str) -> list[Notice]:
    """The notice that a thread still waits for a person, and why it is sent now; none if it does
    not wait any more. Raises as `notices_of`.
    """
    head = read_head(engine.store, ThreadId(thread))
    above = calling_heads(engine.store, head.state) if head.state.caller else []
    root, text = RecordedThread(engine, above[-1] if above else head), engine.redactor.text
    waiting = waiting_below(engine.store, head)
    first = next((each for each in waiting if each.suspension.reason != "interrupted"), None)
    if first is None:
        return []
    now, suspension = first
    seq, workflow = now.state.seq - 1, text(root.stored.workflow_name)
    return [
        Notice(
            f"{now.thread}.{seq}.{crc32(about.encode()):08x}", "suspended", root.id, now.thread,
            seq, engine.now_ms(), workflow, text(first_line(root.task)), suspension.role,
            text(suspension.message), f"{workflow}: {suspension.role} waits for you; {about}",
        )
    ]  # fmt: skip


def _decisions(
    engine: "Engine", record: RecordedThread, after: int
) -> Iterator[tuple[int, int, Mapping[str, Any]]]:
    """The decisions of the steps, failed attempts and events of a thread that are new."""
    pending = [step.node for step in record.pending]
    for step in record.newest_first():
        if step.node["thread"] != record.id or step.node["seq"] <= after:
            break
        pending += [each.node for each in step.tries()]
    for node in pending:
        if node["seq"] > after and node["thread"] == record.id:
            yield node["seq"], node["completedAtMs"], node["next"]
    for event in unordered_events(engine.store, ThreadId(record.id)):
        if event.payload["seq"] > after and event.payload.get("next") is not None:
            yield event.payload["seq"], event.payload["atMs"], event.payload["next"]


def notice_document(engine: "Engine", notice: Notice, url: str | None) -> dict[str, Any]:
    """A notice as JSON: what the command gets on stdin."""
    commands = show_thread(engine, Ref(notice.thread))["next"]
    link = None if url is None else f"{url.rstrip('/')}/threads/{notice.thread}"
    next_ = commands[0] if commands else ""
    return {**write_record(notice), "next": next_, "url": link or ""}
