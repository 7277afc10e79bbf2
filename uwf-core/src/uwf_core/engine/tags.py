"""The index of a head against what its chain says."""

from typing import TYPE_CHECKING

from uwf_core.engine.past import Known, index_of_thread
from uwf_core.ids import Ref
from uwf_core.thread.limits import Allowance, check_limits
from uwf_core.thread.rebuild import differences

if TYPE_CHECKING:
    from uwf_core.thread.head import Head
    from uwf_core.thread.index import ThreadIndex
    from uwf_core.workflow.definition import Definition


def allowance_of(definition: "Definition") -> Allowance:
    """What a workflow allows one of its threads."""
    limits = definition.limits
    return Allowance(limits.max_steps, limits.max_tokens, limits.max_cost_usd, limits.max_minutes)


def is_limited(known: Known, index: "ThreadIndex") -> bool:
    """Whether a thread has reached a limit of its workflow."""
    allowance = allowance_of(known.definition(Ref(index.workflow)))
    return check_limits(index, allowance).reached is not None


def wrong_tags(known: Known, head: "Head") -> list[str]:
    """What the index of `head` says otherwise than its chain, attempts and events, in words.

    Raises:
        StoreError: something of these is missing or damaged.
    """
    rebuilt = index_of_thread(known, head.thread, head.ref)
    return differences(head.state, rebuilt, is_limited=is_limited(known, rebuilt))
