"""`uwf-eval`, and `uwf eval`: the table of its commands; a module is imported when it is called."""

from collections.abc import Mapping
from typing import Any, Final

from uwf_core.commands import EXIT_CODES, Group, Noun, Row

COMMANDS: Final[Mapping[str, Row]] = {
    "run": Row("run:run", "Try tasks, again and again, and judge every trial"),
    "resume": Row("run:resume", "Run the trials of a run that are left or failed by accident"),
    "new": Row("tasks:new", "Write a task that runs as it is"),
    "check": Row("tasks:check", "Report every fault of tasks"),
    "report": Row("report:report", "What came out of a run"),
    "list": Row("results:list_", "List the runs"),
    "diff": Row("results:diff", "Two runs side by side, trial by trial"),
    "show": Row("results:show", "Show one trial: what it did and what each judge said"),
    "compare": Row("compare:compare", "Is B better than A, by how much, at what cost"),
    "export": Row("results:export", "Write trials as bundles"),
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
        noun = Noun("Know whether a workflow is any good, and whether a change made it better",
                    COMMANDS, "uwf_eval.cli")  # fmt: skip
        super().__init__(name, (), noun)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples and exit codes."""
        for title, lines in (("Examples", EXAMPLES), ("Exit codes", EXIT_CODES)):
            formatter.write_paragraph()
            formatter.write(f"{title}:\n")
            for line in lines:
                formatter.write(f"  {line}\n")


command = Root("eval")
"""What `uwf eval` is."""
