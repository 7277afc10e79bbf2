"""The page of what `uwf workflow check` finds: each code with a real example.

The examples are the broken workflows of the tests, of which every code has at least one.
"""

from pathlib import Path
from typing import NoReturn

from generate.tables import table
from uwf_core.agents.choose import AgentCatalog, resolve_agent
from uwf_core.errors import UsageError
from uwf_core.workflow.callees import Callees
from uwf_core.workflow.check import check_file
from uwf_core.workflow.codes import CODES
from uwf_core.yaml.problem import Problem

BROKEN = Path(__file__).parents[2] / "tests" / "core" / "workflow" / "broken"

INTRODUCTION = """\
# What check finds

`uwf workflow check FILE` reports every error of a file together, each as
`file:line:column code message` with a hint, or as `problems[]` with `--format json`. Codes are
stable. Warnings alone leave a workflow valid (exit 0); an error makes it invalid (exit 4).

The examples are real messages.
"""


def markdown() -> str:
    """The whole page."""
    examples = _examples()
    rows = [(f"`{code}`", CODES[code], *_cells(examples.get(code))) for code in sorted(CODES)]
    columns = ["code", "meaning", "severity", "example", "hint of the example"]
    return INTRODUCTION + "\n" + table(columns, rows)


def _examples() -> dict[str, Problem]:
    """A problem of each code, from the file with the fewest problems. The two codes that need a
    large file have none.
    """
    found: dict[str, Problem] = {}
    callees = Callees(_unused, _unused, lacks=_lacks)
    checked = [check_file(str(path), callees).problems for path in sorted(BROKEN.glob("*.yaml"))]
    for problems in sorted(checked, key=len):
        for problem in problems:
            found.setdefault(problem.code, problem)
    return found


def _unused(*_: object) -> NoReturn:
    raise AssertionError("the examples call files only")


def _lacks(kind: str, name: str) -> str:
    if kind == "model":
        return f"unknown model {name!r}"
    try:
        resolve_agent(name, AgentCatalog({}, tuple, "/"))
    except UsageError as error:
        return error.message
    raise AssertionError("the examples suggest nothing that exists")


def _cells(example: Problem | None) -> tuple[str, str, str]:
    if example is None:
        return "error", "", ""
    message, hint = (
        text.replace(str(BROKEN), "/project") for text in (example.message, example.hint)
    )
    return example.severity, message, hint
