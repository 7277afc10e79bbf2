"""The typed input of a call: the output that took the edge, as the called workflow declares it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from uwf_core.cas.schemas import violations
from uwf_core.errors import RoutingFailed
from uwf_core.extract.typed import problem_words
from uwf_core.ids import Ref
from uwf_core.thread.history import read_input, read_step
from uwf_core.workflow.input_types import reduced_input

if TYPE_CHECKING:
    from uwf_core.cas.store import Store
    from uwf_core.engine.context import Run, Task
    from uwf_core.thread.head import Head
    from uwf_core.workflow.definition import Definition


def call_input(store: "Store", given: Any, called: "Definition", role: str) -> Ref | None:
    """Store the input of a call, None if the called workflow declares none. Within a transaction.

    Args:
        store: of the threads.
        given: an output or an item, of which the input is a part.
        called: the workflow. role: that it plays.

    Raises:
        RoutingFailed: what is given does not satisfy the schema.
    """
    schema = called.input
    if schema is None:
        return None
    fields = reduced_input(given, schema) if isinstance(given, Mapping) else given
    wrong = violations(schema, fields)
    if wrong:
        words = "; ".join(map(problem_words, wrong))
        raise RoutingFailed(
            f"the output does not satisfy the input of the workflow {called.name}, which the role "
            f"{role!r} calls: {words}",
            hint="next: uwf workflow check FILE",
        )
    return store.put(store.put_schema(dict(schema)), fields)


def output_of_call(run: "Run", task: "Task", child: "Head | None") -> Any:
    """The output that took the edge to the role. At $START it is the caller's own input, and after
    a suspension of the role the input that the role had in `child`, the thread of its last call.
    """
    store = run.engine.store
    last = None if task.prev is None else read_step(store, Ref(task.prev)).payload
    if last is not None and last["next"]["status"] == "idle":
        return store.payload(Ref(last["output"]))
    is_again = last is not None and last["next"]["status"] == "suspended"
    source = child.state if is_again and child is not None else run.head.state
    return read_input(store, source) or {}
