"""What threads have used: the sums of their attempts and of the questions about their steps."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from uwf_core.api.sums import NOTHING_USED, add_usage
from uwf_core.cas.walk import reached
from uwf_core.engine.find import find_thread
from uwf_core.errors import StoreError, UnknownIdError, UsageError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.head import PARENT, TRIAL, USED, is_current, read_head
from uwf_core.thread.names import ASKED, HEADS, asked_prefix
from uwf_core.thread.used import Used, used_in

if TYPE_CHECKING:
    from uwf_core.engine.documents import UsageDocument, UsageRow
    from uwf_core.engine.engine import Engine

GROUPS = ("role", "agent", "model", "workflow")


class UsageFilter(NamedTuple):
    """Which threads: one with all that it called, or those of a workflow (name or reference) with
    all that they called, or those that were started since a time.
    """

    thread: str | None = None
    workflow: str | None = None
    since_ms: int | None = None


class _Head(NamedTuple):
    """What is read of a head; `used` is None in one of an older fold."""

    parent: str | None
    workflow: str
    workflow_name: str
    started_ms: int
    is_trial: bool
    used: str | None


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
    heads, unread = _heads(engine)
    threads = _threads(engine, wanted, heads)
    if wanted.workflow is not None and wanted.since_ms is None and not threads:
        raise UnknownIdError(
            f"no thread of the workflow {wanted.workflow!r}", hint="next: uwf workflow list"
        )
    unread = 0 if wanted.thread is not None else unread
    with_asks = {row.name.split("/")[2] for row in engine.store.rows(ASKED)}
    groups: dict[str | None, UsageRow] = {}
    count = 0
    for thread in threads:
        try:
            parts = _parts(engine, thread, heads[thread], has_asks=thread in with_asks)
        except (StoreError, LookupError, ValueError, TypeError):  # `cas verify` names what is wrong
            unread += 1
            continue
        count += 1
        for used, asks in parts:
            name = heads[thread].workflow_name if by == "workflow" else getattr(used, by)
            groups[name] = _with(groups.get(name) or _nothing(name), used, asks)
    rows = sorted(groups.values(), key=_order)
    return {"by": by, "threads": count, "unreadable": unread, "rows": rows, "total": _total(rows)}


def _order(row: "UsageRow") -> tuple[float, float, str]:
    usage = row["usage"]
    tokens = (usage["inputTokens"] or 0) + (usage["outputTokens"] or 0)
    return -(usage["costUsd"] or 0), -tokens, row["name"] or ""


def _heads(engine: "Engine") -> tuple[dict[str, _Head], int]:
    """The heads by their threads, and how many cannot be read."""
    texts, damaged = engine.variables.variable_texts(HEADS)
    found: dict[str, _Head] = {}
    for text in texts:
        name, _, _, _, *parts = text.split("\0")
        tags = dict(zip(parts[::2], parts[1::2], strict=True))
        names = tags.get(PARENT), tags.get("workflow", ""), tags.get("workflowName", "")
        started = int(tags.get("startedMs", "0"))
        used = tags.get(USED, "[]") if is_current(tags) else None
        found[name.removeprefix(HEADS)] = _Head(*names, started, TRIAL in tags, used)
    return found, len(damaged)


def _threads(engine: "Engine", wanted: UsageFilter, heads: Mapping[str, _Head]) -> list[str]:
    since = wanted.since_ms or 0
    if wanted.thread is not None:
        roots = [str(find_thread(engine, wanted.thread))]
    else:
        roots = [
            thread
            for thread, head in heads.items()
            if not head.is_trial and since <= head.started_ms
            and wanted.workflow in (None, head.workflow, head.workflow_name)
        ]  # fmt: skip
    below = defaultdict[str | None, list[str]](list)
    for thread, head in heads.items():
        below[head.parent].append(thread)
    is_all = wanted.thread is wanted.workflow is None
    return roots if is_all else list(reached(roots, lambda thread: below.get(thread, ())))


def _parts(engine: "Engine", thread: str, head: _Head, *, has_asks: bool) -> list[tuple[Used, int]]:
    """What the attempts of a thread and the questions about its steps have used, and how many
    questions each part counts for.
    """
    known = ThreadId(thread)
    folded = read_head(engine.store, known).state.used if head.used is None else used_in(head.used)
    return [*((each, 0) for each in folded), *(_asks(engine, known) if has_asks else ())]


def _asks(engine: "Engine", thread: ThreadId) -> Iterator[tuple[Used, int]]:
    for variable in engine.store.variables(asked_prefix(thread)):
        payload = engine.store.payload(Ref(variable.value))
        if payload["thread"] == thread:  # else it is of a called one, which counts it
            is_refused = "failure" in payload  # an attempt, beside the thread
            ms = max(0, payload["completedAtMs"] - payload["startedAtMs"]) if is_refused else 0
            names = payload["role"], payload["agent"], payload.get("model")
            yield Used(*names, 0, int(is_refused), ms, payload["usage"]), int(not is_refused)


def _nothing(name: str | None) -> "UsageRow":
    return {
        "name": name, "steps": 0, "attempts": 0, "asks": 0, "durationMs": 0, "usage": NOTHING_USED,
    }  # fmt: skip


def _with(row: "UsageRow", used: Used, asks: int) -> "UsageRow":
    return {
        "name": row["name"],
        "steps": row["steps"] + used.steps,
        "attempts": row["attempts"] + used.attempts,
        "asks": row["asks"] + asks,
        "durationMs": row["durationMs"] + used.ms,
        "usage": add_usage(row["usage"], used.usage),
    }


def _total(rows: Sequence["UsageRow"]) -> "UsageRow":
    total = _nothing(None)
    for row in rows:
        sums = row["steps"], row["attempts"], row["durationMs"], row["usage"]
        total = _with(total, Used("", None, None, *sums), row["asks"])
    return total
