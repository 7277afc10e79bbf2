"""`uwf-eval` and `uwf eval`: the table of commands; each module is imported on its call."""

from typing import Any, Final

from uwf_core.commands import EXIT_CODES, Group, Noun, Row, write_examples, write_lines

COMMANDS: Final[dict[str, Row | Noun]] = {
    "run": Row("run:run", "Run tasks and judge every trial"),
    "resume": Row("run:resume", "Run the remaining trials of a run"),
    "new": Row("tasks:new", "Create an example task"),
    "check": Row("tasks:check", "Validate tasks and report every error"),
    "calibrate": Row("calibrate:calibrate", "Measure judges against gold labels"),
    "report": Row("report:report", "Report the results of a run"),
    "list": Row("results:list_", "List the runs"),
    "show": Row("results:show", "Show one trial: its steps and the result of each judge"),
    "compare": Row("compare:compare", "Test whether B is better than A, and show what changed"),
    "export": Row("export:export", "Export trials as bundles, or a run for Inspect"),
}
EXAMPLES: Final = (
    "uwf-eval new my-task",
    "uwf-eval run my-task --repeat 5",
    "uwf-eval report @last",
    "uwf-eval compare RUN @last",
)


class Root(Group):
    """The group of all commands."""

    def __init__(self, name: str) -> None:
        noun = Noun("Evaluate workflows on tasks",
                    COMMANDS, "uwf_eval.cli")  # fmt: skip
        super().__init__(name, (), noun)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples and exit codes."""
        write_examples(formatter, EXAMPLES, ctx)
        write_lines(formatter, "Exit codes", EXIT_CODES)


command = Root("eval")
"""The command `uwf eval`."""
