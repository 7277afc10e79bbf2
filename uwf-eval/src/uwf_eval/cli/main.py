"""`uwf-eval` and `uwf eval`: the commands of the table of operations."""

from typing import Final

from uwf_core.commands import TableGroup

EXAMPLES: Final = (
    "uwf-eval new my-task",
    "uwf-eval run my-task --repeat 5",
    "uwf-eval report @last",
    "uwf-eval compare RUN @last",
)


def root(name: str) -> TableGroup:
    """The group of all commands, as the program of that name."""
    return TableGroup("eval", "uwf_eval", EXAMPLES, name)


command = root("eval")
"""The command `uwf eval`."""
