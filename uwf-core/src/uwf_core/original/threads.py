"""A thread of the original as a thread of uwf: its events, folded into its head."""

from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.engine.agents import mark_imported
from uwf_core.ids import Ref, ThreadId
from uwf_core.original.fields import text
from uwf_core.original.steps import StepWriter, failed_before, interrupted, read_chain
from uwf_core.original.turns import TurnChains
from uwf_core.original.workflow import publish_original
from uwf_core.thread.decisions import Event, cancels, ends, runs
from uwf_core.thread.head import ORIGINAL, to_tags
from uwf_core.thread.history import inherited_steps
from uwf_core.thread.names import event_name, head_name
from uwf_core.thread.state import begin, fold
from uwf_core.thread.task_line import task_tag
from uwf_core.workflow.definition import START

if TYPE_CHECKING:
    from collections.abc import Mapping

    from uwf_core.engine.engine import Engine
    from uwf_core.original.names import OriginalThread
    from uwf_core.original.nodes import NodeCopy
    from uwf_core.original.steps import OriginalChain
    from uwf_core.thread.state import ThreadState
    from uwf_core.thread.types import NextPayload
    from uwf_core.workflow.definition import Definition


class BuiltThread(NamedTuple):
    """A thread whose nodes are stored, and whose names are not.

    Attributes:
        thread: its id. head: its newest step or its start. state: the state after all events.
        events: the names and nodes of its events. tags: those of its head.
    """

    thread: ThreadId
    head: Ref
    state: "ThreadState"
    events: "Mapping[str, Ref]"
    tags: "Mapping[str, str]"


class ThreadBuilder:
    """Builds threads from the oldest on: a fork shares the steps that an older one has stored.

    Args:
        engine: the engine, within a transaction. copy: the nodes of the home.
    """

    def __init__(self, engine: "Engine", copy: "NodeCopy") -> None:
        self._engine = engine
        self._copy = copy
        self._chains = TurnChains(copy)
        self._workflows: dict[str, Ref] = {}
        self._starts: dict[str, Ref] = {}
        self._steps: dict[str, Ref] = {}

    def add_turns(self, threads: "list[OriginalThread]") -> None:
        """Read the turns of all threads, before one is built."""
        for each in threads:
            self._chains.add(each.turns)

    def workflow(self, ref: str) -> Ref:
        """The workflow at `ref` of the home, in the form of uwf; raises as `publish_original`."""
        if ref not in self._workflows:
            self._workflows[ref] = publish_original(self._copy, ref)
        return self._workflows[ref]

    def build(self, original: "OriginalThread") -> BuiltThread:
        """Store the nodes of a thread.

        Raises:
            MissingNodeError, NotImported: a part of it is missing, or has no form here.
            BundleError, CollisionError: the home is damaged.
        """
        engine, chain = self._engine, read_chain(self._copy, original.head)
        definition = engine.definition(self.workflow(text(chain.begun, "workflow")))
        start = self._start(original.thread, chain, definition)
        shared = self._shared(chain)
        head = self._steps[chain.steps[shared - 1][0]] if shared else start
        fields = {
            "workflow": definition.ref,
            "workflowName": definition.name,
            "start": start,
            "head": head,
            "cwd": text(chain.begun, "cwd"),
            "agent": None,
            "depth": 0,
            "limits": None,
            "next": self._decision_at(head, definition),
        }
        thread, events = original.thread, dict[str, Ref]()
        began = self._event(thread, 0, "started", fields, events)
        state = begin(began, inherited_steps(engine.store, head))
        head, state = self._rest(chain, shared, head, state, definition)
        to = _unsaid(original, state)
        if to is not None:
            kind = "cancelled" if to["status"] == "cancelled" else "unrouted"
            state = fold(state, self._event(thread, state.seq, kind, {"next": to}, events))
        tags = {**to_tags(state), **task_tag(engine.store, state.start), ORIGINAL: original.id}
        return BuiltThread(thread, head, state, events, tags)

    def _shared(self, chain: "OriginalChain") -> int:
        """How many of its first steps an older thread has."""
        known = (ref in self._steps for ref, _ in chain.steps)
        return next((place for place, each in enumerate(known) if not each), len(chain.steps))

    def _rest(
        self,
        chain: "OriginalChain",
        shared: int,
        head: Ref,
        state: "ThreadState",
        definition: "Definition",
    ) -> "tuple[Ref, ThreadState]":
        """Store the steps of the thread itself; the head and the state after them."""
        writer = StepWriter(self._engine, self._copy, self._chains, definition)
        prev = str(head) if shared else None
        for ref, step in chain.steps[shared:]:
            failed = list[str]()
            for each in failed_before(step):
                attempt = writer.failed(state, prev, each)
                failed.append(attempt.ref)
                state = fold(state, attempt)
            event = writer.delivered(state, prev, ref, failed)
            state, prev = fold(state, event), event.ref
            self._steps[ref] = head = Ref(event.ref)
        return head, state

    def _start(self, thread: ThreadId, chain: "OriginalChain", definition: "Definition") -> Ref:
        if chain.start not in self._starts:
            store = self._engine.store
            payload = {
                "workflow": definition.ref,
                "prompt": store.put_text(text(chain.begun, "prompt")),
                "cwd": text(chain.begun, "cwd"),
                "startedAtMs": thread.created_ms,
                "depth": 0,
                **dict.fromkeys(("agent", "parent", "input", "bindings", "limits")),
            }
            self._starts[chain.start] = self._engine.nodes.put("start", payload)
            mark_imported(store, self._starts[chain.start])
        return self._starts[chain.start]

    def _decision_at(self, head: Ref, definition: "Definition") -> "NextPayload":
        payload = self._engine.store.payload(head)
        if "next" in payload:
            return payload["next"]  # type: ignore[no-any-return]
        return runs(definition.graph[START]["new"].role)

    def _event(
        self,
        thread: ThreadId,
        seq: int,
        kind: str,
        fields: "Mapping[str, Any]",
        events: dict[str, Ref],
    ) -> Event:
        payload = {"thread": thread, "seq": seq, "atMs": thread.created_ms, "by": None, **fields}
        ref, plain = self._engine.nodes.put_plain(kind, payload)
        events[event_name(thread, seq, kind)] = ref
        return Event(kind, ref, plain)


def name_thread(engine: "Engine", built: BuiltThread) -> None:
    """Store the names of a built thread, within a transaction."""
    for name, ref in built.events.items():
        engine.store.set_variable(name, ref, {}, None)
    engine.store.set_variable(head_name(built.thread), built.head, built.tags, None)


def _unsaid(original: "OriginalThread", state: "ThreadState") -> "NextPayload | None":
    """The decision that the steps do not tell; None if they tell it."""
    if original.status == state.status:
        return None
    if original.status == "cancelled":
        return cancels()
    if original.status == "completed":
        return ends()
    if original.status == "suspended":
        role = original.role or state.current_role or ""
        return interrupted(role, original.message or "the original suspended it")
    return None
