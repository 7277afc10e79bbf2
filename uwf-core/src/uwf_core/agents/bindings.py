"""The agents that a thread's roles are bound to: `--agent AGENT`, `--agent develop/reviewer=AGENT`.

A path leads from the workflow of the root through the roles that call workflows; the longest path
wins. A child thread gets what the rest of the path says. Pure.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from uwf_core.errors import UnknownIdError, UsageError
from uwf_core.fields.mismatch import suggestion

_BINDING = re.compile(r"(\w[\w.-]*(?:/\w[\w.-]*)*)=(.*)", re.DOTALL)
_OPTION = "--agent"


class Bindings(NamedTuple):
    """Words of agents.

    Attributes:
        agent: for all roles of the thread, and of the threads that it calls, without another one.
        roles: by path of roles. That of a role which calls a workflow holds for all roles below.
    """

    agent: str | None = None
    roles: Mapping[str, str] = {}


def parse_bindings(words: Iterable[str]) -> Bindings:
    """The bindings of the values of `--agent`: `ROLE=AGENT`, or an agent for all roles.

    Raises:
        UsageError: two values are for the same roles.
    """
    agent, roles = None, dict[str, str]()
    for each in words:
        found = _BINDING.fullmatch(each)
        if found is None and agent is None:
            agent = each
        elif found is not None and found[1] not in roles:
            roles[found[1]] = found[2]
        else:
            whose = "for all roles" if found is None else f"for the role {found[1]!r}"
            raise UsageError(
                f"{_OPTION} is given twice {whose}",
                where=_OPTION,
                hint=f"write {_OPTION} ROLE=AGENT for each role, and one {_OPTION} for the others",
            )
    return Bindings(agent, roles)


def branch_bindings(bindings: Bindings, role: str) -> Bindings:
    """The bindings of a thread that `role` of a thread with these bindings plays as a branch."""
    own = {path: word for path, word in bindings.roles.items() if path == role}
    return Bindings(bindings.agent, own)


def child_bindings(bindings: Bindings, role: str) -> Bindings:
    """The bindings of a thread that `role` of a thread with these bindings calls."""
    prefix = f"{role}/"
    below = {
        path.removeprefix(prefix): word
        for path, word in bindings.roles.items()
        if path.startswith(prefix)
    }
    return Bindings(bindings.roles.get(role, bindings.agent), below)


def check_paths(
    paths: Iterable[str], workflow: Any, roles_of: Callable[[Any], Mapping[str, Any]]
) -> None:
    """Check that each path leads to a role.

    Args:
        paths: of bindings. workflow: of the root.
        roles_of: the roles of a workflow, each with the workflow that it calls, or None.

    Raises:
        UnknownIdError: one does not.
    """
    for path in paths:
        called = workflow
        for name in path.split("/"):
            if called is None:
                raise UnknownIdError(
                    f"unknown role {path!r}: the role before {name!r} calls no workflow",
                    where=_OPTION,
                    hint="next: uwf workflow graph WORKFLOW",
                )
            roles = roles_of(called)
            if name not in roles:
                within = f" in {path!r}" if name != path else ""
                raise UnknownIdError(
                    f"unknown role {name!r}{within}",
                    where=_OPTION,
                    hint=suggestion(name, roles),
                )
            called = roles[name]
