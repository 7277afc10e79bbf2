"""`uwf improve`: the table of commands; each module is imported on its call."""

from typing import Any, Final

from uwf_core.commands import EXIT_CODES, Group, Noun, Row, write_examples, write_lines

COMMANDS: Final[dict[str, Row | Noun]] = {
    "reflect": Row("reflect:reflect", "Find what goes wrong again and again in recorded threads"),
    "propose": Row("propose:propose", "Draft an edit of a workflow: checked, guarded, replayed"),
    "seal": Row("sets:seal", "Split tasks into open and sealed ones, and store the bar"),
    "try": Row("test:try_", "Try an edit on the open tasks"),
    "decide": Row("test:decide", "Test an edit on the sealed tasks: accepted or not"),
    "open": Row("sets:open_", "Open the sealed tasks and show their trials"),
    "list": Row("edits:list_", "List the edits and the sets"),
    "show": Row("edits:show", "Show an edit: its findings and its patch"),
    "report": Row("report:report", "Report an edit for those who decide, or apply it"),
}
EXAMPLES: Final = (
    "uwf improve reflect fix-bug --since 30d",
    "uwf improve propose fix-bug --agent claude-code",
    "uwf improve seal bugs tasks/* --gain 5%",
    "uwf improve decide @last --set bugs",
    "uwf improve report @last --apply",
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
