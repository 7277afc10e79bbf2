"""The events of a run, for the observer contract."""

from collections.abc import Mapping

from uwf_core.api.agent import ToolCall, Turn, Usage
from uwf_core.api.events import (
    StepAsked,
    StepFailed,
    StepFinished,
    StepStarted,
    ThreadEnded,
    ThreadStarted,
    TurnTaken,
)
from uwf_core.errors import FailureKind

Event = (
    ThreadStarted | StepStarted | TurnTaken | StepFinished | StepFailed | StepAsked | ThreadEnded
)
HOOKS: Mapping[type, str] = {
    ThreadStarted: "uwf_thread_started",
    StepStarted: "uwf_step_started",
    TurnTaken: "uwf_turn",
    StepFailed: "uwf_step_failed",
    StepAsked: "uwf_step_asked",
    StepFinished: "uwf_step_finished",
    ThreadEnded: "uwf_thread_ended",
}
"""The hook of each event."""

_THREAD = "01JD0000000000000000000000"
_WORKFLOW = "2ZK7Q9M4T1B8X"
_STEP = "5C3N8R2W7V6HJ"
_ODD = 'ä "\\ \x1b[31m \U0001f680 漢字\r\n--- {not: json}\n'


def events_of_a_run(thread: str = _THREAD) -> list[Event]:
    """A run: one attempt for each kind of failure, a question to a person, a turn of each role, and
    a finished step.
    """
    begun = ThreadStarted(thread, _WORKFLOW, "fix-bug", "/work", 1_700_000_000_000)
    kinds = [kind.word for kind in FailureKind]
    failed = [_failed(thread, number, kind) for number, kind in enumerate(kinds, 1)]
    asked, last = len(kinds) + 1, len(kinds) + 2
    tool = ToolCall(id="1", name="read_file", arguments='{"path": "a"}', result=_ODD)
    turns = [
        Turn(index=0, role="assistant", text=_ODD, reasoning=_ODD, tool_calls=(tool,)),
        Turn(index=1, role="tool", usage=Usage(input_tokens=7)),
        Turn(index=2, role="note", text=""),
    ]
    output = {"$status": "done", "summary": _ODD, "files": ["a.py"], "more": {"none": None}}
    return [
        begun,
        *(event for each in failed for event in each),
        StepStarted(thread, 1, asked, "writer", "mock", begun.at_ms),
        StepAsked(thread, 1, asked, "writer", "mock", _ODD, begun.at_ms),
        StepStarted(thread, 1, last, "writer", "mock", begun.at_ms),
        *(TurnTaken(thread, 1, "writer", turn) for turn in turns),
        StepFinished(
            *(thread, 1, _STEP, "writer", "mock", output, Usage(), 0, begun.at_ms, ("shell",)),
        ),
        ThreadEnded(thread, _WORKFLOW, "fix-bug", "completed", begun.at_ms),
    ]


def _failed(thread: str, attempt: int, kind: str) -> tuple[Event, Event]:
    """A failed attempt; of every second one no step is stored."""
    step = _STEP if attempt % 2 else None
    return (
        StepStarted(thread, 1, attempt, "writer", "mock", 1_700_000_000_000),
        StepFailed(thread, 1, attempt, step, "writer", "mock", kind, _ODD, at_ms=1_700_000_000_001),
    )
