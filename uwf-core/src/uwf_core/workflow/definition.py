"""The shape of a workflow file, and a published workflow as the engine reads it from its node.

Imports only the code of the store, since every `exec` loads this module.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

from uwf_core.api.retry import A_YEAR, Retry
from uwf_core.errors import UnknownIdError
from uwf_core.fields.mismatch import NOT_BLANK, SPAN, Names, To, above, between
from uwf_core.fields.records import read_payload
from uwf_core.ids import Ref
from uwf_core.workflow.lattice import as_listed

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

WORKFLOW_TYPE = Ref("526DP9Z2A1E59")
"""The type of workflow nodes: the reference of the schema of `Workflow` as a node."""

WORKFLOW_TYPES = frozenset((WORKFLOW_TYPE,))
"""Every type of workflow node that was ever released; all of them can be read."""

START: Final = "$START"
END: Final = "$END"
SUSPEND: Final = "$SUSPEND"

VERSION: Final = 1
"""The format of workflow files."""
NAME_PATTERN: Final = "^[A-Za-z0-9][A-Za-z0-9._-]*$"

EXPIRED: Final = "$expired"
"""The edge after the time of a person; with its status (`unclear/$expired`) of an edge."""

FAILED: Final = "$failed"
"""The edge after the last attempt of a role has failed, and the status of its step."""
ANY: Final = "$any"
"""In the graph, in place of every role that has no edge `$failed`."""

SELF: Final = "$SELF"
"""In place of a workflow's name: the workflow of the calling thread."""

PROGRAM: Final = "program"
"""What steps record as the agent of a role that a program plays."""

MAX_UNCHANGED: Final = 4
"""How often in a row an agent may deliver the same, unless its role says otherwise."""

_POSITIVE = above(0)
_NAMED = NOT_BLANK._replace(hint="name it")


class Limits(NamedTuple):
    """Limits of a thread or of a call, with all that it calls; null is unlimited."""

    max_steps: Annotated[int | None, "Steps of agents, persons and programs.", _POSITIVE] = None
    max_tokens: Annotated[int | None, "Input and output tokens.", _POSITIVE] = None
    max_cost_usd: Annotated[float | None, "US dollars.", _POSITIVE] = None
    max_minutes: Annotated[float | None, "Minutes spent running.", _POSITIVE] = None
    max_elapsed: Annotated[float | None, "Time, waiting included.", SPAN, _POSITIVE] = None


NO_LIMITS: Final = Limits()


class RoleLimits(NamedTuple):
    """Limits of all steps of a role in one thread; null is unlimited."""

    max_steps: Annotated[int | None, "Steps of agents, persons and programs.", _POSITIVE] = None
    max_tokens: Annotated[int | None, "Input and output tokens.", _POSITIVE] = None
    max_cost_usd: Annotated[float | None, "US dollars.", _POSITIVE] = None
    max_minutes: Annotated[float | None, "Minutes spent running.", _POSITIVE] = None
    max_elapsed: Annotated[
        float | None, "Time during which the role was next, waiting included.", SPAN, _POSITIVE
    ] = None
    max_visits: Annotated[int | None, "How often the role may run.", _POSITIVE] = None
    max_unchanged: Annotated[
        int | None,
        "How often in a row an agent may deliver the same $status and change no file; 0: always.",
        between(0, 1_000_000),
    ] = None


NO_ROLE_LIMITS: Final = RoleLimits()


class Reserve(NamedTuple):
    """What a step of a role may use, counted against limits while it runs."""

    tokens: Annotated[int | None, "Input and output tokens.", _POSITIVE] = None
    cost_usd: Annotated[float | None, "US dollars.", _POSITIVE] = None


_TARGET = "The next role, or $END or $SUSPEND."
_PROMPT = (
    "The prompt of the next role. {{{field}}} is a field of the output, {{{_body}}} the text "
    "after its frontmatter. For $SUSPEND: the question to a person."
)
_LOCATION = "The working folder of that step; also a template."
_AFTER = "How long the next role waits before it runs: `10m`."
_CALL_LIMITS = "Limits of the call, if the next role is a workflow."


_AS = "The $status with which the workflow ends after a failure, for an edge to $END."


