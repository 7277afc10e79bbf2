"""What the step of a fan-out records of its branches: for the fold, and for poke and ask."""

from collections.abc import Mapping
from typing import Any, Final

from uwf_core.api.sums import add_usage
from uwf_core.errors import WrongStateError
from uwf_core.thread.decisions import call_of
from uwf_core.thread.state import RoleSession, RoleState, ThreadState
from uwf_core.workflow.fan_out import CANCELLED

BRANCH: Final = "workflow/"
"""With the name of a branch of `parallel`, the key of its session: a thread, which is called again.
An item of a list is always a new thread.
"""


def with_sessions(role: RoleState, payload: Mapping[str, Any], *, inherited: bool) -> RoleState:
    """The role of a fan-out with the threads of its named branches; a cancelled one is not called
    again.
    """
    call = payload["call"]
    for branch, child in zip(call["branches"], call["children"], strict=True):
        if branch["name"] is not None:
            own = RoleSession(branch["thread"], payload["number"], inherited, child)
            goes_on = branch["status"] != CANCELLED
            role = role.with_session(BRANCH + branch["name"], own if goes_on else None)
    return role


def check_no_branches(step: Mapping[str, Any], verb: str) -> None:
    """Reject the step of a fan-out, which no single agent made, for `poke` or `ask`.

    Raises:
        WrongStateError: it is one; the message names its branches.
    """
    branches, children = call_of(step)["branches"], call_of(step)["children"] or []
    if branches is None:
        return
    each = enumerate(zip(branches, children, strict=True))
    shown = [
        f"{branch['name'] or number}: thread {branch['thread']}, step {step}"
        for number, (branch, step) in each
    ]
    more = f"; and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    command = "thread fork" if verb == "poke" else "step ask -p TEXT"
    raise WrongStateError(
        f"step {step['number']} is that of branches, so there is no agent to {verb}: "
        f"{'; '.join(shown[:_SHOWN]) or 'none, since the list was empty'}{more}",
        hint=f"next: uwf {command} {children[0]}" if branches else None,
    )


_SHOWN: Final = 8


def with_usage(state: ThreadState, payload: Mapping[str, Any]) -> ThreadState:
    """The state in which the roles that the branches played have used what these did."""
    call = payload["call"]
    runs = [branch["role"] for branch in call["branches"]]
    for name, ledger in call["usageByRole"].items():
        role = state.role(name)
        role = role._replace(
            runs=role.runs + runs.count(name),
            leaf_steps=role.leaf_steps + ledger["steps"],
            running_ms=role.running_ms + ledger["runningMs"],
            usage=add_usage(role.usage, ledger["usage"]),
        )
        state = state.with_role(name, role)
    return state
