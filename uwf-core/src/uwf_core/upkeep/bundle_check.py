"""Check that a bundle is one thread: its names, the kinds of its nodes, tags that match them."""

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from uwf_core.cas.bundle import Bundle
from uwf_core.cas.bundle_check import check_nodes, store_of
from uwf_core.cas.codec import decode, encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of
from uwf_core.engine.nodes import schema_of, targets_of
from uwf_core.errors import BundleError, RoutingFailed, UwfError
from uwf_core.ids import Ref, ThreadId
from uwf_core.moderator.next import apply_edge
from uwf_core.thread.head import Head, head_of
from uwf_core.thread.history import (
    body_of,
    differences,
    newest_first,
    read_start,
    state_of_thread,
)
from uwf_core.thread.inputs import RecordedInputs
from uwf_core.thread.names import (
    asked_prefix,
    attempts_prefix,
    events_prefix,
    head_name,
    turns_prefix,
)
from uwf_core.thread.types import EVENTS, NODES
from uwf_core.workflow.definition import END, START, SUSPEND, WORKFLOW_TYPES, read_definition
from uwf_core.workflow.registry import PREFIX as REGISTRY

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.graph import Graph
    from uwf_core.cas.store import Store
    from uwf_core.workflow.definition import Definition


class CheckedBundle:
    """A checked bundle.

    Attributes:
        thread: its thread. head: the head of that. graph: the references between its nodes.

    Raises:
        BundleError: a check fails.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.graph: Graph = check_nodes(bundle)
        self.thread = ThreadId(bundle.manifest.thread)
        self._definitions: dict[Ref, Definition] = {}
        try:
            self.head = self._checked_head()
        except BundleError as error:
            error.where = error.where or bundle.location()
            raise
        except Exception as error:  # untrusted data: any error rejects the bundle
            why = error.message if isinstance(error, UwfError) else f"{type(error).__name__}"
            raise BundleError(
                f"the content of the bundle is not a thread: {why}", where=bundle.location()
            ) from error

    @cached_property
    def store(self) -> "Store":
        """The bundle as a store for reading."""
        return store_of(self.bundle)

    def definition(self, ref: Ref) -> "Definition":
        """A workflow in the bundle."""
        if ref not in self._definitions:
            definition = read_definition(self.store, ref)
            _check_graph(definition)
            self._definitions[ref] = definition
        return self._definitions[ref]

    @property
    def starts(self) -> list[str]:
        """Every start node in the bundle."""
        return [each.ref for each in self.bundle.records() if self._kinds.get(each.type) == "start"]

    @property
    def own(self) -> "list[Variable]":
        """The variables of the thread."""
        return [each for each in self.bundle.contents if not each.name.startswith(REGISTRY)]

    @property
    def registered(self) -> "list[Variable]":
        """Names of workflows."""
        return self.bundle.variables(REGISTRY)

    def _checked_head(self) -> Head:
        self._check_kinds()
        wanted = self._wanted_kinds()
        for variable in self.bundle.contents:
            kinds = next((k for area, k in wanted.items() if variable.name.startswith(area)), None)
            if kinds is None:
                raise BundleError(f"{variable.name} is not a name of thread {self.thread}")
            if self._kind_of(variable.value) not in kinds:
                raise BundleError(
                    f"{variable.name} does not point to a node of kind {' or '.join(kinds)}"
                )
        newest = self.store.variable(head_name(self.thread))
        if newest is None or newest.value != self.bundle.manifest.head:
            raise BundleError(
                f"the bundle lacks the head of thread {self.thread} that its manifest names"
            )
        head = head_of(newest)
        self._check_decisions(head)
        wrong = differences(head.state, state_of_thread(self.store, head.thread, head.ref))
        if wrong:
            raise BundleError(
                f"the tags of thread {self.thread} do not match its steps: " + "; ".join(wrong)
            )
        return head

    def _check_decisions(self, head: Head) -> None:
        """Check that each step leads to the role that its workflow names."""
        start = Ref(head.state.start)
        definition = self.definition(Ref(read_start(self.store, start)["workflow"]))
        inputs = RecordedInputs(self.store, start)
        for step in newest_first(self.store, head.ref, start):
            payload = step.payload
            output = self.store.get(Ref(payload["output"])).payload
            try:
                body = body_of(self.store, step)
                given = inputs.at(definition, payload)
                to = apply_edge(definition, payload["role"], output, body, given).decision()
                wanted = (to["status"], to["role"], to["reason"])
            except RoutingFailed:
                wanted = ("suspended", payload["role"], "failure")
            stored = payload["next"]
            if wanted != (stored["status"], stored["role"], stored["reason"]):
                raise BundleError(f"step {step.ref} leads elsewhere than its workflow")

    def _wanted_kinds(self) -> Mapping[str, tuple[str, ...]]:
        return {
            head_name(self.thread): ("step", "start"),
            attempts_prefix(self.thread): ("attempt",),
            events_prefix(self.thread): EVENTS,
            turns_prefix(self.thread): ("turn",),
            asked_prefix(self.thread): ("ask",),
            REGISTRY: ("workflow",),
        }

    def _check_kinds(self) -> None:
        for record in self.bundle.records():
            kind = self._kinds.get(record.type)
            if kind is None:
                continue
            payload: Any = decode(record.data)
            wrong = self._wrong_target(kind, payload)
            if wrong is None and kind == "step" and not self._is_object(payload["output"]):
                wrong = "the output of a step is not an object"
            if wrong is not None:
                raise BundleError(f"the node {record.ref}: {wrong}")

    def _wrong_target(self, kind: str, payload: Mapping[str, Any]) -> str | None:
        """A message about the first reference to a node of the wrong kind."""
        for field, ref, wanted in targets_of(kind, payload):
            if wanted and self._kind_of(ref) not in wanted:
                return f"the {field} of a {kind} points to {ref}, not to a {' or '.join(wanted)}"
        return None

    def _is_object(self, ref: str) -> bool:
        return isinstance(self.store.get(ref).payload, dict)

    def _kind_of(self, ref: str) -> str | None:
        record = self.bundle.get(ref)
        return None if record is None else self._kinds.get(record.type)

    @cached_property
    def _kinds(self) -> Mapping[str, str]:
        """The kinds of the nodes of threads, by the reference of their type."""
        return {
            **{ref_of(META, encode(schema_of(kind))): kind for kind in NODES},
            **dict.fromkeys(WORKFLOW_TYPES, "workflow"),
            PRIMITIVES["string"]: "string",
        }


def _check_graph(definition: "Definition") -> None:
    """Check that every edge leads to a role, so that a run can follow it."""
    known = {*definition.roles, END, SUSPEND}
    if "new" not in definition.graph.get(START, {}):
        raise BundleError(f"workflow {definition.ref} has no edge $START.new")
    for edges in definition.graph.values():
        for edge in edges.values():
            if edge.role not in known:
                raise BundleError(
                    f"workflow {definition.ref} leads to the unknown role {edge.role!r}"
                )
