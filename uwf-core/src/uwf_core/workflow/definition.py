"""A published workflow as the engine reads it: plain records from the workflow node.

Imports only the code of the store, since every `exec` loads this module.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.errors import UnknownIdError
from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from uwf_core.cas.store import Store

WORKFLOW_TYPE = Ref("512FE01Q6NNHW")
"""The type of workflow nodes: the reference of `publish.WORKFLOW_SCHEMA` as a schema node."""

WORKFLOW_TYPES = frozenset((WORKFLOW_TYPE,))
"""Every type of workflow node that was ever released; all of them can be read."""


class Edge(NamedTuple):
    """The target of a status: a role, `$END` or `$SUSPEND`; prompt and location are templates."""

    role: str
    prompt: str
    location: str | None


class Role(NamedTuple):
    """A role. `frontmatter` is the reference of its schema, `schema` that schema itself.

    `timeout` is in seconds (None: the configuration's); `tools` the names to which its agent is
    narrowed (None: not narrowed).
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


class Limits(NamedTuple):
    """The limits of a whole thread; None is unlimited. `max_minutes` counts time spent running."""

    max_steps: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_minutes: float | None = None


class Definition(NamedTuple):
    """A workflow. `graph`: role (or `$START`) -> status (or `new`, `resume`) -> edge."""

    ref: Ref
    name: str
    description: str
    roles: dict[str, Role]
    graph: dict[str, dict[str, Edge]]
    limits: Limits


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
    payload = node.payload
    roles, graph = payload["roles"], payload["graph"]
    order = _reading_order(graph)
    return Definition(
        ref=ref,
        name=payload["name"],
        description=payload["description"],
        roles={
            name: _role(name, roles[name], store.schema(Ref(roles[name]["frontmatter"])))
            for name in order
            if name in roles
        },
        graph={
            name: {status: Edge(**edge) for status, edge in graph[name].items()} for name in order
        },
        limits=_limits(payload["limits"]),
    )


def _reading_order(graph: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The names of the graph in the order in which a thread may reach them, `$START` first.

    A node keeps its mappings sorted by key, so the order of the file is not known here.
    """
    order = ["$START"]
    for name in order:
        targets = (edge["role"] for edge in graph[name].values())
        order += [each for each in dict.fromkeys(targets) if each in graph and each not in order]
    return order + [name for name in graph if name not in order]


def _role(name: str, payload: Mapping[str, Any], schema: Mapping[str, Any]) -> Role:
    tools = payload["tools"]
    return Role(
        name=name,
        description=payload["description"],
        goal=payload["goal"],
        capabilities=tuple(payload["capabilities"]),
        procedure=payload["procedure"],
        output=payload["output"],
        frontmatter=Ref(payload["frontmatter"]),
        schema=schema,
        timeout=payload["timeout"],
        tools=None if tools is None else tuple(tools),
    )


def _limits(payload: Mapping[str, Any]) -> Limits:
    return Limits(
        max_steps=payload["maxSteps"],
        max_tokens=payload["maxTokens"],
        max_cost_usd=payload["maxCostUsd"],
        max_minutes=payload["maxMinutes"],
    )
