"""The arguments of each tool. Their classes are the input schemas and the readers."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from uwf_core.fields.mismatch import NOT_BLANK, above, between
from uwf_core.thread.names import Status

MOST_ROWS = 100
LONGEST_WAIT_S = 50
"""Clients give a call 60 seconds, and many have no setting for more."""

_Thread = Annotated[str, NOT_BLANK, "A thread: its id, a unique prefix of it, or @last."]
_Step = Annotated[str, NOT_BLANK, "A step: its id, a unique prefix of it, or @last."]
_Offset = Annotated[int, between(0, 2**31), "Where to begin: `nextOffset` of the previous page."]
_UntilDone = Annotated[bool, "false: run the next step only."]


class ListArguments(NamedTuple):
    """Which threads."""

    status: Annotated[Sequence[Status], "Only these; without it, those that have not ended."] = ()
    all: Annotated[bool, "Also the ended ones."] = False
    workflow: Annotated[str | None, "Only of this workflow (name or reference)."] = None
    text: Annotated[str | None, "Only with this text in the task."] = None
    limit: Annotated[int, between(1, MOST_ROWS), "How many at most."] = 20
    offset: _Offset = 0


class PageArguments(NamedTuple):
    """A page of a list."""

    offset: _Offset = 0


class ThreadArguments(NamedTuple):
    """A thread."""

    thread: _Thread


class StepsArguments(NamedTuple):
    """A page of the steps of a thread."""

    thread: _Thread
    offset: _Offset = 0


class StepArguments(NamedTuple):
    """A step, and a page of its turns."""

    step: _Step
    offset: _Offset = 0


class ReadArguments(NamedTuple):
    """A text: of a thread or of a step."""

    thread: Annotated[str | None, "A thread, for its task and its newest steps."] = None
    step: Annotated[str | None, "A step instead, for its turns and its output."] = None
    prompt: Annotated[bool, "Of a step: the exact prompt that the agent got."] = False
    before: Annotated[str | None, "Of a thread: only the steps before this one."] = None
    offset: _Offset = 0


class WhyArguments(NamedTuple):
    """A thread, or one of its steps."""

    thread: _Thread
    step: Annotated[str | None, "Only this step of it."] = None
    offset: _Offset = 0


class DiffArguments(NamedTuple):
    """Two threads."""

    a: _Thread
    b: _Thread
    offset: _Offset = 0


class CheckArguments(NamedTuple):
    """A workflow file, or its text."""

    file: Annotated[str, NOT_BLANK, "The file, in the folder of this server."]
    text: Annotated[str | None, "Check this text as if it were the file."] = None
    offset: _Offset = 0


class UsageArguments(NamedTuple):
    """Whose usage, and its groups."""

    thread: Annotated[str | None, "Only this thread, with all that it called."] = None
    workflow: Annotated[str | None, "Only the threads of this workflow."] = None
    by: Annotated[Literal["role", "agent", "model", "workflow"], "The groups."] = "role"
    offset: _Offset = 0


class AskArguments(NamedTuple):
    """A question to the session of a step."""

    step: _Step
    question: Annotated[str, NOT_BLANK, "The question."]


class WaitArguments(NamedTuple):
    """A thread, and how long."""

    thread: _Thread
    seconds: Annotated[int, between(0, LONGEST_WAIT_S), "How long at most."] = LONGEST_WAIT_S


class StartLimits(NamedTuple):
    """What the new thread may use, with all that it calls."""

    steps: Annotated[int | None, above(0)] = None
    tokens: Annotated[int | None, above(0)] = None
    cost: Annotated[float | None, above(0), "In USD."] = None
    minutes: Annotated[float | None, above(0)] = None


class StartArguments(NamedTuple):
    """A new thread."""

    workflow: Annotated[str, NOT_BLANK, "A name of `workflows`, or a file in this folder."]
    task: Annotated[str, NOT_BLANK, "What its roles should do."]
    folder: Annotated[str, NOT_BLANK, "Where they work, in the folder of this server."] = "."
    input: Annotated[Mapping[str, Any] | None, "The typed input, if the workflow has one."] = None
    agent: Annotated[str | None, "The agent that plays the roles, by its name."] = None
    limits: Annotated[StartLimits | None, "What it may use at most."] = None
    until_done: _UntilDone = True


class ExecArguments(NamedTuple):
    """A thread, and how far."""

    thread: _Thread
    until_done: _UntilDone = True


class ResumeArguments(NamedTuple):
    """A thread, and a further instruction."""

    thread: _Thread
    text: Annotated[str | None, "A further instruction for the role that runs next."] = None
    until_done: _UntilDone = True


class AnswerArguments(NamedTuple):
    """What a person said."""

    thread: _Thread
    answer: Annotated[Mapping[str, Any] | None, "Fields that satisfy `form`, if it has one."] = None
    text: Annotated[str | None, "The person's words, if `form` is null."] = None
    until_done: _UntilDone = True
