"""`uwf worker`: the table of commands; each module is imported on its call."""

from typing import Any, Final

from uwf_core.commands import EXIT_CODES, Group, Noun, Row, write_examples, write_lines

COMMANDS: Final[dict[str, Row | Noun]] = {
    "start": Row("start:start", "Run threads that were handed to workers, until it drains"),
    "status": Row("status:status", "Show the workers, and the threads that wait for one"),
    "drain": Row("status:drain", "Let workers end after their step"),
    "migrate": Row("migrate:migrate", "Create the tables of the queue in the store"),
}
EXAMPLES: Final = (
    "uwf run fix-bug -p 'The total is off by one' --queue",
    "uwf worker start",
    "uwf worker status",
)


class WorkerGroup(Group):
    """The group of all commands."""

    def __init__(self) -> None:
        noun = Noun("Workers: several machines run the threads of one store", COMMANDS,
                    "uwf_worker.cli")  # fmt: skip
        super().__init__("worker", (), noun)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples and exit codes."""
        write_examples(formatter, EXAMPLES, ctx)
        write_lines(formatter, "Exit codes", EXIT_CODES)


command = WorkerGroup()
"""The command `uwf worker`."""
