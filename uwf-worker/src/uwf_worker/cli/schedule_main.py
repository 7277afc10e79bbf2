"""`uwf schedule`: the table of commands; each module is imported on its call."""

from typing import Any, Final

from uwf_core.commands import EXIT_CODES, Group, Noun, Row, write_examples, write_lines

COMMANDS: Final[dict[str, Row | Noun]] = {
    "add": Row("schedule_add:add", "Start a workflow again and again, at the times of a cron line"),
    "list": Row("schedule_list:list_", "Show the schedules, their next times and what went wrong"),
    "pause": Row("schedule:pause", "Let a schedule start nothing until it is resumed"),
    "resume": Row("schedule:resume", "Let a paused schedule start threads again"),
    "rm": Row("schedule:rm", "Delete a schedule; its threads stay"),
    "run": Row("schedule:run", "Start the thread of a schedule now"),
}
EXAMPLES: Final = (
    "uwf schedule add nightly '30 2 * * *' triage -p 'Sort the new issues' --tz Europe/Berlin",
    "uwf schedule list",
    "uwf schedule run nightly",
)


class ScheduleGroup(Group):
    """The group of all commands."""

    def __init__(self) -> None:
        noun = Noun("Schedules: workers start threads at set times", COMMANDS, "uwf_worker.cli")
        super().__init__("schedule", (), noun)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples and exit codes."""
        write_examples(formatter, EXAMPLES, ctx)
        write_lines(formatter, "Exit codes", EXIT_CODES)


command = ScheduleGroup()
"""The command `uwf schedule`."""
