"""The tools that only read. Each takes a driver and its arguments and gives a page."""

from typing import TypedDict

from uwf_core.engine.documents import ExecDocument, StepRow, ThreadRow
from uwf_core.errors import UsageError
from uwf_core.mcp import arguments as given
from uwf_core.mcp.driver import ToolDriver
from uwf_core.mcp.page import Page, text_page
from uwf_core.mcp.places import checked_place
from uwf_core.operations.rows import function_of
from uwf_core.process.cancel import Cancel
from uwf_core.views.inbox import InboxItem
from uwf_core.views.thread_list import ThreadFilter
from uwf_core.views.workflows import WorkflowRow


class ThreadsDocument(TypedDict):
    """Threads, newest first."""

    threads: list[ThreadRow]


class WorkflowsDocument(TypedDict):
    """The workflows that can be started here."""

    workflows: list[WorkflowRow]


class StepsDocument(TypedDict):
    """The steps of a thread; the first one is its start."""

    steps: list[StepRow]


class InboxDocument(TypedDict):
    """What waits for a person."""

    items: list[InboxItem]


class TextDocument(TypedDict):
    """A part of a text that has `characters` in all."""

    text: str
    characters: int


def list_(uwf: ToolDriver, wanted: given.ListArguments) -> Page:
    """Threads; one row more than wanted tells whether others follow."""
    chosen = ThreadFilter(
        all=wanted.all,
        statuses=tuple(wanted.status),
        workflow=wanted.workflow,
        text=wanted.text,
        limit=wanted.limit + 1,
        offset=wanted.offset,
    )
    rows = uwf.list(chosen)
    following = wanted.offset + wanted.limit if len(rows) > wanted.limit else None
    return Page(
        {"threads": rows[: wanted.limit]}, "threads", wanted.offset, wanted.offset, following
    )


def workflows(uwf: ToolDriver, wanted: given.PageArguments) -> Page:
    """The workflows that can be started here."""
    return Page({"workflows": uwf.workflows()}, "workflows", wanted.offset)


def inbox(uwf: ToolDriver, wanted: given.PageArguments) -> Page:
    """What waits for a person."""
    return Page({"items": uwf.inbox()}, "items", wanted.offset)


def show(uwf: ToolDriver, wanted: given.ThreadArguments) -> Page:
    """The status of a thread."""
    return Page(uwf.show(wanted.thread))


def steps(uwf: ToolDriver, wanted: given.StepsArguments) -> Page:
    """The steps of a thread."""
    return Page({"steps": uwf.steps(wanted.thread)}, "steps", wanted.offset)


def step(uwf: ToolDriver, wanted: given.StepArguments) -> Page:
    """A whole step."""
    return Page(uwf.step(wanted.step), "turns", wanted.offset)


def read(uwf: ToolDriver, wanted: given.ReadArguments) -> Page:
    """A thread or a step as Markdown, or the prompt of a step."""
    if (wanted.thread is None) == (wanted.step is None):
        raise UsageError("name either `thread` or `step`", where="arguments", hint="leave one out")
    if wanted.thread is not None:
        return text_page(uwf.read(wanted.thread, before=wanted.before), wanted.offset)
    assert wanted.step is not None
    text = uwf.prompt(wanted.step) if wanted.prompt else uwf.read_step(wanted.step)
    return text_page(text, wanted.offset)


def why(uwf: ToolDriver, wanted: given.WhyArguments) -> Page:
    """Why a thread went as it did."""
    explain = function_of("uwf_explain:why")
    return Page(explain(uwf, wanted.thread, wanted.step), "sections", wanted.offset)


def diff(uwf: ToolDriver, wanted: given.DiffArguments) -> Page:
    """Two threads, compared."""
    compare = function_of("uwf_explain:diff")
    return Page(compare(uwf, wanted.a, wanted.b), "rows", wanted.offset)


def check(uwf: ToolDriver, wanted: given.CheckArguments) -> Page:
    """Every problem of a workflow file in the server's folder."""
    file = checked_place(uwf.engine, wanted.file, what="workflow file")
    if wanted.text is None:
        return Page(uwf.check_workflow(file), "problems", wanted.offset)
    found = uwf.check_text(wanted.text, file, quote_included=False)
    return Page(found, "problems", wanted.offset)


def usage(uwf: ToolDriver, wanted: given.UsageArguments) -> Page:
    """What threads have used."""
    if wanted.thread is not None and wanted.workflow is not None:
        raise UsageError("name either `thread` or `workflow`", hint="leave one out")
    found = uwf.usage(wanted.thread, workflow=wanted.workflow, by=wanted.by)
    return Page(found, "rows", wanted.offset)


def ask(uwf: ToolDriver, wanted: given.AskArguments, cancel: Cancel) -> Page:
    """The answer of a fork of the session of a step."""
    return Page(uwf.ask(wanted.step, wanted.question, cancel=cancel))


def unfinished(uwf: ToolDriver, thread: str) -> "ExecDocument":
    """The document of a run that has not ended."""
    shown = uwf.show(thread)
    return {
        "thread": shown["thread"],
        "workflow": shown["workflow"],
        "workflowName": shown["workflowName"],
        "steps": [],
        "status": shown["status"],
        "suspendReason": shown["suspendReason"],
        "suspendMessage": shown["suspendMessage"],
        "done": shown["done"],
    }
