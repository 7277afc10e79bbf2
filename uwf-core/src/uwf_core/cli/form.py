"""Ask a person on the terminal: a question, and a form made from its schema."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from uwf_core.cli.outcome import print_outcome, running
from uwf_core.cli.render.colours import is_terminal, screen_of
from uwf_core.cli.session import Session
from uwf_core.engine.run import exec_thread
from uwf_core.errors import PayloadError, UwfError
from uwf_core.escape import clean, one_line
from uwf_core.process.folders import is_utf8
from uwf_core.thread.lifecycle import Input
from uwf_core.threads.resume import resume_thread
from uwf_core.views.form import answer_of, choice_text, form_of, is_empty_answer
from uwf_core.views.inbox import waiting_in

if TYPE_CHECKING:
    from uwf_core.engine.context import RunOptions
    from uwf_core.engine.results import Outcome
    from uwf_core.views.form import FormField, FormVariant
    from uwf_core.views.inbox import InboxItem


Answer = TypeVar("Answer")
_LEAVES = "Enter leaves it pending"
_EDIT = "e"
"""What is typed to open the editor."""
_MOST_BYTES = 4095
"""A terminal of Linux passes on no more of a line and drops the rest; macOS takes even less."""
_TRUTH = {"y": "true", "yes": "true", "true": "true", "n": "false", "no": "false", "false": "false"}


class _LeftPending(Exception):
    """The person answers later."""


def can_ask(session: Session) -> bool:
    """Whether a person sees what uwf prints, and can type."""
    streams = (sys.stdin, session.stdout, session.stderr)
    return session.format == "text" and all(map(is_terminal, streams))


def ask_person(session: Session, item: "InboxItem") -> "Input | None":
    """Show a question and read the answer; None if the person leaves it pending: with an empty
    line, Ctrl-C, or the end of the input.
    """

    def read() -> Input:
        if item["form"] is None:
            prompt = f"your answer ({_LEAVES}; {_EDIT}: editor)"
            return Input(text=_written(session, prompt, is_needed=True))
        return Input(answer=json.dumps(_filled_in(session, item["form"])))

    return _asked(session, item, "asks", read)


def confirmed(session: Session, item: "InboxItem", what: str) -> bool:
    """Whether the person wants a thread to continue that waits for a decision alone."""
    question = f"{_continuation(item)} (y or n)"
    return _asked(session, item, what, lambda: _yes(session, question)) or False


def _asked(
    session: Session, item: "InboxItem", what: str, read: Callable[[], Answer]
) -> Answer | None:
    """Show an item, and read what the person decides; None if it is left pending."""
    screen = screen_of(session.stderr, session.env, session.color)
    head = f"{one_line(item['role'])} {what} in thread {item['thread']}:"
    session.write_error(screen.paint(head, "error" if item["kind"] == "failure" else "warning"))
    session.note(clean(item["message"]))
    try:
        return read()
    except _LeftPending:
        return None
    except KeyboardInterrupt:
        session.interrupted = False
        session.note("")
        return None


def _yes(session: Session, question: str) -> bool:
    """Whether the person says yes; an empty line is a no, and another word is asked for again."""
    while (given := _line(session, question).lower()) and given not in _TRUTH:
        session.note(f"{given!r} is neither y nor n")
    return _TRUTH.get(given) == "true"


def _continuation(item: "InboxItem") -> str:
    """What a yes does, as a question."""
    if item["kind"] in ("failure", "interrupted"):
        return f"run {one_line(item['role'])} again?"
    return "grant the same allowance again?" if item["kind"] == "limit" else "continue?"


def _filled_in(session: Session, schema: Mapping[str, Any]) -> dict[str, Any]:
    variants = form_of(schema)["variants"]
    chosen = variants[0]
    if chosen["status"] is not None:
        chosen = variants[_chosen(session, [_way(each) for each in variants], "answer")]
    texts = {each["name"]: _entered(session, each) for each in chosen["fields"]}
    answer = answer_of(schema, chosen["status"], texts)
    if is_empty_answer(answer, schema):
        raise _LeftPending
    return answer


def _way(variant: "FormVariant") -> tuple[str, str]:
    """A status, and the names of its fields."""
    return str(variant["status"]), ", ".join(each["name"] for each in variant["fields"])


def _chosen(session: Session, choices: Sequence[tuple[str, str]], what: str) -> int:
    """The index of a choice, given by number or name."""
    names = [name for name, _ in choices]
    for number, (name, more) in enumerate(choices, 1):
        session.note(f"  {number}  {one_line(name)}" + (f"  ({one_line(more)})" if more else ""))
    while True:
        given = _line(session, f"{what} (number or name; {_LEAVES})")
        if not given:
            raise _LeftPending
        if given in names:
            return names.index(given)
        if given.isdecimal() and 0 < int(given) <= len(names):
            return int(given) - 1
        session.note(f"{given!r} is not one of these")


def _entered(session: Session, field: "FormField") -> list[str]:
    """The texts of a field; none if it is optional and left out."""
    if field["description"]:
        session.note(clean(field["description"]))
    facts = [field["facts"], "required" if field["required"] else "optional, Enter skips it"]
    label = f"{one_line(field['label'] or 'answer')} ({', '.join(facts)}"
    match field["kind"]:
        case "choice":
            return _one_of(session, field, label)
        case "choices":
            return _some_of(session, field, label)
        case "text" | "list" | "json":
            prompt, default = f"{label}; {_EDIT}: editor)", str(field["default"] or "")
            return [_written(session, prompt, default, is_needed=field["required"])]
    given = _needed(_line(session, f"{label})"), field["required"])
    return [_TRUTH.get(given.lower(), given) if field["kind"] == "boolean" else given]


def _one_of(session: Session, field: "FormField", label: str) -> list[str]:
    names = [choice_text(each) for each in field["choices"] or ()]
    try:
        return [names[_chosen(session, [(name, "") for name in names], f"{label})")]]
    except _LeftPending:
        if field["required"]:
            raise
        return []


def _some_of(session: Session, field: "FormField", label: str) -> list[str]:
    names = [choice_text(each) for each in field["choices"] or ()]
    for number, name in enumerate(names, 1):
        session.note(f"  {number}  {one_line(name)}")
    words = _line(session, f"{label}; numbers or names, with commas)")
    given = [each.strip() for each in _needed(words, field["required"]).split(",") if each.strip()]
    return [
        names[int(each) - 1] if each.isdecimal() and 0 < int(each) <= len(names) else each
        for each in given
    ]


def _written(session: Session, prompt: str, default: str = "", *, is_needed: bool) -> str:
    """A text, written on the line or in the editor."""
    text = _line(session, prompt)
    return _needed(_edited(session, default) if text == _EDIT else text, is_needed)


def _needed(text: str, is_needed: bool) -> str:
    if is_needed and not text.strip():
        raise _LeftPending
    return text


def _line(session: Session, prompt: str) -> str:
    """A line of the person, without its end and outer blanks; asked for again if the terminal has
    not passed on what the person wrote.
    """
    while True:
        session.stderr.write(f"{clean(prompt)}: ")
        session.stderr.flush()
        line = sys.stdin.readline()
        if not line:  # the end of the input
            session.note("")
            raise _LeftPending
        problem = _changed_by_terminal(line)
        if problem is None:
            return line.strip()
        session.note(f"{problem}; write it in the editor ({_EDIT}), or use --answer @file")


def _changed_by_terminal(line: str) -> str | None:
    """What is wrong with a line; None if it is as the person wrote it."""
    if len(line.encode("utf-8", "surrogateescape")) >= _MOST_BYTES:
        return f"the terminal cuts a line after {_MOST_BYTES} bytes"
    if "\0" in line or not is_utf8(line):
        return "the line is not UTF-8 text"
    return None


def _edited(session: Session, text: str) -> str:
    """What the person wrote in the editor (VISUAL, EDITOR, or one that is installed)."""
    import click

    try:
        return click.edit(text, extension=".md", require_save=False) or ""
    except click.ClickException as error:
        session.note(f"the editor failed: {error.message}")
        return ""


def answered_here(
    session: Session, outcome: "Outcome", options: "RunOptions"
) -> "tuple[Outcome, bool]":
    """The outcome after the person at this terminal has answered what the run asks, and whether a
    question was shown and left pending. Without a terminal it is the outcome of the run.
    """
    if outcome.document["suspendReason"] != "role":
        return outcome, False
    thread = outcome.document["thread"]
    while can_ask(session) and outcome.document["suspendReason"] == "role":
        items = [each for each in waiting_in(session.engine, thread) if each["kind"] in _ASKS]
        if not items:
            break
        said = ask_person(session, items[0])
        if said is None:
            return outcome, True
        try:
            outcome = _continued(session, outcome, options, items, said)
        except PayloadError as error:  # nothing has changed
            session.note(f"{error.message}\n")
        except UwfError as error:  # such as: another person was faster
            return outcome._replace(exit_code=error.exit_code, error=error), True
    return outcome, False


_ASKS = ("question", "message")


def _continued(
    session: Session,
    before: "Outcome",
    options: "RunOptions",
    items: "list[InboxItem]",
    said: "Input",
) -> "Outcome":
    """The outcome of the thread after an answer; of several branches that wait, to the first."""
    engine, root, item = session.engine, before.document["thread"], items[0]
    own = options._replace(head=item["head"], earlier=(), announce=None)
    with running(session) as (live, cancel):
        if len(items) == 1:
            after = resume_thread(engine, root, said, own, live, cancel)
        else:
            below = resume_thread(engine, item["thread"], said, own, live, cancel)
            go_on = own._replace(head=None, earlier=below.document["steps"])
            after = exec_thread(engine, root, go_on, live, cancel)
    after.document["steps"][:0] = before.document["steps"]
    return after


def print_and_ask(session: Session, outcome: "Outcome", options: "RunOptions") -> int:
    """Ask the person at the terminal what the run asks, then print the outcome; the exit code."""
    was_asked = False
    if outcome.error is None:
        outcome, was_asked = answered_here(session, outcome, options)
    until_done = options.until_done
    return print_outcome(session, outcome, until_done=until_done, was_asked=was_asked)
