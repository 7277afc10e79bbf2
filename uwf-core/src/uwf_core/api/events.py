"""The events that observers receive: one frozen record per hook."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from uwf_core.api.agent import Turn, Usage


class ThreadStarted(NamedTuple):
    """Sent with a thread's first step.

    Attributes:
        thread: the id of the thread, in each event.
        workflow: the reference of the workflow's node.
        workflow_name: its name.
        cwd: the working folder of the thread, absolute.
        at_ms: when it happened, in ms since 1970, in each event.
    """

    thread: str
    workflow: str
    workflow_name: str
    cwd: str
    at_ms: int


class StepStarted(NamedTuple):
    """An attempt at a step begins.

    Attributes:
        thread, at_ms: as in `ThreadStarted`.
        number: of the step in the thread, from 1.
        attempt: of the attempt at that step, from 1.
        role: the role that runs.
        agent: as the step records it: the name of a plugin, or a command line.
        answers: whether a person's answer is its input.
        alias: the alias of the configuration, if the agent is a command; else None.
        label: in a called thread, the step's number in the whole tree, outermost first: `2.1` is
            step 1 of the thread that step 2 calls, `2.0` and `2.style` are branches of step 2
            (counted as `$index`), `2.0.1` is step 1 of a workflow that is a branch; else empty.
        callers: in a called thread, the root thread and the references of the calls (events) that
            lead from it to this thread; else empty.
    """

    thread: str
    number: int
    attempt: int
    role: str
    agent: str
    at_ms: int
    answers: bool = False
    alias: str | None = None
    label: str = ""
    callers: tuple[str, ...] = ()


class TurnTaken(NamedTuple):
    """A turn inside the agent's loop, secrets already redacted. Of the branches of a fan-out, one
    comes at most twice a second, with texts of 2,000 characters at most.

    Attributes:
        thread, number, role: as in `StepStarted`.
        turn: the turn; one that grows comes again with the same `index`.
    """

    thread: str
    number: int
    role: str
    turn: Turn


class StepFinished(NamedTuple):
    """A step is stored and the head has moved.

    Attributes:
        thread, number, role, agent, label: as in `StepStarted`.
        step: the reference of the step's node.
        output: what the role delivered, with `$status`.
        usage: of the whole step: its attempt and the extractor.
        duration_ms: of the attempt, in milliseconds.
        at_ms: when the attempt ended.
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
    label: str = ""


class StepFailed(NamedTuple):
    """An attempt failed.

    Attributes:
        thread, number, attempt, role, agent, label: as in `StepStarted`.
        step: the reference of the failed attempt's node; None if none was stored.
        kind: a word of the closed table of failures (`FailureKind`).
        message: what is wrong, secrets redacted.
        at_ms: when the attempt ended.
    """

    thread: str
    number: int
    attempt: int
    step: str | None
    role: str
    agent: str
    kind: str
    message: str
    at_ms: int
    label: str = ""


class StepAsked(NamedTuple):
    """An attempt ended with a question to a person, and without a step.

    Attributes:
        thread, number, attempt, role, agent, label: as in `StepStarted`.
        message: the question, secrets redacted.
        at_ms: when the attempt ended.
    """

    thread: str
    number: int
    attempt: int
    role: str
    agent: str
    message: str
    at_ms: int
    label: str = ""


class ThreadEnded(NamedTuple):
    """The thread has ended.

    Attributes:
        thread, workflow, workflow_name, at_ms: as in `ThreadStarted`.
        status: `completed` or `cancelled`.
    """

    thread: str
    workflow: str
    workflow_name: str
    status: str
    at_ms: int
