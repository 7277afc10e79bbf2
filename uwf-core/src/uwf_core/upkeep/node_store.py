"""Typed nodes of somebody else's making, in the same store and under names of their own."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.ids import Ref
from uwf_core.named_tuple import NamedTuple

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


class Name(NamedTuple):
    """A variable: a name, the node that it means, and its tags."""

    name: str
    ref: str
    tags: Mapping[str, str]


class NodeStore:
    """Typed nodes of one's own in the same store, under names of one's own.

    Names look like `@area/a/b`; the areas `@uwf/thread`, `@uwf/attempt`, `@uwf/turn`,
    `@uwf/event`, `@uwf/ask` and `@uwf/registry` are the engine's.
    """

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    def put_type(self, schema: Mapping[str, Any], *, trusted: bool = False) -> Ref:
        """Store a JSON Schema as a type.

        Args:
            schema: draft 2020-12, within the allowed keywords.
            trusted: it ships with the caller, whose tests check it without this: skip the check,
                which is slow to load.

        Raises:
            PayloadError: it is no valid schema within the allowed keywords.
        """
        return self._engine.store.put_schema(dict(schema), trusted=trusted)

    def put(self, type_: Ref, payload: Any, *, trusted: bool = False) -> Ref:
        """Store a node of a type, secrets redacted.

        Args:
            type_: what `put_type` gave.
            payload: as JSON can say it.
            trusted: the caller's tests hold that such payloads fit; skip the check, which is slow
                to load.

        Raises:
            PayloadError: JSON cannot say it, or the type refuses it.
        """
        return self._engine.store.put(type_, self._engine.redactor.value(payload), trusted=trusted)

    def get(self, ref: str) -> Any:
        """The payload of a node, its reference and digest checked.

        Raises:
            MissingNodeError, CorruptNodeError: it is absent or damaged.
        """
        return self._engine.store.get(ref).payload

    def name(self, name: str) -> Name | None:
        """What a name means now, None if nothing."""
        found = self._engine.store.variable(name)
        return None if found is None else Name(found.name, found.value, found.tags)

    def names(self, prefix: str) -> list[Name]:
        """All names that begin with `prefix`, sorted."""
        return [
            Name(each.name, each.value, each.tags) for each in self._engine.store.variables(prefix)
        ]

    def set_name(
        self,
        name: str,
        ref: Ref,
        tags: Mapping[str, str] | None = None,
        expected: Name | None = None,
    ) -> Name:
        """Let a name mean `ref`, by compare-and-set.

        Args:
            name: the name.
            ref: an existing node.
            tags: texts that are kept with it.
            expected: what the name means now as far as the caller knows; None: nothing yet.

        Raises:
            BusyError: it means something else by now; nothing has changed.
        """
        store = self._engine.store
        known = store.variable(name)
        seen = None if known is None else Name(known.name, known.value, known.tags)
        new = store.set_variable(name, ref, tags or {}, known if seen == expected else None)
        return Name(new.name, new.value, new.tags)

    def transaction(self) -> Any:
        """A context in which all writes become durable together or not at all."""
        return self._engine.store.transaction()

    def copy(self, refs: Iterable[str], target: "NodeStore") -> int:
        """Copy nodes with everything that they lead to into another store; how many were not there.

        Raises:
            MissingNodeError, CorruptNodeError: one is absent or damaged; nothing has changed.
        """
        from uwf_core.upkeep.copy_nodes import copy_nodes

        return copy_nodes(self._engine.store, target._engine.store, refs)

    def copy_thread(self, thread: str, target: "NodeStore", *, durable: bool = True) -> None:
        """Copy a thread that nobody runs into another store: all that it leads to, or nothing.

        Args:
            thread: it. target: where to.
            durable: False: do not wait for the disk. The copy survives kill -9, and is on the disk
                no later than what is written there next.

        Raises:
            BusyError: it runs, or is there already.
        """
        from uwf_core.upkeep.copy_nodes import copy_thread

        copy_thread(self._engine, target._engine, thread, durable=durable)
