"""Threads that an agent starts with `uwf run` or `thread start`: each is a call of its attempt."""

from typing import TYPE_CHECKING

from uwf_core.engine.events import save_call
from uwf_core.engine.watch import Watch
from uwf_core.errors import UsageError
from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import STARTED
from uwf_core.thread.decisions import runs
from uwf_core.thread.head import Head, read_head
from uwf_core.thread.names import agent_call_name, head_name

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine

VARIABLE = "UWF_ATTEMPT"
"""The variable by which everything that an attempt starts is known (`Attempt.marker`)."""


def calling_attempt(engine: "Engine", watch: Watch) -> Head | None:
    """The head of the thread whose open attempt this process belongs to; None if there is none.

    Raises:
        UsageError: a further thread would be too deep.
    """
    marker = engine.env.get(VARIABLE)
    if not marker:
        return None
    thread, _, attempt = marker.partition("/")
    head = _head(engine, thread)
    opened = None if head is None else head.state.attempt
    if head is None or opened is None or opened.name != attempt:
        watch.notice(
            f"{VARIABLE} names no open attempt of {engine.store.location()}; "
            "the new thread is not a part of it"
        )
        return None
    limit = engine.settings.limits.depth
    if head.state.depth >= limit:
        raise UsageError(
            f"thread {thread} is {head.state.depth} calls deep, and `limits.depth` is {limit}: its "
            "agents may start no further thread",
            hint="do the work in this session, or raise it: uwf config set limits.depth N",
        )
    return head


def _head(engine: "Engine", thread: str) -> Head | None:
    known = ThreadId.matches(thread) and engine.store.rows(head_name(ThreadId(thread)), limit=1)
    return read_head(engine.store, ThreadId(thread)) if known else None


def link_call(engine: "Engine", caller: Head, child: Head, prompt: Ref) -> None:
    """Store that an attempt calls a new thread. Within a transaction."""
    opened = caller.state.attempt
    assert opened is not None
    save_call(
        engine,
        caller,
        child,
        agent_call_name(caller.thread, opened.name, child.thread),
        number=opened.number,
        role=opened.role,
        plays=opened.role,
        purpose=STARTED,
        edgePrompt=prompt,
        prompt=prompt,
        cwd=child.state.cwd,
        next=runs(child.state.current_role or ""),
    )
