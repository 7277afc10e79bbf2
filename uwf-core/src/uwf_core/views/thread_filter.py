"""Whether a thread is one that a list asks for, by what is inside it."""

from typing import TYPE_CHECKING

from uwf_core.errors import UwfError
from uwf_core.ids import Ref
from uwf_core.thread.head import head_of
from uwf_core.thread.history import newest_first, read_start

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.state import ThreadState
    from uwf_core.views.row import ThreadFilter


def matches(engine: "Engine", variable: "Variable", wanted: "ThreadFilter") -> bool:
    """Whether a thread has the role, failure, agent and text of a filter. What is cheap decides
    first; a thread that cannot be read does not match.
    """
    try:
        head = head_of(variable)
        state = head.state
        return (
            _is_at(state, wanted.role)
            and _has_failed(state, wanted.failure)
            and _has_text(engine, state, wanted.text)
            and (wanted.agent is None or wanted.agent in _agents(engine, head.ref, state))
        )
    except UwfError:  # the list without these filters shows it as corrupt
        return False


def _is_at(state: "ThreadState", role: str | None) -> bool:
    waits = state.suspension and state.suspension.role
    runs = state.attempt and state.attempt.role
    return role is None or role in (state.current_role, waits, runs)


def _has_failed(state: "ThreadState", kind: str | None) -> bool:
    if kind is None:
        return True
    waits = state.suspension
    return waits is not None and waits.reason == "failure" and waits.kind == kind


def _has_text(engine: "Engine", state: "ThreadState", text: str | None) -> bool:
    if text is None:
        return True
    task = engine.store.text(Ref(read_start(engine.store, Ref(state.start))["prompt"]))
    return text.casefold() in task.casefold()


def _agents(engine: "Engine", head: Ref, state: "ThreadState") -> set[str]:
    """The agents that took its steps, and those that it is bound to."""
    start = read_start(engine.store, Ref(state.start))
    bound = {start["agent"] or "", *(start["bindings"] or {}).values()}
    names = {
        step.payload["agent"] or "" for step in newest_first(engine.store, head, Ref(state.start))
    }
    aliases = {engine.alias_of(name) or "" for name in names}
    return {*names, *aliases, *bound} - {""}
