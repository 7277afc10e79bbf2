"""Changes in limits and reservations."""

from collections.abc import Iterator

from uwf_core.fields.records import camel
from uwf_core.workflow.definition import Limits, Reserve, RoleLimits
from uwf_core.workflow.diff.change import WorkflowChange

Amounts = Limits | RoleLimits | Reserve | None


def amount_changes(kind: str, place: str, a: Amounts, b: Amounts) -> Iterator[WorkflowChange]:
    """Every amount that differs; a missing group has none."""
    before = {} if a is None else a._asdict()
    now = {} if b is None else b._asdict()
    for field in dict.fromkeys((*before, *now)):
        if before.get(field) != now.get(field):
            where = f"{place}.{camel(field)}"
            yield WorkflowChange(kind, where, before.get(field), now.get(field))
