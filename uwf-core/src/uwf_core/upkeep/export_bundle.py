"""Export a thread to a file that others can verify and import."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.api.store import Variable
from uwf_core.engine.find import find_thread
from uwf_core.errors import BundleError, BusyError
from uwf_core.ids import ThreadId
from uwf_core.thread.head import IMPORTED, TRIAL, Head, read_head
from uwf_core.thread.lock import holder_of
from uwf_core.thread.names import prefixes_of
from uwf_core.upkeep.replaced_file import replaced_file

if TYPE_CHECKING:
    from uwf_core.cas.bundle_write import Inspect
    from uwf_core.cas.store import Store
    from uwf_core.engine.documents import BundleDocument
    from uwf_core.engine.engine import Engine

_TRIES = 5


def export_thread(engine: "Engine", word: str, path: str) -> "BundleDocument":
    """Write a thread with all that it reaches, and its own variables, to a file.

    The file (0600) appears once it is complete, and replaces an existing one.

    Raises:
        UnknownIdError: unknown thread. BusyError: it is running.
        CorruptNodeError: a node of it is damaged or missing.
        BundleError: it contains a secret that is known now.
        UsageError: the file cannot be written.
    """
    from uwf_core.cas.bundle_write import write_bundle

    thread = find_thread(engine, word)
    head, variables = own_variables(engine.store, thread)
    target = Path(engine.cwd, path)
    with replaced_file(target, "the bundle") as file:
        manifest = write_bundle(
            engine.store, file, thread, head.ref, variables, _inspect(engine, variables)
        )
        size = file.tell()
    return {
        "thread": thread,
        "head": head.ref,
        "root": manifest.root,
        "nodes": len(manifest.nodes),
        "bytes": size,
        "file": str(target),
    }


def own_variables(store: "Store", thread: ThreadId) -> tuple[Head, Sequence[Variable]]:
    """A consistent view of the head and all variables of a thread, without the marks of a trial and
    of an import: these hold only in this store.
    """
    for _ in range(_TRIES):
        head = read_head(store, thread)
        if holder_of(store, thread) is not None:
            break
        here = {TRIAL, IMPORTED}
        tags = {tag: text for tag, text in head.variable.tags.items() if tag not in here}
        variables = [head.variable._replace(tags=tags)]
        for prefix in prefixes_of(thread):
            variables += store.variables(prefix)
        if read_head(store, thread).variable == head.variable:
            return head, variables
    raise BusyError(f"thread {thread} is running", hint=f"next: uwf thread wait {thread}")


def _inspect(engine: "Engine", variables: Sequence[Variable]) -> "Inspect":
    """Reject what was stored before a secret was known."""
    redactor = engine.redactor

    def inspect(place: str, payload: Any) -> None:
        if redactor.value(payload) != payload:
            raise BundleError(
                f"{place} contains a secret that is known now; nothing was exported",
                hint="a node cannot be changed: replace the secret in its service, and remove it "
                "from the configuration and the environment",
            )

    for variable in variables:
        inspect(variable.name, dict(variable.tags))
    return lambda ref, payload: inspect(f"the node {ref}", payload)
