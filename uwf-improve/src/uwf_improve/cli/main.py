"""`uwf improve`: the table of commands; each module is imported on its call."""

from collections.abc import Mapping
from typing import Any, Final

from uwf_core.commands import EXIT_CODES, Group, Noun, Row, write_examples, write_lines

COMMANDS: Final[Mapping[str, Row]] = {
    "reflect": Row("reflect:reflect", "Find what goes wrong again and again in recorded threads"),
    "plan": Row("plan:plan", "Show what a sealed test costs and which gain it can find"),
}
EXAMPLES: Final = (
    "uwf improve reflect fix-bug --since 30d",
    "uwf improve plan --tasks 40 --repeat 3",
)


class ImproveGroup(Group):
    """The group of all commands."""

    def __init__(self) -> None:
        noun = Noun("Improve a workflow, and confirm it on tasks that the search never saw",
                    COMMANDS, "uwf_improve.cli")  # fmt: skip
        super().__init__("improve", (), noun)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples and exit codes."""
        write_examples(formatter, EXAMPLES, ctx)
        write_lines(formatter, "Exit codes", EXIT_CODES)


command = ImproveGroup()
"""The command `uwf improve`."""
