"""Walk through a published workflow with random outputs: the real moderator, templates and joins.

What agents, persons and programs deliver is drawn from the schemas of their roles; everything else
is the code that `exec` runs, without a store.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any, NamedTuple, TypeVar

from tests.walks.values import values_of

from uwf_core.cas.schemas import CompiledSchema, Violation
from uwf_core.cas.store import Store
from uwf_core.errors import RoutingFailed
from uwf_core.extract.typed import keeps
from uwf_core.ids import Ref
from uwf_core.moderator.branches import branch_tasks
from uwf_core.moderator.next import (
    Transition,
    apply_edge,
    apply_start_edge,
    start_data,
    template_data,
)
from uwf_core.workflow import template as templates
from uwf_core.workflow.definition import (
    SELF,
    START,
    SUSPEND,
    Definition,
    Edge,
    Role,
    read_definition,
)
from uwf_core.workflow.fan_out import (
    ASKED,
    CANCELLED,
    ITEM,
    OUTPUT,
    BranchTask,
    branch_result,
    joint_output,
    joint_status,
)
from uwf_core.workflow.fields import reduced_input
from uwf_core.workflow.variants import BODY, FOLDER, GIT_BRANCH, STATUS, variants

MOST_STEPS = 40
DEPTH = 3
POOL = 60
_PLACE = {FOLDER: "/w", GIT_BRANCH: "uwf/x"}
_TEXTS = ("some text", "", "more")

Routed = TypeVar("Routed")
Drawn = TypeVar("Drawn")
Output = tuple[Mapping[str, Any], str]
"""An output and the text after it."""


class Doubts(NamedTuple):
    """What the check has warned of: prompts that may be blank and inputs that may not be filled, by
    their places in the graph, and the tags that may render empty, by template and place in it.
    """

    prompts: frozenset[str] = frozenset()
    inputs: frozenset[str] = frozenset()
    tags: frozenset[tuple[str, str, int, int]] = frozenset()


class Stopped(Exception):
    """A walk ends early: enough steps, the depth, or something of which the check has warned."""


class Unsound(Exception):
    """What the check said cannot happen."""


class Workflows:
    """Published workflows with what the check said of them, and a pool of outputs for each role."""

    def __init__(self, store: Store, doubts: Mapping[str, Doubts], rng: Random) -> None:
        self.store = store
        self.doubts = doubts
        self.rng = rng
        self._read: dict[str, Definition] = {}
        self._pools: dict[str, list[Output]] = {}
        self._inputs: dict[str, list[Any]] = {}
        self._compiled: dict[int, CompiledSchema] = {}

    def definition(self, word: str) -> Definition:
        """The workflow of a reference."""
        if word not in self._read:
            self._read[word] = read_definition(self.store, Ref(word))
        return self._read[word]

    def outputs(self, role: Role) -> list[Output]:
        """What a role may deliver, as it is stored: without undeclared fields at the top."""
        if role.frontmatter not in self._pools:
            found: list[Any] = []
            for variant in variants(dict(role.schema)):
                only = {"properties": {STATUS: {"const": variant.status}}}
                narrow = {"type": "object", "allOf": [role.schema, only]}
                drawn = values_of(narrow, self.rng, POOL)
                kept = [{k: v for k, v in each.items() if keeps(variant, k)} for each in drawn]
                found += (each for each in kept if not self.violations(role.schema, each))
            self._pools[role.frontmatter] = [(each, self.rng.choice(_TEXTS)) for each in found]
        return self._pools[role.frontmatter]

    def inputs(self, definition: Definition) -> list[Any]:
        """Typed inputs of a workflow; None for one without."""
        if definition.input is None:
            return [None]
        if definition.ref not in self._inputs:
            schema = {"type": "object", **definition.input}
            self._inputs[definition.ref] = values_of(schema, self.rng, POOL)
        return self._inputs[definition.ref]

    def violations(self, schema: Mapping[str, Any], value: Any) -> list[Violation]:
        """Why a value does not satisfy a schema of a definition; each is compiled once."""
        if id(schema) not in self._compiled:
            self._compiled[id(schema)] = CompiledSchema(dict(schema))
        return self._compiled[id(schema)].violations(value)


class Walk:
    """One walk. `counts` are its steps, calls, branches and the reasons of early ends."""

    def __init__(self, workflows: Workflows, rng: Random, counts: "Counter[str]") -> None:
        self.workflows = workflows
        self.rng = rng
        self.counts = counts
        self.left = MOST_STEPS

    def run(self, definition: Definition) -> None:
        """Walk from a start to an end.

        Raises:
            Unsound: something happened that the check excludes.
        """
        self.counts["walks"] += 1
        try:
            given = self.one(self.workflows.inputs(definition))
            thread = Thread(self, definition, given, 0)
            thread.run("new")
            if self.rng.random() < 0.2:
                thread.run("resume")
            self.counts["ended"] += 1
        except Stopped as reason:
            self.counts[f"stopped: {reason}"] += 1

    def one(self, values: list[Drawn]) -> Drawn:
        """One of these values."""
        if not values:
            raise Stopped("a schema without any value")
        return self.rng.choice(values)


class Thread:
    """A thread of a walk; `children` are those of its roles and of its named branches."""

    def __init__(self, walk: Walk, definition: Definition, given: Any, depth: int) -> None:
        self.walk = walk
        self.definition = definition
        self.given = given
        self.depth = depth
        self.doubts = walk.workflows.doubts.get(definition.name, Doubts())
        self.children: dict[str, Thread] = {}
        self.newest: dict[str, Any] = {}
        self.steps = self.newest if definition.steps else None

    def run(self, kind: Any) -> Output:
        """Run it to its end; its last output is its result."""
        place, data = f"graph.{START}.{kind}", start_data(self.definition, self.given, self.steps)
        edge = self.definition.graph[START][kind]
        to = self._routed(lambda: apply_start_edge(self.definition, kind, self.given, self.steps))
        self._check_texts(place, edge, (data,))
        output: Mapping[str, Any] = self.given or {}
        leading, contexts = place, (data,)
        while True:
            if not self.walk.left:
                raise Stopped("enough steps")
            self.walk.left -= 1
            assert to.role is not None
            role = self.definition.roles[to.role]
            found, body = self._play(role, output, leading, contexts)
            read = {**found, **self._place_of(role)}
            if self.walk.rng.random() < 0.02:
                found = read = {STATUS: SUSPEND, "reason": "stuck"}
            self.walk.counts["suspended"] += read[STATUS] == SUSPEND
            to, place, data = self._follow(role, read, body)
            if to.status == "completed":
                return found, body
            if to.status == "idle":
                output, leading, contexts = read, place, (data,)

    def _follow(
        self, role: Role, read: Mapping[str, Any], body: str
    ) -> tuple[Transition, str, dict[str, Any]]:
        """Where an output leads, the place of that edge, and what its templates can name."""
        status = str(read[STATUS])
        if status == SUSPEND:
            suspended = apply_edge(self.definition, role.name, read, body, self.given)
            return suspended, "", {}
        place, edge = f"graph.{role.name}.{status}", self._edge(role.name, status)
        if not status.startswith("$"):
            self.newest[role.name] = {**read, BODY: body}
        delivered = role.name, read, body, self.given, self.steps
        to = self._routed(lambda: apply_edge(self.definition, *delivered))
        data = template_data(self.definition, read, body, self.given, self.steps)
        if not self._is_to_branches(edge):
            self._check_texts(place, edge, (data,))
        return to, place, data

    def _edge(self, role: str, status: str) -> Edge:
        edge = self.definition.graph.get(role, {}).get(status)
        if edge is None:
            raise Unsound(f"unknown status {status!r} of {role} in {self.definition.name}")
        return edge

    def _is_to_branches(self, edge: Edge) -> bool:
        role = self.definition.roles.get(edge.role)
        return role is not None and role.fan_out is not None

    def _play(
        self, role: Role, output: Mapping[str, Any], place: str, contexts: tuple[Any, ...]
    ) -> Output:
        if role.fan_out is not None:
            return self._branches(role, contexts[0])
        if role.workflow is not None:
            return self._call(role, output, place)
        self.walk.counts["steps"] += 1
        if role.program is not None and not self.definition.branch:
            self._check_argv(role, contexts)
        return self.walk.one(self.walk.workflows.outputs(role))

    def _place_of(self, role: Role) -> dict[str, str]:
        child = self.children.get(role.name) if role.workflow is not None else None
        return dict(_PLACE) if child is not None and child.definition.workspace else {}

    # -- calls

    def _called(self, word: str, given: Any, where: str, key: str) -> "tuple[Thread, str]":
        if self.depth == DEPTH:
            raise Stopped("depth")
        self.walk.counts["calls"] += 1
        called = self.definition if word == SELF else self.walk.workflows.definition(word)
        taken = self._input(called, given, where)
        thread = self.children.get(key)
        if thread is None:
            self.children[key] = thread = Thread(self.walk, called, taken, self.depth + 1)
            return thread, "new"
        thread.given = taken
        return thread, "resume"

    def _input(self, called: Definition, given: Any, where: str) -> Any:
        if called.input is None:
            return None
        taken = reduced_input(given, called.input) if isinstance(given, Mapping) else given
        wrong = self.walk.workflows.violations(called.input, taken)
        if wrong:
            if where in self.doubts.inputs:
                raise Stopped("an input of which the check warned")
            if any("is a required property" in each.message for each in wrong):
                raise Unsound(f"{where}: {self.definition.name}: input: {wrong[0].message}")
            raise Stopped("an input with a value that is not allowed")
        return taken

    def _call(self, role: Role, output: Mapping[str, Any], place: str) -> Output:
        thread, kind = self._called(str(role.workflow), output, place, role.name)
        found, body = thread.run(kind)
        self._check_type(role, found)
        return found, body

    # -- branches

    def _branches(self, role: Role, data: Mapping[str, Any]) -> Output:
        edge = role.fan_out
        assert edge is not None
        self.walk.counts["fan-outs"] += 1
        source, _, status = role.name.rpartition("/")
        place = f"graph.{source}.{status}"
        tasks = self._routed(lambda: branch_tasks(edge, place, data, most=256))
        results = [self._branch(role, each, place) for each in tasks]
        then = self.definition.graph[role.name]
        joint = joint_status([each[STATUS] for each in results], then)
        output = joint_output(joint, results, [each.name for each in tasks])
        self._check_type(role, output)
        return output, ""

    def _branch(self, role: Role, task: BranchTask, place: str) -> dict[str, Any]:
        self.walk.counts["branches"] += 1
        if self.walk.rng.random() < 0.03:
            return branch_result(task.place, CANCELLED, "", None)
        where = place if task.name is None else f"{place}.parallel.{task.name}"
        self._check_text(f"{where}.prompt", task.branch.prompt, task.contexts)
        self._check_text(f"{where}.location", task.branch.location or "", task.contexts)
        word = str(task.branch.workflow)
        called = self.definition if word == SELF else self.walk.workflows.definition(word)
        read, *item = task.contexts
        output = {name: each for name, each in read.items() if each is not self.newest}
        task = task._replace(contexts=(output, *item))
        given = item[0] if item else output
        if called.branch:
            given = {OUTPUT: output, ASKED: task.prompt, **({ITEM: item[0]} if item else {})}
            self._check_program(role, task, called)
        key = f"{role.name}:{task.name}"
        if task.name is None:
            self.children.pop(key, None)
        thread, kind = self._called(word, given, where, key)
        found, body = thread.run(kind)
        edge = role.fan_out
        assert edge is not None
        own = "worktree" in (self.definition.workspace, called.workspace) and not edge.shared
        apart = _PLACE if edge.workspace == "worktree" or own else None
        return branch_result(task.place, str(found[STATUS]), body, found, apart)

    def _check_program(self, role: Role, task: BranchTask, called: Definition) -> None:
        for name, played in called.roles.items():
            if played.program is not None:
                for index, text in enumerate(played.program.argv[1:], 1):
                    where = f"roles.{name}.program.argv[{index}]"
                    self._check_text(where, text, task.contexts)

    # -- checks

    def _routed(self, function: Callable[[], Routed]) -> Routed:
        try:
            return function()
        except RoutingFailed as failure:
            where = failure.message.partition(" ")[0]
            if "renders blank" in failure.message and where in self.doubts.prompts:
                raise Stopped("a blank prompt of which the check warned") from None
            raise Unsound(f"{self.definition.name}: {failure.message}") from failure

    def _check_type(self, role: Role, output: Mapping[str, Any]) -> None:
        """Whether a result has the type that the check derived; each tenth is enough."""
        if self.walk.rng.random() < 0.1:
            for wrong in self.walk.workflows.violations(role.schema, output)[:1]:
                raise Unsound(f"{self.definition.name}.{role.name}: result: {wrong}")

    def _check_argv(self, role: Role, contexts: tuple[Any, ...]) -> None:
        assert role.program is not None
        for index, text in enumerate(role.program.argv[1:], 1):
            self._check_text(f"roles.{role.name}.program.argv[{index}]", text, contexts)

    def _check_texts(self, place: str, edge: Edge, contexts: tuple[Any, ...]) -> None:
        self._check_text(f"{place}.prompt", edge.prompt, contexts)
        if edge.location:
            self._check_text(f"{place}.location", edge.location, contexts)

    def _check_text(self, place: str, text: str, contexts: tuple[Any, ...]) -> None:
        """Every tag that is rendered has a value, or the check has warned of it."""
        if "{{" not in text:
            return
        self.walk.counts["texts with steps"] += "{{steps." in text or "{{#steps." in text
        for tag in _missing(templates.parse(text).nodes, [*contexts]):
            if (place, text, *tag.place) not in self.doubts.tags:
                name = ".".join(tag.path)
                raise Unsound(f"{self.definition.name}: {place}: {name!r} has no value: {text}")


def _missing(
    nodes: "Iterable[templates.TemplateNode]", stack: list[Any]
) -> "Iterable[templates.TemplateVariable]":
    """The tags that render nothing since their value is missing or null."""
    for node in nodes:
        if isinstance(node, templates.TemplateVariable):
            if templates._lookup(node.path, stack) is None:
                yield node
        elif isinstance(node, templates.TemplateSection):
            items = templates._items(templates._lookup(node.path, stack))
            if node.inverted and not items:
                yield from _missing(node.children, stack)
            for item in () if node.inverted else items:
                yield from _missing(node.children, [*stack, item])
