"""The step that the engine makes where the failure of a role leads somewhere. Pure: its output
follows from the state of the thread, so that `cas verify` derives it again.
"""

from functools import cache
from typing import TYPE_CHECKING, Any, Final

from uwf_core.cas.codec import encode
from uwf_core.cas.hashing import META, ref_of
from uwf_core.errors import CorruptNodeError
from uwf_core.workflow.failed import FAILED_SCHEMA
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from uwf_core.ids import Ref
    from uwf_core.thread.decisions import Event
    from uwf_core.thread.state import ThreadState

NOT_OF_ROLES: Final = ("interrupted", "internal")
"""The kinds of failures that a person has to see, whatever the workflow says."""


def failed_output(state: "ThreadState", status: str) -> dict[str, Any] | None:
    """The output after the last attempt at a step has failed; None if the thread waits for another
    reason, or a person has to see the failure.
    """
    waits = state.suspension
    if waits is None or waits.reason != "failure" or waits.kind in NOT_OF_ROLES:
        return None
    about = {"kind": waits.kind, "message": waits.message, "attempts": state.failures}
    return {STATUS: status, **about}


def check_failed_step(state: "ThreadState", event: "Event") -> None:
    """Check that the step of the engine follows from the failure before it.

    Raises:
        CorruptNodeError: nothing has failed, or otherwise.
    """
    step, failed = event.payload, state.suspension
    output = failed_output(state, step["status"])
    is_its_own = (
        failed is not None
        and step["role"] == failed.role
        and (step["number"], step["attempt"]["replaces"]) == (state.steps + 1, None)
    )
    if output is None or not is_its_own or step["output"] != ref_of(_type(), encode(output)):
        raise CorruptNodeError(
            f"the step {event.ref} does not follow from a failure of thread {state.thread}",
            hint="`uwf cas verify` names what is damaged",
        )


@cache
def _type() -> "Ref":
    return ref_of(META, encode(FAILED_SCHEMA))
