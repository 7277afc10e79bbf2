"""The stored edits. Names, below `@uwf/improve/`: `edit/<ID>`, with the state as a tag."""

from collections.abc import Sequence
from typing import Final

from uwf_core.client import Client, Name
from uwf_core.errors import AmbiguousIdError, UnknownIdError
from uwf_core.fields.records import payload_schema, read_payload, write_record
from uwf_improve.edit.records import State, WorkflowEdit

_EDIT: Final = "@uwf/improve/edit/"
FORMAT: Final = "1"
_SHORTEST: Final = 4


class Edits:
    """The edits in a client's store."""

    def __init__(self, client: Client) -> None:
        self._nodes = client.nodes

    def save(self, edit: WorkflowEdit, state: State) -> None:
        """Store an edit, or its new state.

        Raises:
            BusyError: another process changes it at the same time.
        """
        with self._nodes.transaction():
            kind = self._nodes.put_type(payload_schema(WorkflowEdit, "uwf edit"), trusted=True)
            ref = self._nodes.put(kind, write_record(edit))
            name = _EDIT + edit.edit
            tags = {"workflow": edit.workflow, "state": state, "format": FORMAT}
            before = self._nodes.name(name)
            if before is None or (before.ref, dict(before.tags)) != (ref, tags):
                self._nodes.set_name(name, ref, tags, before)

    def state(self, edit: str) -> State | None:
        """The state of the edit with this id; None: it is unknown."""
        name = self._nodes.name(_EDIT + edit)
        return None if name is None else name.tags["state"]  # type: ignore[return-value]

    def all(self) -> Sequence[tuple[WorkflowEdit, State]]:
        """All edits with their states, oldest first."""
        found = [(self._read(each), each.tags["state"]) for each in self._nodes.names(_EDIT)]
        return sorted(found, key=lambda each: each[0].drafted_at_ms)  # type: ignore[arg-type]

    def find(self, word: str) -> tuple[WorkflowEdit, State]:
        """The edit of an id, a unique prefix of one, `@last`, or `@accepted` (the newest accepted).

        Raises:
            UnknownIdError: unknown edit. AmbiguousIdError: the prefix matches several.
        """
        every = self.all()
        if word == "@last" and every:
            return every[-1]
        accepted = [each for each in every if each[1] in ("accepted", "applied")]
        if word == "@accepted" and accepted:
            return accepted[-1]
        found = [e for e in every if len(word) >= _SHORTEST and e[0].edit.startswith(word.lower())]
        if len(found) > 1:
            raise AmbiguousIdError(
                f"{word!r} matches {len(found)} edits", hint="type more characters of the id"
            )
        if not found:
            raise UnknownIdError(
                f"unknown edit {word!r}", hint="`uwf improve list` shows all edits"
            )
        return found[0]

    def _read(self, name: Name) -> WorkflowEdit:
        return read_payload(WorkflowEdit, self._nodes.get(name.ref))
