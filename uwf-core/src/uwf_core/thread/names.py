"""The names of a thread's statuses and of its variables."""

from typing import Final, Literal

from uwf_core.ids import ThreadId

Status = Literal["idle", "running", "suspended", "completed", "cancelled", "corrupt"]
Reason = Literal["role", "failure", "limit", "interrupted"]

STATUSES: Final = ("idle", "running", "suspended", "completed", "cancelled", "corrupt")
FINISHED: Final = ("completed", "cancelled")
OPEN: Final = tuple(status for status in STATUSES if status not in FINISHED)

HEADS = "@uwf/thread/"
ATTEMPTS = "@uwf/attempt/"
TURNS = "@uwf/turn/"
EVENTS = "@uwf/event/"
CALLS = "@uwf/call/"
ASKED = "@uwf/asked/"
ASKS = "@uwf/ask/"
FILES = "@uwf/files/"
IMPORTED = "@uwf/foreign/"
PROGRAMS = "@uwf/programs/"
SCHEDULES = "@uwf/schedule/"

TASK = "task"
"""The tag of a head with the first line of the task, which lists show without reading a node; not
part of the state.
"""
QUEUED = "queued"
"""The tag of a thread that was handed to workers (`--queue`): each process that moves it from
then on also writes its dispatch row. Not part of the state.
"""
UNATTENDED = "unattended"
"""The tag of a thread whose newest run was to continue by itself (`run`, `--until-done`,
`--background`): `tick` continues it. It ends with the thread. Not part of the state.
"""
ALIAS_TAG = "alias"
"""The tag of an attempt that keeps the alias by which its agent was chosen."""


def head_name(thread: ThreadId) -> str:
    """The head of a thread."""
    return f"{HEADS}{thread}"


def attempts_prefix(thread: ThreadId) -> str:
    """All attempts at the pending step of a thread."""
    return f"{ATTEMPTS}{thread}/"


def attempt_name(thread: ThreadId, attempt: str) -> str:
    """One attempt: `attempt` is `<number>.<try>`."""
    return f"{ATTEMPTS}{thread}/{attempt}"


def turns_prefix(thread: ThreadId, attempt: str = "") -> str:
    """The turns of the open attempt; deleted when they are part of a step."""
    return f"{TURNS}{thread}/{attempt}/" if attempt else f"{TURNS}{thread}/"


def turn_name(thread: ThreadId, attempt: str, place: int) -> str:
    """One turn of an attempt, numbered in the order in which it came."""
    return f"{TURNS}{thread}/{attempt}/{place:08}"


def events_prefix(thread: ThreadId) -> str:
    """The events of a thread."""
    return f"{EVENTS}{thread}/"


def event_name(thread: ThreadId, seq: int, kind: str) -> str:
    """One event, by its number; the names sort in the order of the events."""
    return f"{EVENTS}{thread}/{seq:08}.{kind}"


def event_kind(name: str) -> str:
    """The kind of the event with this name."""
    return name.rpartition(".")[2]


def calls_prefix(thread: ThreadId) -> str:
    """The open calls of a thread."""
    return f"{CALLS}{thread}/"


def call_name(thread: str, number: int, child: str) -> str:
    """An open call, by the thread that calls, the number of its step, and the called thread."""
    return f"{CALLS}{thread}/{number:08}/{child}"


def agent_call_name(thread: str, attempt: str, child: str) -> str:
    """A thread that the agent of an open attempt (`<number>.<try>`) has started."""
    return f"{CALLS}{thread}/{attempt}/{child}"


def asked_prefix(thread: ThreadId) -> str:
    """The questions that were asked about steps of a thread (`step ask`)."""
    return f"{ASKED}{thread}/"


def asked_name(thread: str, ask: str) -> str:
    """One such question, by its node."""
    return f"{ASKED}{thread}/{ask}"


def files_prefix(thread: ThreadId) -> str:
    """The files of a thread that may move to another machine, attempt by attempt."""
    return f"{FILES}{thread}/"


def files_name(thread: ThreadId, seq: int) -> str:
    """What an attempt has added to them, by the number of events after it."""
    return f"{FILES}{thread}/{seq:08}"


def ask_name(step: str) -> str:
    """The cached fork that answers questions about a step."""
    return f"{ASKS}{step}"


def imported_name(start: str) -> str:
    """The mark of a start node that came with a bundle."""
    return f"{IMPORTED}{start}"


def programs_name(workflow: str) -> str:
    """The permission of a workflow to run programs."""
    return f"{PROGRAMS}{workflow}"


def prefixes_of(thread: ThreadId) -> tuple[str, ...]:
    """The prefixes of a thread's variables besides its head."""
    prefixes = (
        *(attempts_prefix, events_prefix, turns_prefix, calls_prefix, asked_prefix),
        files_prefix,
    )
    return tuple(prefix(thread) for prefix in prefixes)


def thread_of(name: str) -> ThreadId | None:
    """The thread of a variable, None if the variable belongs to no thread."""
    for area in (HEADS, ATTEMPTS, TURNS, EVENTS, CALLS, ASKED, FILES):
        if name.startswith(area):
            thread = name.removeprefix(area).partition("/")[0]
            return ThreadId(thread) if ThreadId.matches(thread) else None
    return None


def lock_name(thread: ThreadId) -> str:
    """The lock of a thread, which its writer holds."""
    return f"thread/{thread}"


ANY_HOST = "any"
NEEDS, PRIORITY, HOST = "needs", "priority", "host"
"""The tags for the needs of a thread: labels `a,b`; a number; the name of a
machine, or `any` if its folder is the same on all.
"""
