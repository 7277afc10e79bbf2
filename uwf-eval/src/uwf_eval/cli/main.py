"""`uwf-eval` and `uwf eval`: the commands of the table of operations."""

from typing import Final

from uwf_core.commands import TableGroup

EXAMPLES: Final = (
    "uwf-eval new my-task",
    "uwf-eval run my-task --repeat 5",
    "uwf-eval report @last",
    "uwf-eval compare RUN @last",
)


_HELP: Final = "Evaluate workflows on tasks, and test whether a change improved them"


def root(name: str) -> TableGroup:
    """The group of all commands."""
    return TableGroup(name, _HELP, "uwf_eval", EXAMPLES)


command = root("eval")
"""The command `uwf eval`."""
