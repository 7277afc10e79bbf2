"""The course of a session: what a prompt means for its thread, and what the editor shows."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_agent_acp.protocol.errors import INTERNAL_ERROR, RpcError
from uwf_agent_acp.server.answers import Misunderstood, answer_of_text
from uwf_agent_acp.server.asking import Answer, Editor, ask_form, ask_permission
from uwf_agent_acp.server.history import history
from uwf_agent_acp.server.plan import Plan
from uwf_agent_acp.server.questions import permission_options, question_text
from uwf_agent_acp.server.updates import (
    RunUpdates,
    commands_update,
    message_update,
    result_updates,
)
from uwf_core.client import form_of
from uwf_core.errors import ExitCode, PayloadError, UwfError

if TYPE_CHECKING:
    from uwf_core.client import Cancel, Client, InboxItem, Outcome, StepResult, ThreadDocument

CONTINUE = "/continue"
"""The only command. Many editors send no message that begins with `/` unless it is announced."""
MOST_FORMS = 5
"""So often an invalid form is asked again."""


class TurnEnd(NamedTuple):
    """How a prompt ended, and the tokens that it has used, if all are known."""

    stop_reason: str
    usage: dict[str, int] | None


class Conversation:
    """A session of an editor: a thread from its first prompt on.

    Args:
        client: of the session alone, with `heard` as its `on_event`.
        editor: gets everything that happens.
        thread: the id of the thread, which does not exist before the first prompt.
    """

    def __init__(self, client: "Client", editor: Editor, thread: str) -> None:
        self._client = client
        self._editor = editor
        self.thread = thread
        self.workflow = ""
        self.is_started = False
        self._is_called = False
        self._task: str | None = None  # of a thread that needs a typed input
        self._plan: Plan | None = None
        self._updates: RunUpdates | None = None
        self._results: list[StepResult] = []
        self._commands: Mapping[str, str] = {}
        self._lock = threading.Lock()

    def choose(self, workflow: str) -> None:
        """Choose the workflow of the thread that does not exist yet. Raises UwfError."""
        self._plan = Plan(self._client.workflow(workflow))
        self.workflow, self._task = workflow, None

    def load(self, *, replay: bool) -> None:
        """Continue a thread that exists, and show its history.

        Raises:
            UwfError: it does not exist, or cannot be read.
        """
        client, thread = self._client, self.thread
        shown = client.show(thread)
        if shown["status"] == "corrupt":
            raise RpcError(INTERNAL_ERROR, f"thread {thread} is corrupt: {shown['suspendMessage']}")
        self._plan = Plan(client.workflow(shown["workflow"]))
        self.workflow, self.is_started = shown["workflowName"], True
        steps = [client.step(row["step"]) for row in client.steps(thread)[1:]]
        for update in history(thread, shown["task"] or "", steps, self._plan):
            if replay:
                self._editor.update(update)
        if shown["status"] == "completed":
            self._plan.end()
        elif shown["stack"] and shown["suspendReason"] == "role":
            self._plan.begin(shown["stack"][0]["role"])
        self._show_plan()
        self._show_commands(shown, again=True)
        if replay:
            self._tell_state(shown)

    def heard(self, event: object) -> None:
        """Show an event of a run. Called by any thread."""
        with self._lock:
            if self._updates is not None:
                for update in self._updates.of(event):
                    self._editor.update(update)

    # -- a prompt ----------------------------------------------------------------------------------

    def prompt(self, text: str, cancel: "Cancel") -> TurnEnd:
        """Do what the person says, and whatever follows from it until the person is needed.

        Raises:
            UwfError, RpcError: it cannot be done, or the run failed.
            Abandoned: it was cancelled while the person was asked.
        """
        assert self._plan is not None
        self._results = []
        self._updates = RunUpdates(self.thread, self._plan)
        reason = "cancelled"
        try:
            reason = self._course(text, cancel)
        finally:
            if reason == "cancelled":
                self._plan.rest()
            self._show_plan()
            if self.is_started:
                with suppress(UwfError):  # the prompt itself has reported what is wrong
                    self._show_commands(self._client.show(self.thread))
        return TurnEnd(reason, self._usage())

    def _course(self, text: str, cancel: "Cancel") -> str:
        """Run, ask, and run again; the reason for which the prompt stops."""
        outcome = self._first(text, cancel)
        while outcome is not None and not cancel.is_set():
            self._results += outcome.document["steps"]
            item = self._question()
            if item is None:
                return self._end(outcome)
            outcome = self._asked(item, cancel)
        return "cancelled" if cancel.is_set() else "end_turn"

    def _show_plan(self) -> None:
        assert self._plan is not None
        for update in self._plan.changed():
            self._editor.update(update)

    def _show_commands(self, shown: "ThreadDocument", *, again: bool = False) -> None:
        """Announce `/continue` while it runs something, and withdraw it afterwards."""
        does = self._what_continues(shown)
        commands = {} if does is None else {CONTINUE: does}
        if commands != self._commands or (again and commands):
            self._commands = commands
            self._editor.update(commands_update(commands))

    def _what_continues(self, shown: "ThreadDocument") -> str | None:
        """What `/continue` does; None if it does nothing."""
        reason = shown["suspendReason"]
        if shown["status"] == "idle":
            return f"Run {shown['currentRole']}, which is next"
        if reason in (None, "role") or self._question() is not None:
            return None
        role = shown["suspendedRole"]
        again = f"Run {role} again" if role else "Continue"
        return "Grant the same allowance and continue" if reason == "limit" else again

    def _first(self, text: str, cancel: "Cancel") -> "Outcome | None":
        """The run that a prompt begins; None if it only got a message."""
        if not self.is_started:
            if text.strip() == CONTINUE:
                self._say("Nothing has begun yet: your next message is the task.")
                return None
            return self._start(text, cancel)
        shown, item = self._client.show(self.thread), self._question()
        if item is not None:
            return self._told(item, text, cancel)
        if shown["status"] == "idle":
            if text.strip() != CONTINUE:
                self._say(
                    f"The thread is between two roles; {shown['currentRole']} is next, and your "
                    f"message would reach no role. Write `{CONTINUE}` to run it."
                )
                return None
            self._at_work(shown)
            return self._client.exec(self.thread, until_done=True, cancel=cancel)
        if text.strip() == CONTINUE:
            if shown["status"] == "completed":
                self._say("The thread is completed. Your next message resumes it.")
                return None
            if self._what_continues(shown) is None:
                self._tell_state(shown)
                return None
            text = ""
        if shown["suspendReason"] == "role" and not text.strip():
            self._tell_state(shown)
            return None
        self._at_work(shown)
        return self._client.resume(self.thread, text or None, until_done=True, cancel=cancel)

    def _start(self, text: str, cancel: "Cancel") -> "Outcome | None":
        schema, given = self._client.workflow(self.workflow).get("input"), None
        task = text
        if schema is not None:
            given = self._input(schema, text)
            if given is None:
                return None
            task = self._task or text
        try:
            started = self._client.start(self.workflow, task, input=given, thread=self.thread)
        except PayloadError as error:
            if schema is None:
                raise
            self._say(f"{error.message}. Answer again.")
            return None
        self.is_started, self._task = True, None
        self._is_called = self._client.show(started["thread"])["parent"] is not None
        return self._client.exec(self.thread, until_done=True, cancel=cancel)

    def _input(self, schema: Mapping[str, Any], text: str) -> Answer | None:
        """The typed input of a new thread, by a form, or by the message after the task."""
        if self._task is not None:
            try:
                return answer_of_text(text, schema)
            except (Misunderstood, PayloadError) as error:
                self._say(f"{error} Answer again.")
                return None
        self._task = text
        question = f"What is the input of {self.workflow}?"
        answer = ask_form(self._editor, question, schema)
        if answer is None:
            self._say(question_text(question, form_of(schema)))
        return answer

    def _at_work(self, shown: "ThreadDocument") -> None:
        """Show the role of the thread itself that continues, also while it waits for calls."""
        if shown["stack"] and self._plan is not None:
            self._plan.begin(shown["stack"][0]["role"])
            self._show_plan()

    # -- questions ---------------------------------------------------------------------------------

    def _question(self) -> "InboxItem | None":
        """The first pending question of the thread and those that it called."""
        waiting = self._client.inbox(self.thread)
        return next((each for each in waiting if each["kind"] == "question"), None)

    def _told(self, item: "InboxItem", text: str, cancel: "Cancel") -> "Outcome | None":
        """Answer a pending question with what the person wrote."""
        form = item["form"] or {}
        try:
            return self._resume(item, answer_of_text(text, form), cancel)
        except (Misunderstood, PayloadError) as error:
            if permission_options(form) is not None:
                return self._asked(item, cancel)
            self._say(f"{error}\n\n{self._described(item)}")
            return None

    def _asked(self, item: "InboxItem", cancel: "Cancel") -> "Outcome | None":
        """Ask the person, and continue with the answer; None if the question stays pending."""
        problem = ""
        for _ in range(MOST_FORMS):
            answer = ask_permission(self._editor, item) or self._elicited(item, problem)
            if answer is None:
                break
            try:
                return self._resume(item, answer, cancel)
            except PayloadError as error:
                problem = error.message
        self._say(self._described(item))
        return None

    def _resume(self, item: "InboxItem", answer: Answer, cancel: "Cancel") -> "Outcome":
        self._at_work(self._client.show(self.thread))
        thread, head = item["thread"], item["head"]
        outcome = self._client.resume(
            thread, answer=answer, head=head, until_done=True, cancel=cancel
        )
        is_over = outcome.exit_code or outcome.error is not None
        if thread == self.thread or is_over or cancel.is_set():
            return outcome
        self._results += outcome.document["steps"]
        return self._client.exec(self.thread, until_done=True, cancel=cancel)

    def _elicited(self, item: "InboxItem", problem: str = "") -> Answer | None:
        return ask_form(
            self._editor, f"{item['role']}: {item['message']}", item["form"] or {}, problem
        )

    def _described(self, item: "InboxItem") -> str:
        question = f"**{item['role']} asks:** {item['message']}"
        return question_text(question, form_of(item["form"] or {}))

    # -- the end of a run --------------------------------------------------------------------------

    def _end(self, outcome: "Outcome") -> str:
        """Tell the person how a run ended; the reason for which the prompt stops."""
        document = outcome.document
        if outcome.exit_code == ExitCode.INTERRUPTED:
            return "cancelled"
        if outcome.error is not None:
            raise outcome.error
        if document["suspendReason"] == "failure":
            raise _failed(document["suspendMessage"] or "the run failed", self._results)
        if document["status"] == "completed":
            self._deliver()
            return "end_turn"
        self._tell_state(self._client.show(self.thread))
        return "max_turn_requests" if outcome.exit_code == ExitCode.LIMIT else "end_turn"

    def _deliver(self) -> None:
        """End with what the last role delivered, unless its agent has just said it."""
        assert self._plan is not None and self._updates is not None
        self._plan.end()
        self._show_plan()
        if self._updates.said.lstrip().startswith("---"):
            return
        step = self._client.step(self._client.steps(self.thread)[-1]["step"])
        title, id_ = f"{self.workflow}: {step['status']}", f"{self.thread}/result/{step['step']}"
        for update in result_updates(id_, title, step["output"] or {}, step["body"] or ""):
            self._editor.update(update)

    def _tell_state(self, shown: "ThreadDocument") -> None:
        """State why the thread waits, and what a message does."""
        item, reason = self._question(), shown["suspendReason"]
        message = shown["suspendMessage"] or ""
        if item is not None:
            self._say(self._described(item))
        elif shown["status"] == "running":
            self._say("The thread runs in another process.")
        elif shown["status"] == "idle":
            self._say(f"{shown['currentRole']} is next. Write `{CONTINUE}` to run it.")
        elif reason == "role":
            self._say(f"**{shown['suspendedRole']} asks:** {message}")
        elif reason == "limit":
            self._say(f"{message}. Write `{CONTINUE}` to grant the same allowance and continue.")
        elif reason is not None:
            self._say(f"{shown['suspendedRole']}: {message}. Your next message continues it.")

    def _say(self, text: str) -> None:
        self._editor.update(message_update(text))

    def _usage(self) -> dict[str, int] | None:
        """The tokens of this prompt. Of a thread that counts as called by a step, that step counts
        them.
        """
        return None if self._is_called else usage_of(self._results)


def usage_of(results: "Sequence[StepResult]") -> dict[str, int] | None:
    """The tokens of some steps as the protocol counts them; None if not all are known."""
    names = {
        "inputTokens": "inputTokens", "outputTokens": "outputTokens",
        "cacheReadTokens": "cachedReadTokens", "cacheWriteTokens": "cachedWriteTokens",
    }  # fmt: skip
    total = dict.fromkeys(names.values(), 0)
    for result in results:
        used: Mapping[str, Any] = result["usage"]
        for name, shown in names.items():
            count = used[name]
            is_needed = name in ("inputTokens", "outputTokens")
            if (count is None and is_needed) or name in used["atLeast"]:
                return None
            total[shown] += count or 0
    return {"totalTokens": sum(total.values()), **total} if results else None


def _failed(message: str, results: "Sequence[StepResult]") -> RpcError:
    failures = [each["failure"] for each in results if each["failure"] is not None]
    data = {"kind": failures[-1]["kind"], "until": failures[-1]["until"]} if failures else None
    return RpcError(INTERNAL_ERROR, message, data)
