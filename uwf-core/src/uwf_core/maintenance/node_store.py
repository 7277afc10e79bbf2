"""The store for libraries and plugins: typed nodes under separate names."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.ids import Ref

if TYPE_CHECKING:
    from uwf_core.engine.engine import Engine


class Name(NamedTuple):
    """A variable: a name, the node that it refers to, and its tags."""

    name: str
    ref: str
    tags: Mapping[str, str]


class NodeStore:
    """Your own typed nodes in the store of uwf, under your own names.

    Names look like `@area/a/b`; the engine owns the areas `@uwf/thread`, `@uwf/attempt`,
    `@uwf/turn`, `@uwf/event`, `@uwf/ask` and `@uwf/registry`.
    """

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine

    def put_type(self, schema: Mapping[str, Any], *, trusted: bool = False) -> Ref:
        """Store a JSON Schema as a type.

        Args:
            schema: draft 2020-12, within the allowed keywords.
            trusted: skip the check, which is slow to load: it ships with the caller, whose tests
                check it.

        Raises:
            PayloadError: it is not a valid schema within the allowed keywords.
        """
        return self._engine.store.put_schema(dict(schema), trusted=trusted)

    def put(self, type_: Ref, payload: Any, *, trusted: bool = False) -> Ref:
        """Store a node of a type, secrets redacted.

        Args:
            type_: the result of `put_type`.
            payload: a JSON value.
            trusted: skip the check, which is slow to load: the tests of the caller check such
                payloads.

        Raises:
            PayloadError: it is not a JSON value, or does not match the type.
        """
        return self._engine.store.put(type_, self._engine.redactor.value(payload), trusted=trusted)

    def get(self, ref: str) -> Any:
        """The payload of a node, its reference and digest checked.

        Raises:
            MissingNodeError, CorruptNodeError: it is missing or damaged.
        """
        return self._engine.store.get(ref).payload

    def name(self, name: str) -> Name | None:
        """The current value of a name, None if it does not exist."""
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
        """Make a name refer to `ref`, by compare-and-set.

        Args:
            name: the name.
            ref: an existing node.
            tags: texts that are stored with it.
            expected: the value that the caller has seen; None: the name does not exist yet.

        Raises:
            BusyError: it has another value by now; nothing has changed.
        """
        store = self._engine.store
        known = store.variable(name)
        seen = None if known is None else Name(known.name, known.value, known.tags)
        new = store.set_variable(name, ref, tags or {}, known if seen == expected else None)
        return Name(new.name, new.value, new.tags)

    def transaction(self) -> Any:
        """A context: all its writes become durable together or not at all."""
        return self._engine.store.transaction()

    def copy(self, refs: Iterable[str], target: "NodeStore") -> int:
        """Copy nodes with all that they reach to another store; return the number of new ones.

        Raises:
            MissingNodeError, CorruptNodeError: one is missing or damaged; nothing has changed.
        """
        from uwf_core.maintenance.copy_nodes import copy_nodes

        return copy_nodes(self._engine.store, target._engine.store, refs)

    def copy_thread(
        self, thread: str, target: "NodeStore", *, trial: str | None = None, durable: bool = True
    ) -> None:
        """Copy a thread that is not running, and all threads below it, to another store: completely
        or not at all.

        Args:
            thread: its id. target: the other store.
            trial: the trial that they belong to there; lists leave them out.
            durable: False: do not wait for the disk. The copy survives kill -9, and is on the disk
                no later than the next write to the target.

        Raises:
            BusyError: it is running, or exists already.
        """
        from uwf_core.maintenance.copy_nodes import copy_thread

        copy_thread(self._engine, target._engine, thread, trial=trial, durable=durable)
