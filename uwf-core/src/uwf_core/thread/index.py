"""The thread index: everything that lists and decisions need, kept as tags of the head.

It is one record with the head and moves with it or not at all; it can be rebuilt from the chain,
the attempt variables and the event nodes.
"""

import json
from collections.abc import Mapping
from typing import Any

from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.status import Reason, Status
from uwf_core.thread.usage import Totals


class RoleSession(NamedTuple):
    """A session of a role with one agent.

    `number` is the newest step that it knows; `inherited` says that a fork's parent made it.
    """

    session: str
    number: int
    inherited: bool


class RoleState(NamedTuple):
    """What a role has behind it in this thread: how often it spoke, its newest step, and its
    session with each agent.
    """

    visits: int = 0
    step: str | None = None
    sessions: Mapping[str, RoleSession] = {}


class OpenAttempt(NamedTuple):
    """An attempt that was begun and not ended: under way, or interrupted if nobody has the lock."""

    number: int
    attempt: int
    role: str

    @property
    def name(self) -> str:
        """`<number>.<try>`, as in the name of its variable."""
        return f"{self.number}.{self.attempt}"


class Suspension(NamedTuple):
    """Why a thread waits. `question` refers to the pending question, `until_ms` to a rate limit's
    end.
    """

    reason: Reason
    role: str
    message: str
    kind: str | None = None
    until_ms: int | None = None
    question: str | None = None


class ThreadIndex(NamedTuple):
    """The index. `status` is what is stored; whether it runs is the lock's to say.

    Attributes:
        current_role: the role that the next exec would run, None if there is none.
        agent: the thread's own binding (`thread start --agent`).
        steps: length of the chain; `inherited_steps` of these came with a fork.
        tries: attempts at the pending step that ended without one, so far.
        grants: how often a limit's allowance was granted once more.
    """

    status: Status
    workflow: str
    workflow_name: str
    start: str
    cwd: str
    started_ms: int
    current_role: str | None
    agent: str | None = None
    steps: int = 0
    inherited_steps: int = 0
    roles: Mapping[str, RoleState] = {}
    totals: Totals = Totals({}, {})
    running_ms: int = 0
    tries: int = 0
    grants: int = 0
    attempt: OpenAttempt | None = None
    suspension: Suspension | None = None
    damage: str | None = None

    def role(self, name: str) -> RoleState:
        """The state of a role, also of one that has not spoken yet."""
        return self.roles.get(name) or RoleState()

    def with_role(self, name: str, state: RoleState) -> "ThreadIndex":
        """A copy in which one role's state is `state`."""
        return self._replace(roles={**self.roles, name: state})


# The tag of each field.
_TEXT_TAGS = {
    "status": "status",
    "workflow": "workflow",
    "workflow_name": "workflowName",
    "start": "start",
    "cwd": "cwd",
}
_OPTIONAL_TEXT_TAGS = {"current_role": "currentRole", "agent": "agent", "damage": "damage"}
_NUMBER_TAGS = {
    "started_ms": "startedMs",
    "steps": "steps",
    "inherited_steps": "inheritedSteps",
    "running_ms": "runningMs",
    "tries": "tries",
    "grants": "grants",
}


def to_tags(index: ThreadIndex) -> dict[str, str]:
    """The index as tags: text to text. `status` and `workflowName` are tags of their own so that
    lists can be filtered by them; what is empty is left out.
    """
    tags = {tag: getattr(index, name) for name, tag in _TEXT_TAGS.items()}
    for name, tag in _OPTIONAL_TEXT_TAGS.items():
        if getattr(index, name) is not None:
            tags[tag] = getattr(index, name)
    for name, tag in _NUMBER_TAGS.items():
        if getattr(index, name):
            tags[tag] = str(getattr(index, name))
    for name, state in index.roles.items():
        tags[f"role.{name}"] = _dump(list(state))
    if index.totals.known or index.totals.unknown:
        tags["usage"] = _dump(list(index.totals))
    if index.attempt is not None:
        tags["attempt"] = _dump(list(index.attempt))
    if index.suspension is not None:
        tags["suspension"] = _dump(list(index.suspension))
    return tags


def from_tags(tags: Mapping[str, str]) -> ThreadIndex:
    """The index that these tags say.

    Raises:
        ValueError: they are not the tags of a thread.
    """
    try:
        values: dict[str, Any] = {name: tags[tag] for name, tag in _TEXT_TAGS.items()}
        values |= {name: tags.get(tag) for name, tag in _OPTIONAL_TEXT_TAGS.items()}
        values |= {name: int(tags.get(tag, 0)) for name, tag in _NUMBER_TAGS.items()}
        values["roles"] = {
            name.removeprefix("role."): _role_state(*json.loads(text))
            for name, text in tags.items()
            if name.startswith("role.")
        }
        if "usage" in tags:
            values["totals"] = Totals(*json.loads(tags["usage"]))
        if "attempt" in tags:
            values["attempt"] = OpenAttempt(*json.loads(tags["attempt"]))
        if "suspension" in tags:
            values["suspension"] = Suspension(*json.loads(tags["suspension"]))
        return ThreadIndex(**values)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"not the tags of a thread: {error}") from error


def _role_state(visits: int, step: str | None, sessions: Mapping[str, Any]) -> RoleState:
    known = {agent: RoleSession(*each) for agent, each in sessions.items()}
    return RoleState(visits, step, known)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
