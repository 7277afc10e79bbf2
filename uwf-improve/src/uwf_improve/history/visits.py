"""Recorded threads as plain values: the visits of their roles. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

SUSPEND = "$SUSPEND"
END = "$END"


@dataclass(frozen=True, kw_only=True)
class Attempted:
    """A failed attempt: its node, and the kind of the failure."""

    ref: str
    kind: str


@dataclass(frozen=True, kw_only=True)
class Visit:
    """A step of a role.

    Attributes:
        thread, ref, number: the thread, the step and its number.
        status: its `$status`. target: where the edge of that status leads, None if unknown.
        feedback: the texts of its output. fields: with errors in rejected replies.
        attempts: that failed before it.
        poked: whether a person had the step made again. answered: whether it is a person's answer.
        tools: the calls of tools, each as its name and arguments. denials: denied tools.
        cost_usd: None if unknown.
    """

    thread: str
    ref: str
    number: int
    role: str
    status: str
    target: str | None
    feedback: Sequence[str] = ()
    fields: Sequence[str] = ()
    attempts: Sequence[Attempted] = ()
    poked: bool = False
    answered: bool = False
    tools: Sequence[str] = ()
    denials: Sequence[str] = ()
    cost_usd: float | None = None
    duration_ms: int = 0


@dataclass(frozen=True, kw_only=True)
class History:
    """A thread: its end, its visits, the attempts at a step that never succeeded, and the limits
    that it reached.
    """

    thread: str
    workflow: str
    status: str
    visits: Sequence[Visit]
    pending: Sequence[tuple[str, Attempted]] = ()
    limits: Sequence[str] = ()

    def sent_back(self) -> Iterator[Visit]:
        """The visits whose status led to a role that had been visited before, or to itself."""
        seen: set[str] = set()
        for visit in self.visits:
            seen.add(visit.role)
            if visit.target in seen:
                yield visit


@dataclass(frozen=True, kw_only=True)
class RoleOutline:
    """A role of the present workflow: where each status leads; `plays`: what plays it."""

    name: str
    plays: str
    edges: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Outline:
    """The present version of a workflow: its roles, and in which role it starts."""

    name: str
    ref: str
    first: str
    roles: Sequence[RoleOutline]

    def role(self, name: str) -> RoleOutline | None:
        """The role of that name."""
        return next((each for each in self.roles if each.name == name), None)


@dataclass(frozen=True, kw_only=True)
class Histories:
    """What is known of a workflow. `unreadable` threads were left out, and those of which `sealed`
    tasks were made.
    """

    outline: Outline
    threads: Sequence[History] = field(default_factory=tuple)
    unreadable: int = 0
    sealed: int = 0

    def visits(self) -> Iterator[Visit]:
        """All visits, thread by thread."""
        for thread in self.threads:
            yield from thread.visits

    def of_role(self, name: str) -> list[Visit]:
        """The visits of a role."""
        return [each for each in self.visits() if each.role == name]
