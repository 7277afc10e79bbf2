"""`uwf schedule`: the commands of the table of operations."""

from typing import Final

from uwf_core.commands import TableGroup

EXAMPLES: Final = (
    "uwf schedule add nightly '30 2 * * *' triage -p 'Sort the new issues' --tz Europe/Berlin",
    "uwf schedule list",
    "uwf schedule run nightly",
)

command = TableGroup("schedule", "uwf_worker", EXAMPLES)
"""The command `uwf schedule`."""
