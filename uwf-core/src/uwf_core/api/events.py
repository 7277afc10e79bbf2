"""The events that observers receive: one frozen record per hook."""

from collections.abc import Mapping
from typing import Any

from uwf_core.api.agent import Turn, Usage
from uwf_core.named_tuple import NamedTuple


class ThreadStarted(NamedTuple):
    """Sent with a thread's first step. Times are ms since 1970."""

    thread: str
    workflow: str
    workflow_name: str
    cwd: str
    at_ms: int


class StepStarted(NamedTuple):
    """An attempt at a step begins. `attempt` counts from 1 within the step; `answers`: a person's
    answer is its input; `alias`: the alias of the configuration, if the agent is a command.
    """

    thread: str
    number: int
    attempt: int
    role: str
    agent: str
    at_ms: int
    answers: bool = False
    alias: str | None = None


class TurnTaken(NamedTuple):
    """A turn inside the agent's loop, secrets already redacted."""

    thread: str
    number: int
    role: str
    turn: Turn


class StepFinished(NamedTuple):
    """A step is stored and the head has moved.

    Attributes:
        denials: the tools that the agent was denied.
        leads_to: the role that follows, `$END` or `$SUSPEND`; None: its status leads nowhere.
        back: whether the edge leads back: to the role itself, or to one nearer to `$START`.
    """

    thread: str
    number: int
    step: str
    role: str
    agent: str
    output: Mapping[str, Any]
    usage: Usage
    duration_ms: int
    at_ms: int
    denials: tuple[str, ...] = ()
    leads_to: str | None = None
    back: bool = False


class StepFailed(NamedTuple):
    """An attempt failed. `kind` is a word of the closed table of failures (`FailureKind`)."""

    thread: str
    number: int
    attempt: int
    step: str | None
    role: str
    agent: str
    kind: str
    message: str
    at_ms: int


class ThreadEnded(NamedTuple):
    """The thread is `completed` or `cancelled`."""

    thread: str
    workflow: str
    workflow_name: str
    status: str
    at_ms: int
