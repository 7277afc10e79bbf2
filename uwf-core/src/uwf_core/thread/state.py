"""The state of a thread: what the fold of its stored events gives.

    start ─▶ idle ─exec▶ idle … ─▶ completed ─resume▶ …
              │  ▲         │
            cancel└─resume─┴▶ suspended (role · failure · limit · interrupted) ─exec/resume▶ …
              ▼
          cancelled

`running` is not stored: a process holds the lock now. An attempt that is open while no process
holds the lock was interrupted.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from uwf_core.api.sums import (
    NOTHING_RESERVED,
    NOTHING_USED,
    LedgerPayload,
    ReservePayload,
    UsagePayload,
)
from uwf_core.thread.decisions import (
    Caller,
    Expired,
    OpenAttempt,
    Substitute,
    Suspension,
    Wait,
    Worktree,
)
from uwf_core.thread.names import Status
from uwf_core.thread.used import Used

FOLD_VERSION: Final = 10
"""Increased when `fold` gives another state for the same events; older tags are folded again."""

CALL: Final = "call"
"""The scope of a limit of the newest call; a grant for it ends with the call."""


class RoleSession(NamedTuple):
    """A session of a role with one agent. `number` is the newest step that it knows, `mark` the
    place in it after that step; `inherited`: the parent of a fork made it.
    """

    id: str
    number: int
    inherited: bool
    mark: str | None

    @property
    def knows_role(self) -> bool:
        """Whether the role has delivered in it; else it may not have got its prompt."""
        return self.number > 0


class RoleState(NamedTuple):
    """A role in this thread: how many steps it has delivered, its newest step, its session with
    each agent, and what it has used here, without the steps that came with a fork.

    `runs` are its steps, `leaf_steps` those of agents, persons and programs, also in its calls.
    `elapsed_ms` is the time during which it was next. Its last `unchanged` steps left the same
    `result`: the status and the files, or the task and the output; None after that of a person.
    """

    visits: int = 0
    step: str | None = None
    sessions: Mapping[str, RoleSession] = {}
    runs: int = 0
    leaf_steps: int = 0
    running_ms: int = 0
    elapsed_ms: int = 0
    result: str | None = None
    unchanged: int = 0
    usage: UsagePayload = NOTHING_USED

    def with_session(self, agent: str, session: RoleSession | None) -> "RoleState":
        """A copy in which the agent's session is this one, or none."""
        others = {name: each for name, each in self.sessions.items() if name != agent}
        return self._replace(sessions=others if session is None else {**others, agent: session})


class ThreadState(NamedTuple):
    """The state; `status` is the stored one.

    Attributes:
        seq: the number of its events, and of the next one.
        current_role: the role that the next exec would run, None if there is none.
        agent: the thread's own binding (`thread start --agent`).
        steps: length of the chain; `inherited_steps` of these came with a fork.
        tries: attempts at the pending step that ended without one, so far.
        failures: of these, those of its agent that count for a retry. kills: those in a row that a
            signal or a kill has ended. wait: until when the next role waits.
        substitutes: who plays in place of an agent of `anyOf` that failed, by role.
        since_ms: when the next step became so; 0 while it is completed.
        expired: the question in place of whose answer the pending step runs.
        limits: those of its start. largest: the most that one leaf step has used.
        grants: what persons added to limits: the amount of each limit, by what it holds for.
        depth: how many calls are above it. caller: the newest one, None for a root.
        called_steps: those of threads that it called, less the own steps that called them; totals
            and running_ms have these too.
        ancestors: `[k]` is its newest step whose number is a multiple of 2^k.
        compacted: its newest Compacted event. given_tags: those of persons.
        used: the sums of its attempts, without those of threads that it called.
    """

    thread: str
    seq: int
    status: Status
    workflow: str
    workflow_name: str
    start: str
    cwd: str
    started_ms: int
    current_role: str | None = None
    agent: str | None = None
    steps: int = 0
    inherited_steps: int = 0
    roles: Mapping[str, RoleState] = {}
    totals: UsagePayload = NOTHING_USED
    running_ms: int = 0
    since_ms: int = 0
    tries: int = 0
    failures: int = 0
    kills: int = 0
    substitutes: Mapping[str, Substitute] = {}
    wait: Wait | None = None
    expired: Expired | None = None
    limits: Mapping[str, float] | None = None
    largest: ReservePayload = NOTHING_RESERVED
    grants: Mapping[str, Mapping[str, float]] = {}
    depth: int = 0
    called_steps: int = 0
    ancestors: tuple[str, ...] = ()
    worktree: Worktree | None = None
    compacted: str | None = None
    given_tags: Mapping[str, str] = {}
    caller: Caller | None = None
    attempt: OpenAttempt | None = None
    suspension: Suspension | None = None
    used: tuple[Used, ...] = ()

    @property
    def ledger(self) -> LedgerPayload:
        """What it has used with all that it called. Steps that came with a fork do not count."""
        own = self.steps - self.inherited_steps
        return {
            "steps": own + self.called_steps,
            "runningMs": self.running_ms,
            "usage": self.totals,
            "largest": self.largest,
        }

    @property
    def is_entered(self) -> bool:
        """Whether it was called and has not taken a step since."""
        return self.caller is not None and self.caller.steps == self.steps

    def role(self, name: str) -> RoleState:
        """The state of a role, also of one without a step."""
        return self.roles.get(name) or RoleState()

    def with_role(self, name: str, state: RoleState) -> "ThreadState":
        """A copy in which one role's state is `state`."""
        return self._replace(roles={**self.roles, name: state})
