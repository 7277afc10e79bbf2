"""The names of a thread's variables."""

from uwf_core.ids import ThreadId

HEADS = "@uwf/thread/"
ATTEMPTS = "@uwf/attempt/"
TURNS = "@uwf/turn/"
EVENTS = "@uwf/event/"
ASKS = "@uwf/ask/"


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
    """The turns of the attempt under way; gone once they are part of a step."""
    return f"{TURNS}{thread}/{attempt}/" if attempt else f"{TURNS}{thread}/"


def turn_name(thread: ThreadId, attempt: str, place: int) -> str:
    """One turn of an attempt, numbered in the order in which it came."""
    return f"{TURNS}{thread}/{attempt}/{place:08}"


def events_prefix(thread: ThreadId) -> str:
    """The events of a thread."""
    return f"{EVENTS}{thread}/"


def event_name(thread: ThreadId, at_ms: int, what: str) -> str:
    """One event; the names sort by time, `what` tells those of one millisecond apart."""
    return f"{EVENTS}{thread}/{at_ms:015}.{what}"


def ask_name(step: str) -> str:
    """The cached fork that answers questions about a step."""
    return f"{ASKS}{step}"


def lock_name(thread: ThreadId) -> str:
    """The lock of a thread: whoever holds it may write."""
    return f"thread/{thread}"
