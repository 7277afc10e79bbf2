"""Make bundles of threads that another program has recorded, in a temporary store."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.api.agent import usage_payload
from uwf_core.api.importers import Ending, ImportedStep, ImportedThread
from uwf_core.cas import node_file
from uwf_core.cas.codec import decode
from uwf_core.cas.hashing import META as META
from uwf_core.cas.hashing import ref_of
from uwf_core.cas.references import references_in
from uwf_core.engine.events import begin_thread, save_event
from uwf_core.engine.fork import decision_at
from uwf_core.engine.open_engine import open_engine
from uwf_core.engine.progress import save_turn
from uwf_core.errors import InvalidOutput, RoutingFailed
from uwf_core.extract.split import split_reply
from uwf_core.fields.records import write_record
from uwf_core.ids import Ref, ThreadId
from uwf_core.moderator.next import apply_edge
from uwf_core.thread.decisions import Event, asked_for, cancels, ends, session_payload, waits
from uwf_core.thread.fold import fold
from uwf_core.thread.head import ORIGINAL, Head, move_head
from uwf_core.thread.history import inherited_steps
from uwf_core.thread.types import StepPayload
from uwf_core.workflow.definition import Edge, RoleText, Workflow
from uwf_core.workflow.publish import publish
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.engine import Engine
    from uwf_core.thread.types import NextPayload

ENGINE = "original"
"""What these steps record as the version of the engine."""

_UNUSED: Mapping[str, Any] = dict.fromkeys(StepPayload.__annotations__)
"""Many fields are null in such steps. A session is named in the detail alone: it belongs to a
service that uwf does not call.
"""


class NodeRecord(NamedTuple):
    """A node in a file of ocas: its reference, that of its type, and its payload."""

    ref: Ref
    type: Ref
    payload: Any


def read_node(content: bytes) -> NodeRecord:
    """The node in the bytes of a file of ocas; its reference is computed.

    Raises:
        CorruptNodeError, PayloadError: they are not a node.
    """
    node = node_file.from_bytes(content)
    return NodeRecord(ref_of(node.type, node.data), Ref(node.type), decode(node.data))


class BundleWriter:
    """The `BundleMaker` of importers.

    Args:
        folder: an empty one, for the store and the bundles.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self.engine: Engine = open_engine(env={"HOME": folder}, cwd=folder, durable=False)

    def close(self) -> None:
        """Close the store."""
        self.engine.close()

    def put_type(self, schema: Any) -> Ref:
        """Store a JSON Schema as a type; raises PayloadError."""
        return self.engine.store.put_schema(schema)

    def put(self, type_: str, payload: Any) -> Ref:
        """Store a node of a type; raises PayloadError."""
        return self.engine.store.put(type_, payload)

    def references(self, type_: str, payload: Any) -> set[str]:
        """The nodes that a payload of a type refers to."""
        return references_in(self.engine.store.schema(type_), payload)

    def workflow(self, workflow: Mapping[str, Any]) -> Ref:
        """Store a workflow, as in a checked file; raises PayloadError."""
        return publish_plain(self.engine.store, workflow)

    def thread(
        self, thread: str, original: str, workflow: Ref, *, task: str, cwd: str, after: Ref | None
    ) -> "ThreadWriter":
        """Begin a thread; see the contract."""
        store, began = self.engine.store, ThreadId(thread).created_ms
        start = None if after is None else store.payload(after)["start"]
        if start is None:
            payload = {
                "workflow": workflow,
                "prompt": store.put_text(task),
                "cwd": cwd,
                "startedAtMs": began,
                "depth": 0,
                **dict.fromkeys(("agent", "parent", "input", "bindings", "limits")),
            }
            start = self.engine.nodes.put("start", payload)
        definition, head = self.engine.definition(workflow), after or Ref(start)
        fields = {
            "workflow": workflow,
            "workflowName": definition.name,
            "start": start,
            "head": head,
            "cwd": cwd,
            "agent": None,
            "depth": 0,
            "limits": None,
            "atMs": began,
            "next": decision_at(self.engine, head, definition),
        }
        begun = begin_thread(
            self.engine, ThreadId(thread), fields, inherited_steps(store, Ref(head))
        )
        variable = begun.variable
        tags = {**variable.tags, ORIGINAL: original}
        marked = store.set_variable(variable.name, begun.ref, tags, variable)
        return ThreadWriter(self, begun._replace(variable=marked))


