"""`steps` in the templates of a workflow: the newest output of each role of a thread."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.thread.history import body_of, output_of, read_step
from uwf_core.workflow.variants import BODY, STATUS

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.thread.state import ThreadState
    from uwf_core.workflow.definition import Definition


Delivered = tuple[str, Mapping[str, Any], str]
"""A role, its output and the text beside it, which are not stored as a step yet."""


class EarlierSteps(Mapping[str, Any]):
    """The newest output of each role with its text, read when a template names it."""

    def __init__(
        self,
        store: "Store",
        roles: Mapping[str, str],
        newest: Callable[[str], str | None],
        delivered: Delivered | None = None,
    ) -> None:
        """`roles`: by their names in templates. `newest`: finds the newest step of a role, but
        for statuses that begin with `$`. `delivered` comes after that.
        """
        self._store = store
        self._roles = roles
        self._newest = newest
        is_own = delivered is not None and has_own_status(delivered[1].get(STATUS))
        self._delivered = delivered if is_own else None

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        role, own = self._roles[name], self._delivered
        if own is not None and own[0] == role:
            return {**own[1], BODY: own[2]}
        ref = self._newest(role)
        if ref is None:
            raise KeyError(name)
        step = read_step(self._store, Ref(ref))
        return {**output_of(self._store, step), BODY: body_of(self._store, step)}

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._roles if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def has_own_status(status: Any) -> bool:
    """Whether a role chose a status, and none of those that begin with `$`."""
    return isinstance(status, str) and not status.startswith("$")


def is_delivered(step: Mapping[str, Any]) -> bool:
    """Whether a role has delivered a step, and chose its status."""
    return step["agent"] is not None and has_own_status(step["status"])


def earlier_steps(
    store: "Store",
    definition: "Definition",
    state: "ThreadState",
    *,
    before: int | None = None,
    delivered: Delivered | None = None,
) -> EarlierSteps | None:
    """The newest output of each role of a thread, before a step and with what it delivered; None if
    no template of the workflow names one.
    """
    if not definition.steps:
        return None
    newest = _newest_in(store, state, state.steps + 1 if before is None else before)
    return EarlierSteps(store, definition.steps, newest, delivered)


def _newest_in(store: "Store", state: "ThreadState", before: int) -> Callable[[str], str | None]:
    """Find the newest step of a role in a thread before a number, but for `$` statuses."""

    def newest(role: str) -> str | None:
        ref = state.role(role).step
        while ref is not None:
            step = read_step(store, Ref(ref)).payload
            is_own = step["role"] == role and is_delivered(step)
            if is_own and step["number"] < before:
                return ref
            ref = step["prev"]
        return None

    return newest
