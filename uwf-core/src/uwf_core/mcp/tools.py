"""The tools, by name: arguments, document, what they do, and what must be allowed for them."""

from collections.abc import Callable, Collection, Mapping
from importlib.util import find_spec
from typing import Any, Final, Literal, NamedTuple

from uwf_core.engine.documents import (
    AnswerDocument,
    ExecDocument,
    StepDocument,
    ThreadDocument,
    UsageDocument,
)
from uwf_core.mcp import arguments as given
from uwf_core.mcp import reading, running
from uwf_core.mcp.page import Page
from uwf_core.views.workflows import ProblemsDocument

Permission = Literal["run", "answer"]
PERMISSIONS: Final[tuple[Permission, ...]] = ("run", "answer")
"""What `--allow` can add to reading."""


class Tool(NamedTuple):
    """A tool.

    Attributes:
        arguments: a class of `mcp.arguments`.
        document: the class of the document in the answer, or its name as `module:class`;
            `Mapping[str, Any]` for any.
        call: takes a driver and the arguments; also the cancel token if `cancels`.
        permission: None: it only reads.
        is_run: the answer has an exit code. waits: it is called again until the run has ended.
        calls_model: it has an agent answer.
        package: what it needs beside the core, if anything; without it the tool is not offered.
    """

    arguments: type
    document: Any
    call: Callable[..., Page]
    permission: Permission | None = None
    is_run: bool = False
    waits: bool = False
    calls_model: bool = False
    package: str = ""


TOOLS: Final[Mapping[str, Tool]] = {
    "list": Tool(given.ListArguments, reading.ThreadsDocument, reading.list_),
    "workflows": Tool(given.PageArguments, reading.WorkflowsDocument, reading.workflows),
    "inbox": Tool(given.PageArguments, reading.InboxDocument, reading.inbox),
    "show": Tool(given.ThreadArguments, ThreadDocument, reading.show),
    "steps": Tool(given.StepsArguments, reading.StepsDocument, reading.steps),
    "step": Tool(given.StepArguments, StepDocument, reading.step),
    "read": Tool(given.ReadArguments, reading.TextDocument, reading.read),
    "why": Tool(given.WhyArguments, Mapping[str, Any], reading.why, package="uwf_explain"),
    "diff": Tool(
        given.DiffArguments,
        "uwf_explain.comparison.documents:ThreadDiffDocument",
        reading.diff,
        package="uwf_explain",
    ),
    "check": Tool(given.CheckArguments, ProblemsDocument, reading.check),
    "usage": Tool(given.UsageArguments, UsageDocument, reading.usage),
    "ask": Tool(given.AskArguments, AnswerDocument, reading.ask, calls_model=True),
    "wait": Tool(given.WaitArguments, ExecDocument, running.running, is_run=True, waits=True),
    "start": Tool(given.StartArguments, ExecDocument, running.start, "run", is_run=True),
    "exec": Tool(given.ExecArguments, ExecDocument, running.exec_, "run", is_run=True),
    "resume": Tool(given.ResumeArguments, ExecDocument, running.resume, "run", is_run=True),
    "stop": Tool(given.ThreadArguments, ThreadDocument, running.stop, "run"),
    "answer": Tool(given.AnswerArguments, ExecDocument, running.answer, "answer", is_run=True),
}


def tools_of(allowed: Collection[str]) -> dict[str, Tool]:
    """The tools of a server that allows this, and has what they need."""
    return {
        name: tool
        for name, tool in TOOLS.items()
        if (tool.permission is None or tool.permission in allowed)
        and (not tool.package or find_spec(tool.package) is not None)
    }
