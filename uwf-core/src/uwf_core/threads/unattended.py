"""What a program needs that runs threads to their end without a person."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.engine.budget import ledger_of
from uwf_core.engine.find import find_thread
from uwf_core.engine.workflows import find_workflow, read_workflow
from uwf_core.errors import UsageError
from uwf_core.ids import Ref
from uwf_core.thread.head import read_head
from uwf_core.threads.rerun import Reruns
from uwf_core.threads.typed_input import checked_input
from uwf_core.views.workflow_shape import mapping_of
from uwf_core.workflow.definition import SELF

if TYPE_CHECKING:
    from uwf_core.api.sums import LedgerPayload
    from uwf_core.engine.engine import Engine


class Unattended(Reruns):
    """Threads of a program, without a person: checks before they start, what they used, and their
    recorded steps, made again.
    """

    def check(self, workflow: str, input: Mapping[str, Any] | None = None) -> None:
        """Check a workflow, and the typed input of a thread. Stores nothing.

        Raises:
            UnknownIdError: the workflow does not exist. DefinitionError: the file has errors.
            PayloadError: the input does not satisfy its schema.
            UsageError: it has no typed input; or a person plays a role, of it or of a workflow that
                it calls.
        """
        engine = self._engine
        found = read_workflow(engine, workflow, self._watch)
        text = _mapping(engine, found)
        checked_input(input, text["input"], text["name"], engine.redactor)
        persons = list(dict.fromkeys(_roles_of_persons(engine, found)))
        if persons:
            raise UsageError(
                f"a person plays {', '.join(persons)}, and nobody answers here",
                hint="use a version of the workflow in which an agent plays that role",
            )

    def publish(self, workflow: str, folder: str) -> Ref:
        """The published workflow of a name, file or reference; its programs are allowed as by a
        start in a folder.

        Raises:
            UnknownIdError: it does not exist. DefinitionError: the file has errors.
            UsageError: it may not run its programs.
        """
        return find_workflow(self._engine, workflow, self._watch, start_in=folder)

    def ledger(self, thread: str) -> "LedgerPayload":
        """What a thread has used with all that it called, also in calls that did not end."""
        engine = self._engine
        return ledger_of(engine, read_head(engine.store, find_thread(engine, thread)).state)


def _mapping(engine: "Engine", workflow: Ref | dict[str, Any]) -> dict[str, Any]:
    return workflow if isinstance(workflow, dict) else mapping_of(engine.definition(workflow))


def _roles_of_persons(engine: "Engine", workflow: Ref | dict[str, Any]) -> Iterator[str]:
    """The roles that a person plays, also in called workflows, each as `<workflow>/<role>`."""
    text, called = _mapping(engine, workflow), list[Any]()
    for name, role in text["roles"].items():
        if role["human"]:
            yield f"{text['name']}/{name}"
        if role["workflow"] not in (None, SELF, *called):
            called.append(role["workflow"])
    for callee in called:
        yield from _roles_of_persons(engine, callee)
