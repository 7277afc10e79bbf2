"""Check that a bundle is one thread with all threads below it: their names, the kinds of their
nodes, tags that match them, and calls that both ends record alike.
"""

from collections.abc import Collection, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from uwf_core.api.store import LAYOUT_VERSION
from uwf_core.cas.bundle import Bundle
from uwf_core.cas.bundle_check import check_nodes, store_of
from uwf_core.cas.codec import decode, encode
from uwf_core.cas.hashing import META, PRIMITIVES, ref_of, ref_of_text
from uwf_core.errors import BundleError, RoutingFailed, UwfError
from uwf_core.ids import Ref, ThreadId
from uwf_core.maintenance.recorded_trees import wrong_git_name
from uwf_core.moderator.next import apply_edge
from uwf_core.thread.earlier import EarlierSteps, is_delivered
from uwf_core.thread.head import Head, head_of
from uwf_core.thread.history import (
    body_of,
    differences,
    oldest_first,
    output_of,
    read_start,
    state_of_thread,
)
from uwf_core.thread.inputs import RecordedInputs
from uwf_core.thread.links import Recorded, name_problem, recorded_calls, result_problem
from uwf_core.thread.names import (
    ASKED,
    ATTEMPTS,
    CALLS,
    EVENTS,
    HEADS,
    TURNS,
    head_name,
    thread_of,
)
from uwf_core.thread.nodes import schema_of, targets_of
from uwf_core.thread.types import EVENTS as KINDS_OF_EVENTS
from uwf_core.thread.types import NODES
from uwf_core.workflow.definition import END, START, SUSPEND, WORKFLOW_TYPES, read_definition
from uwf_core.workflow.deliverable import WORDING, deliverable_of, ways_of
from uwf_core.workflow.discover import REGISTRY
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.graph import Graph
    from uwf_core.cas.store import Store
    from uwf_core.workflow.definition import Definition, ReplyForm


