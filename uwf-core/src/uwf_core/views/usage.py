"""What threads have used: the sums of their attempts and of the questions about their steps."""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.sums import NOTHING_USED, UsagePayload, add_usage
from uwf_core.engine.find import find_thread
from uwf_core.errors import StoreError, UnknownIdError, UsageError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import descendants_of
from uwf_core.thread.decisions import NO_CALL
from uwf_core.thread.head import TRIAL, Head, head_of, read_head
from uwf_core.thread.history import own_events
from uwf_core.thread.names import HEADS, asked_prefix

if TYPE_CHECKING:
    from uwf_core.engine.documents import UsageDocument, UsageRow
    from uwf_core.engine.engine import Engine

COMPACT = "$COMPACT"
"""The group of the summaries that agents wrote, beside the roles."""
GROUPS = ("role", "agent", "model", "workflow")


class UsageFilter(NamedTuple):
    """Which threads: one with all that it called, or those of a workflow (name or reference) with
    all that they called, or those that were started since a time.
    """

    thread: str | None = None
    workflow: str | None = None
    since_ms: int | None = None


class _Part(NamedTuple):
    """What one attempt or question has used."""

    names: dict[str, str | None]
    steps: int
    asks: int
    ms: int
    usage: UsagePayload


def usage_of(engine: "Engine", wanted: UsageFilter, by: str = "role") -> "UsageDocument":
    """What the threads have used, in groups, the most expensive first.

    Raises:
        UsageError: unknown groups. UnknownIdError: unknown thread, or no thread has the workflow.
    """
    if by not in GROUPS:
        raise UsageError(f"unknown groups {by!r}", hint=f"use one of {', '.join(GROUPS)}")
    if wanted.thread is not None and (wanted.workflow is not None or wanted.since_ms is not None):
        raise UsageError(
            "THREAD cannot be combined with --workflow or --since",
            hint="name one thread, or filter all threads",
        )
    threads = list(dict.fromkeys(_threads(engine, wanted)))
    if wanted.workflow is not None and wanted.since_ms is None and not threads:
        raise UnknownIdError(
            f"no thread of the workflow {wanted.workflow!r}", hint="next: uwf workflow list"
        )
    groups: dict[str | None, list[_Part]] = {}
    unread = 0
    for thread in threads:
        try:
            parts = list(_parts(engine, read_head(engine.store, thread)))
        except StoreError:  # damaged: `cas verify` names it
            unread += 1
            continue
        for part in parts:
            groups.setdefault(part.names[by], []).append(part)
    rows = [_row(name, parts) for name, parts in groups.items()]
    rows.sort(key=_order)
    total = _row(None, [part for parts in groups.values() for part in parts])
    return {
        "by": by,
        "threads": len(threads) - unread,
        "unreadable": unread,
        "rows": rows,
        "total": total,
    }


def _order(row: "UsageRow") -> tuple[float, float, str]:
    usage = row["usage"]
    tokens = (usage["inputTokens"] or 0) + (usage["outputTokens"] or 0)
    return -(usage["costUsd"] or 0), -tokens, row["name"] or ""


def _threads(engine: "Engine", wanted: UsageFilter) -> Iterator[ThreadId]:
    if wanted.thread is not None:
        root = find_thread(engine, wanted.thread)
        yield root
        yield from descendants_of(engine.store, root)
        return
    for variable in engine.store.rows(HEADS):
        try:
            head = head_of(variable)
        except StoreError:
            continue
        state = head.state
        if TRIAL in variable.tags or (wanted.since_ms or 0) > state.started_ms:
            continue
        if wanted.workflow in (None, state.workflow, state.workflow_name):
            yield head.thread
            if wanted.workflow is not None:
                yield from descendants_of(engine.store, head.thread)


def _parts(engine: "Engine", head: Head) -> Iterator[_Part]:
    """The attempts of a thread itself, and the questions about its steps. A call is not an attempt:
    the called thread has its own.
    """
    workflow = head.state.workflow_name
    for event in own_events(engine.store, head.thread, head.ref):
        payload = event.payload
        call = payload.get("call") or NO_CALL
        called = call["child"] or call["children"]
        is_summary = event.kind == "compacted" and payload["usage"] != NOTHING_USED
        if is_summary:
            payload = {**payload, "role": COMPACT}
        elif event.kind not in ("step", "asked") or called is not None:
            continue
        ms = max(0, payload["completedAtMs"] - payload["startedAtMs"])
        is_step = event.kind == "step" and payload["failure"] is None
        names = _names(payload, workflow)
        yield _Part(names, int(is_step), 0, ms, payload["usage"])
    for variable in engine.store.variables(asked_prefix(head.thread)):
        payload = engine.store.payload(Ref(variable.value))
        if payload["thread"] == head.thread:  # else it is of a called one, which counts it
            is_refused = "failure" in payload  # an attempt, beside the thread
            ms = max(0, payload["completedAtMs"] - payload["startedAtMs"]) if is_refused else 0
            yield _Part(_names(payload, workflow), 0, int(not is_refused), ms, payload["usage"])


def _names(payload: Any, workflow: str) -> dict[str, str | None]:
    names = {"role": payload["role"], "agent": payload["agent"], "model": payload.get("model")}
    return {**names, "workflow": workflow}


def _row(name: str | None, parts: Sequence[_Part]) -> "UsageRow":
    return {
        "name": name,
        "steps": sum(part.steps for part in parts),
        "attempts": sum(1 - part.asks for part in parts),
        "asks": sum(part.asks for part in parts),
        "durationMs": sum(part.ms for part in parts),
        "usage": reduce(add_usage, (part.usage for part in parts), NOTHING_USED),
    }