class ExpiredEdge(NamedTuple):
    """Which role runs if nobody answers in time; the prompt is a template."""

    role: Annotated[str, "The role that runs instead, or $END."]
    prompt: Annotated[str, "Its prompt."]
    as_: Annotated[str | None, _AS] = None


_WITHIN = "How long to wait for the answer of a person: 4h. Needs `expired`."
_EXPIRED = "What runs if nobody answers within that time. Time is never an answer."


class JoinEdge(NamedTuple):
    """The target of the joint status of branches; prompt and location are templates."""

    role: Annotated[str, _TARGET]
    prompt: Annotated[str, _PROMPT]
    location: Annotated[str | None, _LOCATION] = None
    limits: Annotated[Limits | None, _CALL_LIMITS] = None
    after: Annotated[float | None, _AFTER, SPAN, A_YEAR] = None
    within: Annotated[float | None, _WITHIN, SPAN, _POSITIVE] = None
    expired: Annotated[ExpiredEdge | None, _EXPIRED] = None
    as_: Annotated[str | None, _AS] = None


class Branch(NamedTuple):
    """A branch of `parallel`; prompt and location are templates. A node has its `workflow`."""

    role: Annotated[str, "The role of the branch."]
    prompt: Annotated[str, "The prompt of the branch."]
    location: Annotated[str | None, "The working folder of the branch; also a template."] = None
    limits: Annotated[Limits | None, "Limits of the branch."] = None
    workflow: Annotated[Annotated[str, To("workflow")] | None, "Set by uwf."] = None
    place: Annotated[int, "Set by uwf."] = 0


class Edge(NamedTuple):
    """The target of a status: a role, or branches that run in parallel (`forEach` or `parallel`,
    and `then`). Prompt and location are templates.
    """

    role: Annotated[str, _TARGET] = ""
    prompt: Annotated[str, _PROMPT] = ""
    location: Annotated[str | None, _LOCATION] = None
    limits: Annotated[Limits | None, _CALL_LIMITS] = None
    after: Annotated[float | None, _AFTER, SPAN, A_YEAR] = None
    within: Annotated[float | None, _WITHIN, SPAN, _POSITIVE] = None
    expired: Annotated[ExpiredEdge | None, _EXPIRED] = None
    as_: Annotated[str | None, _AS] = None
    for_each: Annotated[
        str | None, "A list in the output: the role runs once for each item, in parallel."
    ] = None
    parallel: Annotated[
        dict[str, Branch] | None, "Branches by name, which run in parallel.", Names("a branch")
    ] = None
    then: Annotated[
        dict[str, JoinEdge] | None,
        "Where the results of all branches lead: the edge of a status that all have, `$mixed` for "
        "anything else, `$empty` for an empty list.",
    ] = None
    max_parallel: Annotated[
        int | None, "How many branches may run at a time; by default limits.parallel.", _POSITIVE
    ] = None
    shared: Annotated[bool, "Whether the branches may write in the same folder."] = False
    workspace: Annotated[
        Literal["worktree"] | None, "`worktree`: each branch works in a separate git worktree."
    ] = None
    frontmatter: Annotated[Annotated[dict[str, Any], To("schema")] | None, "Set by uwf."] = None
    workflow: Annotated[Annotated[str, To("workflow")] | None, "Set by uwf."] = None

    @property
    def is_fan_out(self) -> bool:
        """Whether it leads to branches."""
        return self.then is not None


class RoleProgram(NamedTuple):
    """A program that plays a role."""

    argv: Annotated[
        tuple[str, ...],
        "The program and its arguments. Each argument is a template like the prompt of an edge.",
    ]
    statuses: Annotated[
        dict[str, str], "The $status of each exit code.", Names("the status of an exit code")
    ]
    env: Annotated[Mapping[str, str], "Variables of its environment.", Names("a variable")] = {}
    timeout: Annotated[float | None, "Seconds for one step.", SPAN, _POSITIVE] = None


class ReplyForm(NamedTuple):
    """How to reply in a role; follows from schema and graph, and is stored for every reader."""

    form: Annotated[Annotated[str, To("string")], "The beginning of a prompt for frontmatter."]
    last_line: Annotated[str, "The last line of such a prompt."]
    object_form: Annotated[Annotated[str, To("string")], "The beginning of one for an object."]
    object_last_line: Annotated[str, "The last line of such a prompt."]
    wording: Annotated[int, "The version of the texts."]

    def of(self, *, typed: bool) -> tuple[str, str]:
        """The reference of the beginning, and the last line; `typed`: for an object."""
        texts = (self.object_form, self.object_last_line)
        return texts if typed else (self.form, self.last_line)