class CheckedBundle:
    """A checked bundle.

    Attributes:
        thread: its thread. head: the head of that. heads: those of all its threads.
        graph: the references between its nodes.

    Raises:
        BundleError: a check fails.
    """

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self.thread = ThreadId(bundle.manifest.thread)
        self.graph: Graph = check_nodes(bundle)
        self._definitions: dict[Ref, Definition] = {}
        self._deliverables: dict[tuple[Ref, tuple[tuple[str, str], ...]], ReplyForm] = {}
        try:
            self.heads = self._checked_heads()
            self.head = self.heads[self.thread]
            if bundle.objects:
                self._check_files()
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

    def _check_files(self) -> None:
        """Check that a bundle with files has exactly the recorded files of its threads."""
        from uwf_core.files.transfer import BundledFiles  # only where files came along
        from uwf_core.files.trees import check_trees
        from uwf_core.maintenance.recorded_trees import moments_of

        check_trees(BundledFiles(self.bundle), moments_of(self.store, self.heads.values()))

    def definition(self, ref: Ref) -> "Definition":
        """A workflow in the bundle."""
        if ref not in self._definitions:
            definition = read_definition(self.store, ref)
            _check_graph(definition)
            self._check_deliverables(definition)
            self._definitions[ref] = definition
        return self._definitions[ref]

    def _check_deliverables(self, definition: "Definition") -> None:
        """Check that what agents read of the form of a reply is what the schema and graph give."""
        graph = definition.written.graph
        for name, role in definition.roles.items():
            if role.calls or role.program is not None:
                continue
            if role.deliverable is not None and role.deliverable.wording != WORDING:
                raise BundleError(
                    f"workflow {definition.ref} has texts of version {role.deliverable.wording}",
                    hint=f"this version of uwf can verify those of version {WORDING}",
                )
            ways = ways_of(graph.get(name, {}), name)
            if role.deliverable != self._deliverable(role.frontmatter, tuple(sorted(ways.items()))):
                raise BundleError(
                    f"the form of a reply of role {name} in workflow {definition.ref} is not what "
                    "its schema and edges say"
                )

    def _deliverable(self, schema: Ref, ways: tuple[tuple[str, str], ...]) -> "ReplyForm":
        """Computed once, so that many workflows with the same texts take no longer than one."""
        if (schema, ways) not in self._deliverables:
            found = deliverable_of(self.store.schema(schema), dict(ways), ref_of_text)
            self._deliverables[schema, ways] = found
        return self._deliverables[schema, ways]

    @property
    def starts(self) -> list[str]:
        """Every start node in the bundle."""
        return [each.ref for each in self.bundle.records() if self._kinds.get(each.type) == "start"]

    @property
    def own(self) -> "list[Variable]":
        """The variables of its threads."""
        return [each for each in self.bundle.contents if not each.name.startswith(REGISTRY)]

    @property
    def below(self) -> list[Head]:
        """The heads of the other threads, each after that of the one that called it."""
        others = (head for thread, head in self.heads.items() if thread != self.thread)
        return sorted(others, key=lambda head: head.state.depth)

    @property
    def registered(self) -> "list[Variable]":
        """Names of workflows."""
        return self.bundle.variables(REGISTRY)

    def _checked_heads(self) -> dict[ThreadId, Head]:
        self._check_layout()
        self._check_kinds()
        threads = [ThreadId(each) for each in self.bundle.manifest.threads]
        self._check_names({*threads})
        heads = {thread: self._checked_head(thread) for thread in threads}
        if heads[self.thread].ref != self.bundle.manifest.head:
            raise _no_head(self.thread)
        self._check_calls(heads)
        return heads

    def _check_names(self, threads: Collection[str]) -> None:
        for variable in self.bundle.contents:
            name = variable.name
            kinds = next((k for area, k in _WANTED_KINDS.items() if name.startswith(area)), None)
            is_ours = name.startswith(REGISTRY) or thread_of(name) in threads
            if kinds is None or not is_ours:
                raise BundleError(f"{name} is not a name of thread {self.thread}")
            if self._kind_of(variable.value) not in kinds:
                raise BundleError(f"{name} does not point to a node of kind {' or '.join(kinds)}")

    def _checked_head(self, thread: ThreadId) -> Head:
        newest = self.store.variable(head_name(thread))
        if newest is None:
            raise _no_head(thread)
        head = head_of(newest)
        self._check_decisions(head)
        wrong = differences(head.state, state_of_thread(self.store, head.thread, head.ref))
        if wrong:
            raise BundleError(
                f"the tags of thread {thread} do not match its steps: " + "; ".join(wrong)
            )
        return head

    def _check_calls(self, heads: Mapping[ThreadId, Head]) -> None:
        """Check that each other thread was called by one of the bundle, and that both record the
        same of the call.
        """
        for variable in self.bundle.variables(CALLS):
            child = heads.get(ThreadId(variable.name.rpartition("/")[2]))
            called = self.store.payload(variable.value)
            wrong = name_problem(variable.name, variable.value, called, child)
            if wrong is not None:
                raise BundleError(f"{variable.name}: {wrong}")
        recorded: dict[ThreadId, Recorded] = {}
        for thread, head in heads.items():
            caller = head.state.caller
            if caller is not None and not ThreadId.matches(caller.thread):
                raise BundleError(f"{caller.thread!r}, which called thread {thread}, is not an id")
            if thread == self.thread:
                continue
            parent = None if caller is None else heads.get(ThreadId(caller.thread))
            if parent is None or head.state.depth != parent.state.depth + 1:
                raise BundleError(f"thread {thread} is not one below thread {self.thread}")
            if parent.thread not in recorded:
                recorded[parent.thread] = recorded_calls(self.store, parent)
            wrong = result_problem(self.store, head, parent, recorded[parent.thread])
            if wrong is not None:
                raise BundleError(f"thread {thread}: {wrong}")

    def _check_decisions(self, head: Head) -> None:
        """Check that each step leads to the role that its workflow names."""
        start = Ref(head.state.start)
        definition = self.definition(Ref(read_start(self.store, start)["workflow"]))
        inputs, newest = RecordedInputs(self.store, start), dict[str, str]()
        steps = EarlierSteps(self.store, definition.steps, newest.get) if definition.steps else None
        for step in oldest_first(self.store, head.ref, start):
            payload = step.payload
            output = output_of(self.store, step)
            if is_delivered(payload):
                newest[payload["role"]] = step.ref
            try:
                body = body_of(self.store, step)
                given = inputs.at(definition, payload)
                to = apply_edge(definition, payload["role"], output, body, given, steps)
                wanted = tuple(map(to.decision(payload["completedAtMs"]).get, _DECISION))
            except RoutingFailed:
                wanted = ("suspended", payload["role"], "failure", None, None)
            if wanted != tuple(map(payload["next"].get, _DECISION)):
                raise BundleError(f"step {step.ref} leads elsewhere than its workflow")

    def _check_kinds(self) -> None:
        from uwf_core.files.content import content_problem

        for record in self.bundle.records():
            kind = self._kinds.get(record.type)
            if kind is None:
                continue
            if kind == "workflow":
                self.definition(Ref(record.ref))
            payload: Any = decode(record.data)
            wrong = self._wrong_target(kind, payload) or wrong_git_name(kind, payload)
            if wrong is None and kind == "step":
                wrong = self._wrong_output(payload)
            if wrong is None and kind == "file":
                wrong = content_problem(self.store, record.ref)
            if wrong is not None:
                raise BundleError(f"the node {record.ref}: {wrong}")

    def _wrong_target(self, kind: str, payload: Mapping[str, Any]) -> str | None:
        """A message about the first reference to a node of the wrong kind."""
        for field, ref, wanted in targets_of(kind, payload):
            if wanted and self._kind_of(ref) not in wanted:
                return f"the {field} of a {kind} points to {ref}, not to a {' or '.join(wanted)}"
        return None

    def _wrong_output(self, step: Mapping[str, Any]) -> str | None:
        if (step["output"] is None) == (step["failure"] is None):
            return "a step has either an output or a failure"
        output = {} if step["output"] is None else self.store.payload(step["output"])
        if not isinstance(output, dict):
            return "the output of a step is not an object"
        if step["status"] != output.get(STATUS):
            return "a step has another status than its output"
        return None

    def _check_layout(self) -> None:
        """Reject kinds of nodes that another version of uwf describes otherwise."""
        for record in self.bundle.records():
            title = str(decode(record.data).get("title")) if record.type == META else ""
            kind = title.removeprefix("uwf ")
            if kind != title and kind in NODES and record.ref not in self._kinds:
                raise BundleError(
                    f"the bundle was written by another version of uwf (this one has layout "
                    f"{LAYOUT_VERSION}): its nodes of the kind {kind!r} have another form",
                    hint="export the thread again with this version",
                )

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


_WANTED_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    HEADS: ("step", "start"),
    ATTEMPTS: ("attempt",),
    EVENTS: KINDS_OF_EVENTS,
    TURNS: ("turn",),
    CALLS: ("called",),
    ASKED: ("ask", "compacted", "step"),  # a step: a refused attempt
    REGISTRY: ("workflow",),
}


_DECISION: Final = ("status", "role", "reason", "expires", "notBefore")
"""What of a decision follows from the workflow."""


def _no_head(thread: str) -> BundleError:
    return BundleError(f"the bundle lacks the head of thread {thread} that its manifest names")


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
