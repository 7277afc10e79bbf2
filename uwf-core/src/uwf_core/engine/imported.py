"""Threads that came with a bundle: a bundle is data, and what it says is never run.

The words for agents in their nodes may be command lines of somebody else. A variable at the start
node, which all threads that go on from it share, says that it came from elsewhere.
"""

from typing import TYPE_CHECKING

from uwf_core.agents.choose import STEP_AGENT, THREAD_AGENT, Choice
from uwf_core.errors import UsageError
from uwf_core.thread.names import foreign_name

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

_FROM_NODES = (THREAD_AGENT, STEP_AGENT)


def mark_foreign(store: "Store", start: str) -> None:
    """Remember that the start node came from elsewhere. Within a transaction."""
    if not is_foreign(store, start):
        store.set_variable(foreign_name(start), start, {}, None)


def is_foreign(store: "Store", start: str) -> bool:
    """Whether the start node came from elsewhere."""
    return store.variable(foreign_name(start)) is not None


def check_choice(store: "Store", start: str, choice: Choice) -> Choice:
    """The choice, unless a thread from elsewhere asks for a command that is not configured here.

    Raises:
        UsageError: it does.
    """
    is_configured = choice.where != "agents"
    if choice.kind != "command" or is_configured or choice.source not in _FROM_NODES:
        return choice
    if is_foreign(store, start):
        raise UsageError(
            f"this thread came with a bundle that asks for the command {choice.name!r}; what a "
            "bundle says is not run",
            where=choice.source,
            hint="choose an agent yourself with --agent NAME, or configure this very command as an "
            "alias below `agents`",
        )
    return choice
