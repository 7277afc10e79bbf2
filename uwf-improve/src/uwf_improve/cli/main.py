"""`uwf improve`: the commands of the table of operations."""

from typing import Final

from uwf_core.commands import TableGroup

EXAMPLES: Final = (
    "uwf improve reflect fix-bug --since 30d",
    "uwf improve propose fix-bug --agent claude-code",
    "uwf improve seal bugs tasks/* --gain 5%",
    "uwf improve decide @last --set bugs",
    "uwf improve report @last --apply",
)

command = TableGroup("improve", "uwf_improve", EXAMPLES)
"""The command `uwf improve`."""
