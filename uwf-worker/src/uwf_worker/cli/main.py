"""`uwf worker`: the commands of the table of operations."""

from typing import Final

from uwf_core.commands import TableGroup

EXAMPLES: Final = (
    "uwf run fix-bug -p 'The total is off by one' --queue",
    "uwf worker start",
    "uwf worker status",
)

command = TableGroup("worker", "uwf_worker", EXAMPLES)
"""The command `uwf worker`."""
