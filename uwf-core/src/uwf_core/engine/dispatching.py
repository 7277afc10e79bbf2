"""The dispatch rows of queued threads: whether there is something to run, and what it needs.

A process that moves the head of a queued thread writes its row in the same transaction. A worker
decides by its own configuration whether it runs a thread: for that it computes the row itself.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from uwf_core.agents.choose import player_of, resolve_agent
from uwf_core.api.dispatch import Dispatch, DispatchBackend
from uwf_core.engine.agents import usual_agent
from uwf_core.engine.given_up import has_ended, is_given_up, leads_on
from uwf_core.engine.retry import after_kill
from uwf_core.engine.slots import most_at_a_time
from uwf_core.errors import UnknownIdError, UsageError, UwfError
from uwf_core.ids import Ref, ThreadId
from uwf_core.process.identity import hostname
from uwf_core.thread.calls import caller_of, calling_heads, open_calls
from uwf_core.thread.head import SESSION_HOSTS, Head, read_head
from uwf_core.thread.names import ANY_HOST, FINISHED, HOST, NEEDS, PRIORITY
from uwf_core.thread.session_hosts import session_host, worktree_host

if TYPE_CHECKING:
    from uwf_core.agents.choose import Choice
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.state import ThreadState
    from uwf_core.workflow.definition import Role


def dispatch_backend(engine: "Engine") -> DispatchBackend:
    """The backend of the store, with its dispatch rows.

    Raises:
        UsageError: it keeps none.
    """
    backend = engine.backend
    if not isinstance(backend, DispatchBackend):
        raise UsageError(
            f"workers cannot run threads of {engine.store.location()}",
            hint="use a store of PostgreSQL: uwf config set store postgresql://HOST/DATABASE",
        )
    return backend


def rows_of(engine: "Engine", heads: Sequence[Head]) -> list[Dispatch]:
    """The rows of threads, of their new heads. Within the transaction that moves them.

    A worker that opens an attempt leaves the row as it is: it has the claim, and if it dies the
    thread is still wanted, with the same needs.
    """
    rows = [
        row_of(engine, each)
        for each in heads
        if each.thread != engine.claimed or each.state.attempt is None
    ]
    if engine.on_dispatch is not None:
        engine.on_dispatch(rows)
    return rows


def row_now(engine: "Engine", head: Head) -> Dispatch:
    """The row of the thread that this worker runs: the one that its last commit has written,
    unless it also depends on other threads.
    """
    known = engine.known_row
    if known is not None and known[0] == head.variable.checksum:
        return known[1]
    return row_of(engine, head)


def row_of(engine: "Engine", head: Head) -> Dispatch:
    """The row of a thread with this head."""
    state = head.state
    is_wanted, after_ms = _wanted(engine, head)
    needs, model = _needs(engine, state)
    moves_at_ms = 0
    group, most = _group(engine, state)
    tags = _root_tags(engine, state)
    wanted = {*needs, *filter(None, tags.get(NEEDS, "").split(","))}
    host = tags.get(HOST, hostname())
    if host == ANY_HOST and SESSION_HOSTS in head.variable.tags:
        own = _worktree_host(engine, head)
        host, moves_at_ms = (own, 0) if own else _session_host(engine, head, after_ms)
    wanted |= set() if host == ANY_HOST else {f"host:{host}"}
    priority = tags.get(PRIORITY, "")
    row = Dispatch(
        thread=state.thread,
        seq=state.seq,
        is_wanted=is_wanted,
        needs=sorted(wanted),
        uses=sorted(wanted | model),
        not_before_ms=after_ms,
        priority=int(priority) if priority.lstrip("-").isdecimal() and len(priority) < 7 else 0,
        group=group,
        most=most,
        caller=None if state.caller is None else state.caller.thread,
        is_ended=state.status in FINISHED or is_given_up(engine, head),
        moves_at_ms=moves_at_ms,
    )
    if state.thread == engine.claimed and not engine.definition(state.workflow).calls:
        engine.known_row = head.variable.checksum, row
    return row


def _wanted(engine: "Engine", head: Head) -> tuple[bool, int]:
    """Whether there is something to run, and not before when; 0: at once."""
    state = head.state
    if state.status in FINISHED:
        return False, 0
    definition = engine.definition(state.workflow)
    if definition.calls:
        calls = open_calls(engine.store, ThreadId(state.thread))
        if calls:  # the end of the last one makes the thread wanted
            gives_up = leads_on(definition, definition.roles[calls[0].role])
            return all(_has_ended(engine, call.child, gives_up=gives_up) for call in calls), 0
    if state.suspension is None or state.attempt is not None:
        return True, 0 if state.wait is None else state.wait.until_ms
    pause = after_kill(state)
    return pause is not None, head.variable.updated_ms + int(pause * 1000) if pause else 0


def _has_ended(engine: "Engine", child: ThreadId, *, gives_up: bool) -> bool:
    try:
        head = read_head(engine.store, child)
    except UnknownIdError:  # the run reports it
        return True
    return has_ended(engine.store, head, gives_up=gives_up)


def _worktree_host(engine: "Engine", head: Head) -> str | None:
    """The machine that a thread needs for its worktree; None if others can make that, too."""
    host = worktree_host(head.session_hosts)
    if host is None:
        return None
    from uwf_core.engine.moving import may_move  # for threads with worktrees

    return None if may_move(engine.store, head) else host


def _session_host(engine: "Engine", head: Head, after_ms: int) -> tuple[str, int]:
    """The machine of the session that the next role continues, and until when it is waited for;
    any machine if there is none, or if it was waited for long enough. `after_ms`: as in the row.
    """
    wait_ms = int(engine.settings.worker.session_wait * 1000)
    until = max(head.variable.updated_ms, after_ms) + wait_ms
    role = _next_role(engine, head.state)
    if role is None or role.calls or role.program is not None or until <= engine.now_ms():
        return ANY_HOST, 0
    host = None
    with suppress(UwfError):
        host = session_host(
            head.session_hosts, head.state, role.name, _player(engine, head.state, role).name
        )
    return (ANY_HOST, 0) if host is None else (host, until)


def _next_role(engine: "Engine", state: "ThreadState") -> "Role | None":
    waits = state.suspension
    name = state.attempt.role if state.attempt else state.current_role or (waits and waits.role)
    return engine.definition(state.workflow).roles.get(name or "")


def _needs(engine: "Engine", state: "ThreadState") -> tuple[set[str], set[str]]:
    """The labels of the next role's player, and of its model. None if it is unknown here: then
    a worker computes them.
    """
    definition, role = engine.definition(state.workflow), _next_role(engine, state)
    if role is None or role.calls:
        return set(), set()
    if role.program is not None:
        return {f"program:{definition.ref}"}, set()
    label = None
    with suppress(UwfError):
        label = agent_label(engine, state, role)
    model = role.model if role.model in engine.settings.models else engine.settings.default_model
    return {f"agent:{label}"} if label else set(), {f"model:{model}"} if model else set()


def agent_label(engine: "Engine", state: "ThreadState", role: "Role") -> str:
    """The name of the agent that plays a role, as labels have it: the alias of a command.

    Raises:
        UwfError: it is unknown here.
    """
    choice = _player(engine, state, role)
    return choice.alias or choice.name


def _player(engine: "Engine", state: "ThreadState", role: "Role") -> "Choice":
    catalog, player = engine.agent_catalog(state.cwd), player_of(role.name, role)
    return usual_agent(
        engine, catalog, state.workflow_name, player, engine.start(state.start), state=state
    )


def _group(engine: "Engine", state: "ThreadState") -> tuple[str | None, int]:
    """The fan-out of which the thread is a branch, and how many of it may run at a time."""
    caller = state.caller
    above = None if caller is None else caller_of(engine.store, state)
    if caller is None or above is None:
        return None, 0
    role = engine.definition(Ref(above.state.workflow)).roles.get(caller.role)
    if role is None or role.fan_out is None:
        return None, 0
    most = role.fan_out.max_parallel or engine.settings.limits.parallel
    return f"{caller.thread}/{caller.number}", min(most, most_at_a_time(engine, [most]))


def _root_tags(engine: "Engine", state: "ThreadState") -> "dict[str, str]":
    """The tags that persons gave the root of a tree of threads."""
    if state.caller is None:
        return {**state.given_tags}
    above = calling_heads(engine.store, state)
    return {**(above[-1].state if above else state).given_tags}


def own_labels(engine: "Engine") -> Iterator[str]:
    """The labels of a worker with this configuration: what its owner has configured, no more."""
    settings = engine.settings
    yield f"host:{hostname()}"
    yield "agent:human"
    words = {*settings.agents, *([settings.default_agent] if settings.default_agent else [])}
    words |= {word for roles in settings.agent_overrides.values() for word in roles.values()}
    catalog = engine.agent_catalog(engine.cwd)
    for word in sorted(words):
        with suppress(UwfError):
            first = resolve_agent(word, catalog)
            others = (resolve_agent(each, catalog) for each in first.others)
            yield from (f"agent:{each.alias or each.name}" for each in (first, *others))
    yield from (f"program:{ref}" for ref in settings.worker.allow_programs)
    yield from settings.worker.labels