class RoleText(NamedTuple):
    """A role as its file describes it. It is played by an agent, by another workflow (`workflow`),
    by a program (`program`) or by a person (`human`). A node refers to the schema in `frontmatter`.
    """

    goal: Annotated[
        str,
        "The goal of the role; required for an agent and a person.",
        NOT_BLANK._replace(hint="describe the goal of the role"),
    ] = ""
    frontmatter: Annotated[
        dict[str, Any] | None,
        "The JSON Schema (draft 2020-12) of the role's output. Each variant (oneOf) fixes $status "
        "by a const and requires it. Required, except for a workflow, whose result it is.",
        To("schema"),
    ] = None
    description: Annotated[str, "For people: the purpose of the role."] = ""
    capabilities: Annotated[tuple[Annotated[str, _NAMED], ...], "The skills of the role."] = ()
    procedure: Annotated[str, "How the role works."] = ""
    output: Annotated[str, "What the role's answer should contain."] = ""
    timeout: Annotated[float | None, "Seconds for one step.", SPAN, _POSITIVE] = None
    tools: Annotated[
        tuple[Annotated[str, _NAMED], ...] | None,
        "The only tools that the role's agent may use.",
    ] = None
    skills: Annotated[
        tuple[Annotated[str, _NAMED], ...],
        "Skills (Agent Skills: folders with a SKILL.md) that the role gets, by their names.",
    ] = ()
    memory: Annotated[
        tuple[Annotated[str, _NAMED], ...],
        "Text files that the role gets, as paths from the folder of the thread, or `~/…`.",
    ] = ()
    skill_texts: Annotated[
        dict[str, Annotated[str, To("string")]] | None, "Set by uwf: skills beside the file."
    ] = None
    deliverable: Annotated[ReplyForm | None, "Set by uwf: the form of a reply."] = None
    workflow: Annotated[
        Annotated[str, To("workflow")] | None,
        "The workflow that plays the role: a name, a path relative to this file, a reference, or "
        "$SELF.",
    ] = None
    program: Annotated[RoleProgram | None, "The program that plays the role."] = None
    human: Annotated[bool, "Whether a person plays the role, whatever the default agent is."] = (
        False
    )
    agent: Annotated[str | None, "The suggested agent: an alias or an installed agent.", _NAMED] = (
        None
    )
    model: Annotated[str | None, "The suggested model of the agent, by its name.", _NAMED] = None
    limits: Annotated[RoleLimits | None, "Limits of the role's steps in a thread."] = None
    reserve: Annotated[
        Reserve | None, "What a step may use, counted against limits while it runs."
    ] = None
    retry: Annotated[Retry | None, "When a failed attempt is made again by itself."] = None
    within: Annotated[float | None, _WITHIN, SPAN, _POSITIVE] = None
    expired: Annotated[ExpiredEdge | None, _EXPIRED] = None


class Workflow(NamedTuple):
    """A workflow file. `graph`: role (or `$START`) -> status (or `new`, `resume`) -> edge."""

    name: Annotated[str, "The file's name without .yaml (index.yaml: its folder's name)."]
    roles: Annotated[dict[str, RoleText], "The roles by name."]
    graph: Annotated[
        dict[str, dict[str, Edge]],
        "The edge of each role and each $status, and `$failed` after its last attempt; `$any` "
        "serves the roles without such an edge. $START has the edges `new` and `resume`.",
    ]
    version: Annotated[int, "The format of this file: 1."] = VERSION
    description: Annotated[str, "For people: the purpose of the workflow."] = ""
    limits: Annotated[Limits, "Limits of a thread and of all that it calls."] = Limits()
    input: Annotated[
        Annotated[dict[str, Any], To("schema")] | None,
        "The JSON Schema of the typed input; templates read it as {{{input.field}}}.",
    ] = None
    workspace: Annotated[
        Literal["worktree"] | None, "`worktree`: each thread works in a separate git worktree."
    ] = None
    record: Annotated[
        bool, "Whether the files of the workspace are recorded before and after each step."
    ] = False
    branch: Annotated[bool, "Set by uwf, in the workflow of one role that a branch runs."] = False


