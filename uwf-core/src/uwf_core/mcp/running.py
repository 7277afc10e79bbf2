"""The tools that run threads, all in the background, and the one that answers.

A separate process runs the thread: it outlives this server and its client, and `wait` reads what
it has saved.
"""

import os
from typing import TYPE_CHECKING

from uwf_core.api.permission import decisions_of
from uwf_core.errors import BusyError, UsageError, UwfError, WrongStateError
from uwf_core.ids import Ref, ThreadId
from uwf_core.mcp import arguments as given
from uwf_core.mcp.driver import ToolDriver
from uwf_core.mcp.page import Page
from uwf_core.mcp.places import checked_place, checked_workflow
from uwf_core.mcp.reading import unfinished
from uwf_core.thread.head import read_head
from uwf_core.thread.limits import WORDS

if TYPE_CHECKING:
    from uwf_core.engine.results import Outcome
    from uwf_core.views.inbox import InboxItem


def start(uwf: ToolDriver, wanted: given.StartArguments) -> Page:
    """Create a thread and run it in the background; a thread that cannot run is reported."""
    from uwf_core.engine.run import outcome_after

    limits = {} if wanted.limits is None else wanted.limits._asdict()
    thread = uwf.start(
        checked_workflow(uwf.engine, wanted.workflow),
        wanted.task,
        cwd=checked_place(uwf.engine, wanted.folder, what="folder"),
        agent=_agent_name(wanted.agent),
        input=wanted.input,
        limits={WORDS[word]: amount for word, amount in limits.items() if amount is not None},
    )["thread"]
    try:
        outcome = uwf.exec(thread, until_done=wanted.until_done, background=True)
    except UwfError as error:
        outcome = outcome_after(uwf.engine, thread, error)
    return _page(outcome)


def _agent_name(word: str | None) -> str | None:
    """The word of an agent, which must not be a command line of the client."""
    from uwf_core.config.trust import is_command_line

    if word is not None and is_command_line(word):
        raise UsageError(
            "the agent must be a name, not a command line",
            where="agent",
            hint="a person can configure it: uwf config set agents.NAME.command PROGRAM",
        )
    return word


def exec_(uwf: ToolDriver, wanted: given.ExecArguments) -> Page:
    """Run the next steps in the background."""
    return _page(uwf.exec(wanted.thread, until_done=wanted.until_done, background=True))


def resume(uwf: ToolDriver, wanted: given.ResumeArguments) -> Page:
    """Run a thread that has ended, failed or was interrupted again, with a further instruction.

    What only a person decides is rejected: answers (see `answer`), and more budget.
    """
    shown = uwf.show(wanted.thread)
    if shown["suspendReason"] == "limit":
        raise WrongStateError(
            f"thread {shown['thread']} has reached a limit: {shown['suspendMessage']}",
            hint=f"only a person grants more: uwf thread resume {shown['thread']}",
        )
    if shown["suspendReason"] == "role":
        raise WrongStateError(
            f"thread {shown['thread']} waits for an answer of a person",
            hint="ask your user, then call `answer` if this server has it (`uwf mcp --allow "
            f"answer`); else: uwf thread resume {shown['thread']}",
        )
    return _page(
        uwf.resume(
            shown["thread"],
            wanted.text,
            head=shown["head"],
            until_done=wanted.until_done,
            background=True,
        )
    )


def answer(uwf: ToolDriver, wanted: given.AnswerArguments) -> Page:
    """Pass on what a person said to the role that waits for it, and run on."""
    item = _question(uwf, wanted.thread)
    return _page(
        uwf.resume(
            item["thread"],
            wanted.text,
            answer=wanted.answer,
            head=item["head"],
            until_done=wanted.until_done,
            background=True,
        )
    )


def _question(uwf: ToolDriver, word: str) -> "InboxItem":
    """The one question that a thread waits for. The permission that an agent asks for is none: a
    program that runs commands must not allow them to itself.
    """
    thread = uwf.show(word)["thread"]
    found = [each for each in uwf.inbox(thread) if each["kind"] in ("question", "message")]
    if len(found) != 1:
        several = ", ".join(f"{each['thread']} ({each['role']})" for each in found)
        raise WrongStateError(
            f"thread {thread} has no question" if not found else f"several threads wait: {several}",
            hint="`show` has its status" if not found else "answer one of them",
        )
    item = found[0]
    if item["form"] is not None and (decisions_of(item["form"]) or not _is_for_people(uwf, item)):
        raise WrongStateError(
            f"thread {item['thread']} waits because the agent of role {item['role']} asks for a "
            "permission or another choice, which a person decides",
            hint=f"next: uwf thread show {item['thread']}",
        )
    return item


def _is_for_people(uwf: ToolDriver, item: "InboxItem") -> bool:
    """Whether a question with a form is that of a role that a person plays."""
    from uwf_core.engine.plan import last_attempt
    from uwf_core.threads.answers import HUMAN

    store = uwf.engine.store
    asked = last_attempt(store, read_head(store, ThreadId(item["thread"])))
    return asked is not None and store.payload(Ref(asked.value))["agent"] == HUMAN


def stop(uwf: ToolDriver, wanted: given.ThreadArguments) -> Page:
    """Stop the process that runs a thread; `exec` continues it."""
    return Page(uwf.stop(wanted.thread))


def waited(uwf: ToolDriver, thread: str, seconds: float) -> Page | None:
    """The outcome of the run of a thread; None if it still runs after this time."""
    try:
        return _page(uwf.wait(thread, seconds))
    except BusyError:
        return None


def running(uwf: ToolDriver, thread: str) -> Page:
    """What `wait` gives for a run that has not ended in time."""
    return Page(unfinished(uwf, thread), exit_code=os.EX_TEMPFAIL)


def _page(outcome: "Outcome") -> Page:
    notices = () if outcome.error is None else (outcome.error.message, outcome.error.hint or "")
    return Page(outcome.document, "steps", exit_code=int(outcome.exit_code), notices=notices)
