"""On which machine the session of each role with an agent is, for threads that workers run.

`{"planner/claude-code": "vm1", "": "vm2"}`: that of the open attempt has the empty name. `/` is the
machine of the thread's worktree.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from uwf_core.process.identity import hostname

if TYPE_CHECKING:
    from uwf_core.thread.state import RoleSession, ThreadState

_ATTEMPT, _WORKTREE = "", "/"


def hosts_after(
    hosts: Mapping[str, str], before: "ThreadState", after: "ThreadState"
) -> Mapping[str, str]:
    """The machines of the sessions and of the worktree in a later state: a session that an attempt
    has made is where the attempt ran, whichever process records its end.
    """
    if after.worktree != before.worktree:
        hosts = {**hosts, _WORKTREE: hostname()}
    if after.attempt is not None:
        return hosts if before.attempt is not None else {**hosts, _ATTEMPT: hostname()}
    kept = {name: host for name, host in hosts.items() if name != _ATTEMPT}
    if before.attempt is None or _ATTEMPT not in hosts:
        return kept
    role = before.attempt.role
    old, new = before.role(role).sessions, after.role(role).sessions
    made = [agent for agent, each in new.items() if _is_other(old.get(agent), each)]
    return {**kept, **{_name(role, agent): hosts[_ATTEMPT] for agent in made}}


def session_host(
    hosts: Mapping[str, str], state: "ThreadState", role: str, agent: str
) -> str | None:
    """The machine of the role's session with an agent; None if there is none, or it is unknown."""
    if agent not in state.role(role).sessions:
        return None
    return hosts.get(_name(role, agent))


def worktree_host(hosts: Mapping[str, str]) -> str | None:
    """The machine of the thread's worktree; None if it has none, or it is unknown."""
    return hosts.get(_WORKTREE)


def _name(role: str, agent: str) -> str:
    return f"{role}/{agent}"


def _is_other(before: "RoleSession | None", after: "RoleSession") -> bool:
    return before is None or before.id != after.id