class Role(NamedTuple):
    """A role of a published workflow; that of a fan-out is called `SOURCE/STATUS`.

    Attributes:
        name: its name.
        description: its purpose, for people.
        goal: its goal; empty for a program and a workflow.
        capabilities, procedure, output: its skills, how it works, what its answer contains.
        frontmatter, schema: the JSON Schema of its output: the node, and the schema.
        timeout: seconds for one step.
        tools: the only tools that its agent may use; None for all.
        skills, memory: the skills and text files that it gets.
        skill_texts: the skills beside the file of the workflow.
        deliverable: the form of a reply.
        workflow: the workflow that plays it, a reference or `$SELF`; None for other roles.
        program: the program that plays it.
        human: whether a person plays it.
        agent, model: the suggested agent and model.
        limits, reserve: limits of its steps in a thread, and what a step may use.
        retry: when a failed attempt is made again by itself.
        within: seconds that a person has to answer.
        expired: what runs after them.
        fan_out: of a fan-out the edge that leads to its branches.
        max_unchanged: how often in a row it may deliver the same; 0: always, as programs, people
            and calls may.
    """

    name: str
    description: str
    goal: str
    capabilities: tuple[str, ...]
    procedure: str
    output: str
    frontmatter: Ref
    schema: Mapping[str, Any]
    timeout: float | None
    tools: tuple[str, ...] | None
    skills: tuple[str, ...] = ()
    memory: tuple[str, ...] = ()
    skill_texts: Mapping[str, str] | None = None
    deliverable: ReplyForm | None = None
    workflow: str | None = None
    program: RoleProgram | None = None
    human: bool = False
    agent: str | None = None
    model: str | None = None
    limits: RoleLimits | None = None
    reserve: Reserve | None = None
    retry: Retry | None = None
    within: float | None = None
    expired: ExpiredEdge | None = None
    fan_out: Edge | None = None
    max_unchanged: int = 0

    @property
    def calls(self) -> bool:
        """Whether other threads play it."""
        return self.workflow is not None or self.fan_out is not None

    @property
    def workflows(self) -> tuple[str, ...]:
        """The workflows that it calls: references, or `$SELF`."""
        if self.fan_out is not None:
            named = self.fan_out.parallel
            if named is None:
                return (str(self.fan_out.workflow),)
            return tuple(str(branch.workflow) for branch in named.values())
        return () if self.workflow is None else (self.workflow,)

    @property
    def command(self) -> tuple[str, ...] | None:
        """The program that plays it and the templates of its arguments; None for other roles."""
        return None if self.program is None else self.program.argv


class Definition(NamedTuple):
    """A published workflow.

    Attributes:
        ref: the reference of its node.
        name: its name.
        description: its purpose, for people.
        roles: the roles by name.
        graph: role (or `$START`) -> status (or `new`, `resume`) -> edge; an edge to branches leads
            to the role of the fan-out, whose edges are those of `then`. With an edge for each
            `expired` (`EXPIRED`), `$failed` and `as`.
        limits: of a thread and of all that it calls.
        text: reads a text that it refers to.
        written: as its node says: as its file, with the references of schemas and texts.
        input: the schema of its typed input; None without one.
        workspace: `worktree` if each thread works in a separate git worktree.
        record: whether the files of the workspace are recorded.
        branch: whether it was generated for a branch of one role.
        steps: the roles by their names in `steps` of templates, if a template names a step.
    """

    ref: Ref
    name: str
    description: str
    roles: dict[str, Role]
    graph: dict[str, dict[str, Edge]]
    limits: Limits
    text: Callable[[str], str]
    written: Workflow
    input: Mapping[str, Any] | None = None
    workspace: Literal["worktree"] | None = None
    record: bool = False
    branch: bool = False
    steps: Mapping[str, str] = {}

    @property
    def calls(self) -> bool:
        """Whether a workflow plays one of the roles, or a fan-out is one."""
        return any([role.workflow or role.fan_out for role in self.roles.values()])  # noqa: C419

    @property
    def runs_programs(self) -> bool:
        """Whether a program plays one of the roles, or one of a workflow that it calls, perhaps."""
        return self.calls or any(role.program is not None for role in self.roles.values())