class ThreadWriter:
    """Writes the steps of a thread, oldest first."""

    def __init__(self, maker: BundleWriter, head: Head) -> None:
        self._maker, self._engine = maker, maker.engine
        self._head = head
        self._definition = self._engine.definition(Ref(head.state.workflow))

    def step(self, step: ImportedStep) -> Ref:
        """Store a step after the failed attempts at it; return its node."""
        failed = [self._failed(each) for each in step.failed]
        store, output = self._engine.store, Ref(step.output or "")
        split = split_reply(_reply(step))
        body = "" if isinstance(split, str) else split.body
        return self._save(
            step,
            status=store.payload(output).get(STATUS),
            output=output,
            next=self._decision(step.role, output, body),
            previousAttempts=failed,
            body=store.put_text(body) if body else None,
        )

    def end(self, status: Ending, role: str | None = None, message: str = "") -> ImportedThread:
        """Write the bundle of the thread; see the contract."""
        from uwf_core.maintenance.export_bundle import export_thread

        state = self._head.state
        to: NextPayload | None = None
        if status == "suspended":
            to = waits("failure", role or state.current_role or "", message, kind=_FAILED)
        elif status != "idle":
            to = cancels() if status == "cancelled" else ends()
        if to is not None and status != state.status:
            fields = {"next": to, "atMs": ThreadId(state.thread).created_ms}
            more = {"cause": "person"} if status == "cancelled" else {}
            kind = "cancelled" if more else "unrouted"
            self._head = save_event(self._engine, self._head, kind, **fields, **more)
        thread, state = self._head.thread, self._head.state
        file = str(Path(self._engine.cwd, f"{thread}.tar"))
        export_thread(self._engine, thread, file)
        return ImportedThread(
            original=self._head.original or "",
            thread=thread,
            status=state.status,
            bundle=file,
            workflow_name=state.workflow_name,
            steps=state.steps,
        )

    def _failed(self, step: ImportedStep) -> Ref:
        failure = InvalidOutput(step.error or "the attempt failed")
        return self._save(
            step,
            failure={
                "kind": failure.kind.word,
                "message": failure.message,
                "until": None,
                "policy": None,
            },
            session=session_payload(None, kept=False),
            next=waits("failure", step.role, failure.message, kind=failure.kind.word),
            previousAttempts=[],
        )

    def _decision(self, role: str, output: Ref, body: str) -> "NextPayload":
        try:
            payload = self._engine.store.payload(output)
            return apply_edge(self._definition, role, payload, body).decision(0)
        except RoutingFailed as failure:
            return waits("failure", role, failure.message, kind=failure.kind.word)

    def _save(self, step: ImportedStep, **fields: Any) -> Ref:
        state, nodes, put_text = self._head.state, self._engine.nodes, self._engine.store.put_text
        turns = [str(save_turn(self._engine, turn.index, turn)) for turn in step.turns]
        began = step.started_ms or step.ended_ms or state.started_ms
        ended, raw = max(step.ended_ms or began, began), _reply(step)
        edge = put_text(step.edge_prompt)
        payload = {
            **_UNUSED,
            "attempt": asked_for(
                number=state.tries + 1,
                edgePrompt=edge,
                instruction=edge,
                prompt=put_text(step.prompt),
                cwd=step.cwd or state.cwd,
            ),
            "thread": state.thread,
            "seq": state.seq,
            "number": state.steps + 1,
            "start": state.start,
            "workflow": state.workflow,
            "prev": None if self._head.at_start else str(self._head.ref),
            "role": step.role,
            "agent": step.agent,
            "extractor": "frontmatter",
            "raw": put_text(raw) if raw else None,
            "detail": nodes.put("detail", {"session": step.session, "turns": turns}),
            "engineVersion": ENGINE,
            "startedAtMs": began,
            "completedAtMs": ended,
            "usage": {**usage_payload(step.usage), "durationMs": ended - began},
            "denials": [],
            "corrections": [],
            "proof": step.proof,
            "ancestors": [*state.ancestors] or None,
            **fields,
        }
        event = Event("step", *nodes.put_plain("step", payload))
        is_step = payload["failure"] is None
        ref = Ref(event.ref) if is_step else self._head.ref
        self._head = move_head(self._engine.store, self._head, ref, fold(state, event))
        return Ref(event.ref)


_FAILED = InvalidOutput("").kind.word


def publish_plain(store: "Store", workflow: Mapping[str, Any]) -> Ref:
    """Store a workflow that may lack fields with defaults; raises PayloadError."""
    roles = {name: RoleText(**role) for name, role in workflow["roles"].items()}
    graph = {
        name: {status: Edge(**edge) for status, edge in edges.items()}
        for name, edges in workflow["graph"].items()
    }
    return publish(store, write_record(Workflow(**{**workflow, "roles": roles, "graph": graph})))


def _reply(step: ImportedStep) -> str:
    """The newest text of the agent, empty without one."""
    spoken = (turn.text for turn in reversed(step.turns) if turn.role == "assistant")
    return next((text for text in spoken if text.strip()), "")
