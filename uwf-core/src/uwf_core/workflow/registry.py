"""The registry: names of published workflows, kept as variables that move."""

from typing import TYPE_CHECKING

from uwf_core.errors import BusyError
from uwf_core.ids import Ref
from uwf_core.workflow.definition import is_workflow

if TYPE_CHECKING:
    from uwf_core.api.store import Variable
    from uwf_core.cas.store import Store

PREFIX = "@uwf/registry/"
_TRIES = 20


def register(store: "Store", name: str, ref: Ref) -> "Variable":
    """Point `name` to the workflow at `ref`. Existing threads keep their version.

    Raises:
        BusyError: other processes kept changing the same name.
    """
    variable = PREFIX + name
    for _ in range(_TRIES):
        known = store.variable(variable)
        if known is not None and known.value == ref:
            return known
        try:
            return store.set_variable(variable, ref, {}, known)
        except BusyError:
            continue
    raise BusyError(f"other processes keep changing the name {name!r}", hint="try again")


def registered(store: "Store", name: str) -> Ref | None:
    """The reference of `name`, or None."""
    known = store.variable(PREFIX + name)
    return None if known is None else Ref(known.value)


def registry(store: "Store") -> dict[str, Ref]:
    """Every name and its reference, sorted by name."""
    return {
        variable.name.removeprefix(PREFIX): Ref(variable.value)
        for variable in store.variables(PREFIX)
    }


class StoreRegistry:
    """The registry of a store, for `discover.resolve`."""

    def __init__(self, store: "Store") -> None:
        self._store = store

    def names(self) -> dict[str, Ref]:
        """Every name and its reference."""
        return registry(self._store)

    def holds(self, ref: Ref) -> bool:
        """Whether the store has this node."""
        return self._store.has(ref)

    def is_workflow(self, ref: Ref) -> bool:
        """Whether the node is a workflow."""
        return is_workflow(self._store, ref)
