"""`resume` and `poke`: run a thread again with a text or an answer of a person."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from uwf_core.cas.schemas import Violation, violations
from uwf_core.engine.context import GO_ON, Intent, RunOptions
from uwf_core.engine.expiry import check_in_time
from uwf_core.engine.find import find_thread
from uwf_core.engine.location import moved_folder, named_folder
from uwf_core.engine.locking import locked_thread
from uwf_core.engine.plan import moderate
from uwf_core.engine.record import redacted
from uwf_core.engine.results import Outcome, exec_document, forget_run, save_run, write_run
from uwf_core.engine.run import check_step, exec_thread, run_steps
from uwf_core.engine.watch import Watch
from uwf_core.errors import BusyError, PayloadError, UsageError, UwfError, WrongStateError
from uwf_core.extract.file_fields import has_file_fields
from uwf_core.extract.typed import check_structured, problem_words, unknown_fields
from uwf_core.ids import ThreadId
from uwf_core.thread.branches import check_no_branches
from uwf_core.thread.calls import (
    asks_below,
    check_entered,
    check_no_call,
    open_calls,
    shown_state,
    waiting_below,
)
from uwf_core.thread.decisions import Suspension
from uwf_core.thread.head import read_head
from uwf_core.thread.history import read_step
from uwf_core.thread.lifecycle import Input, check_head, check_poke, check_resume
from uwf_core.thread.limits import parse_amounts
from uwf_core.thread.lock import thread_lock
from uwf_core.threads.answer_checks import check_person, check_replied, check_unanswered
from uwf_core.views.form import is_empty_answer
from uwf_core.views.recorded import RecordedThread
from uwf_core.workflow.entered_fields import parse_fields, undeclared_fields
from uwf_core.workflow.variants import role_variants

if TYPE_CHECKING:
    from uwf_core.api.extract import ExtractProblem
    from uwf_core.engine.context import Run
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel
    from uwf_core.thread.head import Head


def resume_thread(
    engine: "Engine", word: str, said: Input, options: RunOptions, watch: Watch, cancel: "Cancel"
) -> Outcome:
    """Run a suspended or completed thread again, with what a person said.

    Raises:
        WrongStateError: it is idle or cancelled; an answer without a pending question, or no
            answer to one; a grant where no limit is reached.
        UsageError: the grant is wrong, or leaves no room; nothing has changed.
        PayloadError: the answer does not satisfy the form; nothing has changed.
        BusyError: another process runs it.
    """
    return Said(engine, find_thread(engine, word), said, options, watch, cancel).run()


class Said(NamedTuple):
    """What a person says to a thread, or to those that wait in its open calls."""

    engine: "Engine"
    root: ThreadId
    said: Input
    options: RunOptions
    watch: Watch
    cancel: "Cancel"

    def run(self) -> Outcome:
        """Run the threads that wait for it; raises as `resume_thread`."""
        engine, root, options = self.engine, self.root, self.options
        thread, *others = waiting = self._waiting()
        if others:
            with self._granted(waiting):
                pass  # the run takes the locks itself
            return exec_thread(engine, root, options, self.watch, self.cancel)
        if thread != root and options.announce is not None:
            forget_run(engine.home, root)
        with self._told(thread) as (run, intent):
            outcome = save_run(run, run_steps(run, run.options, intent))
        if thread == root:
            return outcome
        steps = outcome.document["steps"]
        if options.until_done and not outcome.exit_code and outcome.error is None:
            go_on = options._replace(announce=None, earlier=steps, head=None)
            try:
                return exec_thread(engine, root, go_on, self.watch, self.cancel)
            except UwfError as error:  # every step is reported
                outcome = outcome._replace(exit_code=error.exit_code, error=error)
        return _saved(engine, root, outcome)

    @contextmanager
    def checked(self) -> "Iterator[list[tuple[Head, Intent]]]":
        """For threads that workers run: the heads of those that wait, locked, and what each gets; a
        grant is stored at once. Raises as `resume_thread`.
        """
        thread, *others = waiting = self._waiting()
        if others:
            with self._granted(waiting) as heads:
                yield [(each, GO_ON) for each in heads]
            return
        with self._told(thread) as (run, intent):
            yield [(run.head, intent)]

    def _waiting(self) -> list[ThreadId]:
        """The thread to resume: the one in the open calls below that waits for what the person
        says, else this one; of a grant all that wait at a limit.

        Raises:
            UsageError: several wait for an answer, or to run again.
        """
        engine, root, said = self.engine, self.root, self.said
        head = read_head(engine.store, root)
        if not open_calls(engine.store, root):
            return [root]
        asks = asks_below(engine.store, head)
        found = asks or waiting_below(engine.store, head)
        is_reply = said.text is not None or said.answer is not None or said.without_answer
        if len(found) > 1:
            limits = [each for each in asks if each.suspension.reason == "limit"]
            people = [each for each in asks if each.suspension.reason == "role"]
            if limits and not is_reply:
                found = limits
            elif len(people) == 1 and not said.grants:
                found = people
            else:
                names = ", ".join(f"{each.head.thread} ({each.suspension.role})" for each in found)
                one = "thread show" if people else "thread exec"
                one = f"uwf {one} {found[0].head.thread if people else root}"
                if limits:
                    from uwf_core.engine.grants import grant_command

                    one = grant_command(engine, root, limits)
                message = f"several threads below {root} wait: {names}"
                raise UsageError(message, hint=f"next: {one}")
        return [each.head.thread for each in found] or [root]

    @contextmanager
    def _granted(self, waiting: Sequence[ThreadId]) -> "Iterator[list[Head]]":
        """Grant more of the limits at which several threads of a tree wait; their heads, locked."""
        from uwf_core.engine.grants import grant_all

        engine = self.engine
        check_head(read_head(engine.store, self.root), self.options.head)
        amounts = parse_amounts(self.said.grants)
        with ExitStack() as locks:
            runs = [locks.enter_context(self._locked(each)) for each in waiting]
            heads = [run.head for run in runs if _is_limited(run.head)]
            if heads:  # else another person was faster
                grant_all(engine, heads, amounts)
            yield [read_head(engine.store, head.thread) for head in heads]

    @contextmanager
    def _told(self, thread: ThreadId) -> "Iterator[tuple[Run, Intent]]":
        """The run of a thread, locked, with its options, and what it gets; a grant is stored."""
        options = self._options_of(thread)
        with ExitStack() as stack:
            try:
                run = stack.enter_context(self._locked(thread))
            except BusyError:
                if self.said.answer is not None:
                    check_unanswered(self.engine, read_head(self.engine.store, thread))
                raise
            run = run._replace(options=options)
            intent, amounts = _intent(run, self.said, options)
            if _is_limited(run.head):
                from uwf_core.engine.grants import grant

                if not options.queue:
                    check_step(_as_granted(run), options, intent)
                run = run._replace(head=grant(self.engine, run.head, amounts))
            yield run, intent

    def _locked(self, thread: ThreadId) -> "AbstractContextManager[Run]":
        return locked_thread(self.engine, thread, self.watch, self.cancel)

    def _options_of(self, thread: ThreadId) -> RunOptions:
        """The options for the thread that waits below a root: with its own folder, and with the
        head that a person has seen, unless that is the root's.
        """
        engine, options = self.engine, self.options
        if thread == self.root:
            return options
        above, own = read_head(engine.store, self.root), read_head(engine.store, thread)
        folder = options.cwd
        if folder is not None:
            folder = moved_folder(own.state.cwd, above.state.cwd, named_folder(engine.cwd, folder))
        is_of_root = options.head == above.ref
        return options._replace(cwd=folder, head=None if is_of_root else options.head)


def _is_limited(head: "Head") -> bool:
    waits = head.state.suspension
    return waits is not None and waits.reason == "limit"


def _as_granted(run: "Run") -> "Run":
    state = run.head.state
    role = state.suspension.role if state.suspension else None
    state = state._replace(status="idle", current_role=role, suspension=None)
    return run._replace(head=run.head._replace(state=state))


def _saved(engine: "Engine", root: ThreadId, below: Outcome) -> Outcome:
    """The outcome of a thread below as that of its root. It is saved for `thread wait`, unless
    another process runs the root: then that process saves its own.
    """
    head = read_head(engine.store, root)
    head = head._replace(state=shown_state(engine.store, head.state))
    outcome = below._replace(document=exec_document(head, below.document["steps"]))
    if engine.durable:
        with suppress(BusyError, OSError), thread_lock(engine.store, root, engine.now_ms()):
            write_run(engine, root, outcome)
    return outcome


def _intent(run: "Run", said: Input, options: RunOptions) -> tuple[Intent, dict[str, float]]:
    """What a person said, checked, and the amounts of a grant."""
    engine, head = run.engine, run.head
    is_open = head.state.suspension is not None and head.state.suspension.reason == "role"
    if not is_open and (late := said.answer or said.text):
        check_in_time(engine, head, late, is_answer=said.answer is not None)
    if said.answer is not None:
        check_unanswered(engine, head)
        check_person(engine, head)
    check_head(head, options.head)
    check_resume(head.state, head.thread)
    waits = head.state.suspension
    amounts = parse_amounts(said.grants)
    if amounts and (waits is None or waits.reason != "limit"):
        raise WrongStateError(
            f"thread {head.thread} does not wait at a limit; there is nothing to grant",
            hint=f"next: uwf thread show {head.thread}",
        )
    form = RecordedThread(engine, head).form
    check_replied(head, form, said.text, said.answer, without_answer=said.without_answer)
    intent = Intent("resume", redacted(engine, said.text), _answer(engine, head, form, said.answer))
    if intent.answer is not None:
        assert form is not None
        _check_files(run, options, intent, form)
    return intent, amounts


def poke_thread(
    engine: "Engine", word: str, text: str, options: RunOptions, watch: Watch, cancel: "Cancel"
) -> Outcome:
    """Run the head step again with a further instruction; the new step replaces it.

    Raises:
        WrongStateError: there is no step yet, a question is pending, or the thread is not idle,
            completed or suspended by a role; or its newest step belongs to an earlier call, or is
            that of a fan-out.
        BusyError: another process runs it.
    """
    if not text.strip():
        raise UsageError("the instruction is blank", hint="describe it with -p TEXT")
    with locked_thread(engine, word, watch, cancel) as run:
        check_head(run.head, options.head)
        check_no_call(engine.store, run.head)
        check_entered(run.head)
        check_poke(run.head.state, run.head.thread)
        check_no_branches(read_step(engine.store, run.head.ref).payload, "poke")
        intent = Intent("poke", redacted(engine, text))
        return save_run(run, run_steps(run, options, intent))


def _answer(
    engine: "Engine", head: "Head", form: Mapping[str, Any] | None, given: str | None
) -> dict[str, Any] | None:
    """The answer, checked against the form."""
    suspension, thread = head.state.suspension, head.thread
    if given is None:
        return None
    if suspension is None or form is None:
        raise WrongStateError(
            f"thread {thread} has no pending question",
            hint=f"next: uwf thread resume {thread} -p TEXT",
        )
    answer = parse_fields(given, form, "--answer")
    check_answer(answer, form, suspension)
    cleaned: dict[str, Any] = engine.redactor.value(answer)
    return cleaned


def _check_files(run: "Run", options: RunOptions, intent: Intent, form: Mapping[str, Any]) -> None:
    """Check the files that an answer delivers, in the folder of its step."""
    suspension = run.head.state.suspension
    assert suspension is not None and intent.answer is not None
    if not has_file_fields(form) or not role_variants(form):
        return
    from uwf_core.engine.delivery import answer_problems

    folder = None if options.cwd is None else named_folder(run.engine.cwd, options.cwd)
    task = moderate(run._replace(cwd=folder), intent)
    _check_problems(answer_problems(run.engine, task.cwd, form, intent.answer), suspension)


def check_answer(
    answer: Mapping[str, Any], form: Mapping[str, Any], suspension: Suspension
) -> None:
    """Check an answer against the form.

    Raises:
        PayloadError: it does not satisfy the form, or every field is empty; the message lists every
            error.
    """
    if is_empty_answer(answer, form):
        raise PayloadError(
            f"the answer to {suspension.role} is empty",
            hint="fill in at least one field; `uwf thread show` prints the form",
        )

    found: Sequence[ExtractProblem | Violation]
    try:
        if role_variants(
            form
        ):  # unknown fields of an agent are dropped, those of a person rejected
            wrong = check_structured(form, answer).errors
            found = (*unknown_fields(form, answer), *wrong)
        else:
            found = [*undeclared_fields(form, answer, "the form"), *violations(form, answer)]
    except PayloadError as error:
        raise PayloadError(
            f"the form of {suspension.role} cannot be used: {error.message}",
            where=error.where,
            hint="`uwf thread poke` runs the role again",
        ) from error
    _check_problems(found, suspension)


def _check_problems(found: "Sequence[ExtractProblem | Violation]", suspension: Suspension) -> None:
    if found:
        words = "; ".join(map(problem_words, found))
        raise PayloadError(
            f"the answer does not satisfy the form of {suspension.role}: {words}",
            hint="`uwf thread show` prints the form",
        )