def is_workflow(store: "Store", ref: Ref) -> bool:
    """Whether `ref` is the node of a workflow (False also for an unknown node)."""
    return bool(store.has(ref)) and store.get(ref).type in WORKFLOW_TYPES


def read_definition(store: "Store", ref: Ref) -> Definition:
    """The workflow at `ref`, with the schemas of its roles.

    Raises:
        MissingNodeError: the node, or a role's schema, is not in the store.
        CorruptNodeError: its bytes do not match its reference.
        UnknownIdError: the node is not a workflow.
    """
    node = store.get(ref)
    if node.type not in WORKFLOW_TYPES:
        raise UnknownIdError(
            f"the node {ref} is not a workflow",
            hint="next: uwf workflow list",
        )
    found: Workflow = read_payload(Workflow, node.payload)
    graph, fan_outs = found.graph, dict[str, Edge]()
    if any([edge.then for edges in graph.values() for edge in edges.values()]):  # noqa: C419
        from uwf_core.workflow.fan_out import flat_graph  # not for every workflow

        graph, fan_outs = flat_graph(graph)
    ways = [edge.expired or edge.as_ for edges in graph.values() for edge in edges.values()]
    if ANY in graph or any([*ways, *(role.expired for role in found.roles.values())]):
        from uwf_core.workflow.fan_out import with_failures  # not for every workflow

        graph = with_failures(found, graph)
    order = _reading_order(graph)
    names = [*order, *(name for name in found.roles if name not in graph)]
    roles = {name: _role(store, name, found.roles[name]) for name in names if name in found.roles}
    for name, edge in fan_outs.items():
        roles[name] = _fan_out(store, name, edge)
    return Definition(
        ref=ref,
        name=found.name,
        description=found.description,
        roles=roles,
        graph={name: graph[name] for name in order},
        limits=found.limits,
        text=store.text,
        written=found,
        input=None if found.input is None else as_listed(store.schema(Ref(str(found.input)))),
        workspace=found.workspace,
        record=found.record,
        branch=found.branch,
        steps=_named_steps(roles, _templates(roles, graph)),
    )


def _named_steps(roles: Mapping[str, Role], templates: Iterable[str]) -> Mapping[str, str]:
    if not (texts := [text for text in templates if "steps." in text]):
        return {}
    from uwf_core.workflow.step_names import steps_by_name  # not for every workflow

    return steps_by_name(roles, texts)


def _templates(roles: Mapping[str, Role], graph: Mapping[str, Mapping[str, Edge]]) -> Iterator[str]:
    edges: list[Edge | Branch] = [edge for each in graph.values() for edge in each.values()]
    for role in roles.values():
        yield from role.command or ()
        if role.fan_out is not None:
            edges += [role.fan_out, *(role.fan_out.parallel or {}).values()]
    yield from (text for edge in edges for text in (edge.prompt, edge.location) if text)


def _reading_order(graph: Mapping[str, Mapping[str, Edge]]) -> list[str]:
    """The names as a thread may reach them, `$START` first; a node keeps them sorted by key."""
    order = [START]
    for name in order:
        targets = (edge.role for edge in graph[name].values())
        order += [each for each in dict.fromkeys(targets) if each in graph and each not in order]
    return order + [name for name in graph if name not in order]


def _fan_out(store: "Store", name: str, edge: Edge) -> Role:
    """The role of a fan-out: its output is the joint result of the branches."""
    ref = Ref(str(edge.frontmatter))
    return Role(name, "", "", (), "", "", ref, store.schema(ref), None, None, fan_out=edge)


def _role(store: "Store", name: str, text: RoleText) -> Role:
    fields = text._asdict()
    ref = Ref(fields.pop("frontmatter"))
    schema, most = as_listed(store.schema(ref)), _max_unchanged(text)
    return Role(name=name, frontmatter=ref, schema=schema, max_unchanged=most, **fields)


def _max_unchanged(text: RoleText) -> int:
    if text.program is not None or text.human or text.workflow is not None:
        return 0
    own = None if text.limits is None else text.limits.max_unchanged
    return MAX_UNCHANGED if own is None else own
