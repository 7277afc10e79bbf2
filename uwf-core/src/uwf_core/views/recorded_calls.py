"""The calls of a recorded step or thread: one of a workflow, or those of the branches."""

from typing import TYPE_CHECKING

from uwf_core.ids import Ref, ThreadId
from uwf_core.thread.calls import CALL_AGENT, OpenCall, open_calls, state_below
from uwf_core.thread.decisions import call_of, session_of
from uwf_core.thread.history import Step, is_start, unordered_events

if TYPE_CHECKING:
    from uwf_core.cas.store import Store


class CallRecord:
    """A `RecordedCall`."""

    def __init__(
        self,
        store: "Store",
        thread: str,
        role: str,
        place: tuple[str, int, str],
        *,
        index: int | None = None,
        name: str | None = None,
        status: str | None = None,
        end: str | None = None,
        event: str | None = None,
    ) -> None:
        self._store = store
        self._caller, self._number, self.caller_role = place
        self._event = event
        self.thread, self.role, self.index, self.name = thread, role, index, name
        self.status, self.end = status, end

    @property
    def key(self) -> str | None:
        """What distinguishes a branch from the others: its name or number."""
        return self.name if self.index is None or self.name is not None else str(self.index)

    @property
    def event(self) -> str | None:
        """The event of the call; None if the called thread is gone."""
        if self._event is None:
            for event in unordered_events(self._store, ThreadId(self.thread)):
                called = event.payload
                place = self._caller, self._number  # a thread can be called again
                if event.kind == "called" and (called["parent"], called["number"]) == place:
                    self._event = event.ref
        return self._event

    @property
    def prompt_ref(self) -> str | None:
        """The node of the instruction."""
        return None if self.event is None else self._store.payload(Ref(self.event))["prompt"]

    @property
    def prompt(self) -> str | None:
        """The instruction; None if the called thread is gone."""
        ref = self.prompt_ref
        return None if ref is None else self._store.text(Ref(ref))

    @property
    def took_step(self) -> bool:
        """Whether the called thread has a step at its end: it may have been cancelled before."""
        return self.end is not None and not is_start(self._store.payload(Ref(self.end)))

    @property
    def state(self) -> str | None:
        """The status of the called thread as it is shown now; None if it cannot be read."""
        found = state_below(self._store, ThreadId(self.thread))
        return None if found is None else found.status


def calls_of_step(store: "Store", step: Step) -> list[CallRecord]:
    """The calls that a step or failed attempt recorded."""
    node = step.payload
    place = node["thread"], node["number"], node["role"]
    if node["agent"] != CALL_AGENT:
        return []
    call = call_of(node)
    branches = call["branches"]
    if branches is None:
        thread = session_of(node)["id"] or ""
        return [CallRecord(store, thread, node["role"], place, end=call["child"])]
    return [
        CallRecord(
            *(store, each["thread"], each["role"], place),
            index=index,
            name=each["name"],
            status=each["status"],
            end=end,
        )
        for index, (each, end) in enumerate(zip(branches, call["children"] or (), strict=True))
    ]


def open_calls_of(store: "Store", thread: ThreadId) -> list[CallRecord]:
    """The open calls of a thread for which its next step waits."""
    return [_open_call(store, call, thread) for call in open_calls(store, thread)]


def _open_call(store: "Store", call: OpenCall, thread: ThreadId) -> CallRecord:
    event = call.variable.value
    called = store.payload(event)
    return CallRecord(
        *(store, str(call.child), called["plays"], (str(thread), call.number, call.role)),
        index=called["index"],
        name=called["branch"],
        event=event,
    )
