"""`resume` and `poke`: run a thread again with a text or an answer of a person."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from uwf_core.cas.schemas import Violation, violations
from uwf_core.engine.nodes import save_event
from uwf_core.engine.plan import Intent
from uwf_core.engine.results import Outcome
from uwf_core.engine.run import RunOptions, check_step, locked_thread, run_steps
from uwf_core.engine.watch import Watch
from uwf_core.errors import DefinitionError, PayloadError, UsageError, WrongStateError
from uwf_core.named_tuple import NamedTuple
from uwf_core.thread.lifecycle import check_poke, check_resume
from uwf_core.thread.state import Suspension
from uwf_core.thread.types import runs
from uwf_core.views.show import form_of
from uwf_core.workflow.variants import STATUS

if TYPE_CHECKING:
    from uwf_core.api.extract import ExtractProblem
    from uwf_core.engine.engine import Engine
    from uwf_core.process.cancel import Cancel
    from uwf_core.thread.head import Head
    from uwf_core.workflow.variants import Variant


class Input(NamedTuple):
    """What a person adds: a text, or an answer to the pending question (JSON, or `field=value`
    per line).
    """

    text: str | None = None
    answer: str | None = None


def resume_thread(
    engine: "Engine", word: str, said: Input, options: RunOptions, watch: Watch, cancel: "Cancel"
) -> Outcome:
    """Run a suspended or completed thread again, with what a person said.

    Raises:
        WrongStateError: it is idle or cancelled; an answer without a pending question, or no
            answer to one.
        PayloadError: the answer does not satisfy the form; nothing has changed.
        BusyError: another process runs it.
    """
    with locked_thread(engine, word, watch, cancel) as run:
        head = run.head
        check_resume(head.state, head.thread)
        intent = Intent("resume", _clean(engine, said.text), _answer(engine, head, said.answer))
        waits = head.state.suspension
        if waits is not None and waits.reason == "limit":
            state = head.state._replace(status="idle", current_role=waits.role, suspension=None)
            check_step(run._replace(head=head._replace(state=state)), options, intent)
            run = run._replace(head=_grant(engine, head))
        return run.save(run_steps(run, options, intent))


def poke_thread(
    engine: "Engine", word: str, text: str, options: RunOptions, watch: Watch, cancel: "Cancel"
) -> Outcome:
    """Run the head step again with a further instruction; the new step replaces it.

    Raises:
        WrongStateError: there is no step yet, a question is pending, or the thread is not idle,
            completed or suspended by a role.
        BusyError: another process runs it.
    """
    if not text.strip():
        raise UsageError("the instruction is blank", hint="describe it with -p TEXT")
    with locked_thread(engine, word, watch, cancel) as run:
        check_poke(run.head.state, run.head.thread)
        intent = Intent("poke", _clean(engine, text))
        return run.save(run_steps(run, options, intent))


def _clean(engine: "Engine", text: str | None) -> str | None:
    return None if text is None else engine.redactor.text(text)


def _grant(engine: "Engine", head: "Head") -> "Head":
    """Store that the same allowance is granted once more."""
    waiting = head.state.suspension
    with engine.store.transaction():
        return save_event(engine, head, "granted", next=runs(waiting.role if waiting else ""))


def _answer(engine: "Engine", head: "Head", given: str | None) -> dict[str, Any] | None:
    """The answer, checked against the form; a pending question requires one."""
    suspension, thread = head.state.suspension, head.thread
    form = form_of(engine, head, suspension)
    if given is None:
        if suspension is not None and suspension.question is not None:
            raise WrongStateError(
                f"thread {thread} expects --answer; -p alone is not an answer",
                hint=f"`uwf thread show {thread}` prints the form; "
                f"next: uwf thread resume {thread} --answer field=value",
            )
        return None
    if suspension is None or form is None:
        raise WrongStateError(
            f"thread {thread} has no pending question",
            hint=f"next: uwf thread resume {thread} -p TEXT",
        )
    answer = parse_answer(given, form)
    check_answer(answer, form, suspension)
    cleaned: dict[str, Any] = engine.redactor.value(answer)
    return cleaned


_WRITE = "write field=value, a JSON object, or @file with one of these"


def parse_answer(text: str, form: Mapping[str, Any]) -> dict[str, Any]:
    """Parse an answer from the command line: a JSON object, or lines of `field=value`.

    A value is JSON if it can be and the form does not require text, else text.

    Raises:
        PayloadError: it is neither.
    """
    stripped = text.strip()
    if stripped.startswith("{"):
        return _json_answer(stripped)
    answer: dict[str, Any] = {}
    for line in filter(str.strip, text.splitlines()):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise PayloadError(
                f"{line!r} is not an answer",
                hint=_WRITE,
            )
        field = _field(name.strip(), form)
        answer[field] = _value(value, field, form)
    if not answer:
        raise PayloadError("the answer is empty", hint=_WRITE)
    return answer


def _json_answer(text: str) -> dict[str, Any]:
    try:
        answer = json.loads(text)
    except ValueError as error:
        raise PayloadError(f"the answer is not JSON: {error}", hint=_WRITE) from error
    if not isinstance(answer, dict):
        raise PayloadError("the answer is not a JSON object", hint=_WRITE)
    return answer


def _field(name: str, form: Mapping[str, Any]) -> str:
    """The name of the field; `status` is short for `$status` if the form has no field `status`."""
    if name == "status" and _variants(form) and not any(name in each for each in _shapes(form)):
        return STATUS
    return name


def _value(text: str, name: str, form: Mapping[str, Any]) -> Any:
    """The text if the form allows only text or if it is not JSON, else the JSON value."""
    declared = [shape.get(name, {}) for shape in _shapes(form)]
    if declared and all(each.get("type") == "string" or "const" in each for each in declared):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


def _shapes(form: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The properties of each variant of an answer."""
    variants = _variants(form)
    if variants:
        return [variant.properties for variant in variants]
    return [form.get("properties", {})]


def _variants(form: Mapping[str, Any]) -> "list[Variant]":
    """The variants of a form that is a role's schema; none for any other schema."""
    from uwf_core.workflow.variants import variants

    try:
        return variants(form)
    except DefinitionError:
        return []


def check_answer(
    answer: Mapping[str, Any], form: Mapping[str, Any], suspension: Suspension
) -> None:
    """Check an answer against the form.

    Raises:
        PayloadError: it does not satisfy the form; the message lists every error.
    """
    from uwf_core.extract.typed import check_structured, unknown_fields

    found: Sequence[ExtractProblem | Violation]
    try:
        if _variants(form):  # unknown fields of an agent are dropped, those of a person rejected
            found = check_structured(form, answer).errors or unknown_fields(form, answer)
        else:
            found = violations(form, answer)
    except PayloadError as error:
        raise PayloadError(
            f"the form of {suspension.role} cannot be used: {error.message}",
            where=error.where,
            hint="`uwf thread poke` runs the role again",
        ) from error
    if found:
        words = "; ".join(f"{each.path}: {each.message}".removeprefix(": ") for each in found)
        raise PayloadError(
            f"the answer does not satisfy the form of {suspension.role}: {words}",
            hint="`uwf thread show` prints the form",
        )
