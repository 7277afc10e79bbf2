"""`uwf inbox`: what waits for a person, and `--answer`, which goes through it."""

from collections.abc import Mapping
from functools import partial
from textwrap import indent
from typing import TYPE_CHECKING, Any

from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen, fit
from uwf_core.cli.session import Session, now_ms
from uwf_core.errors import BusyError, ExitCode, PayloadError, UsageError, UwfError, WrongStateError
from uwf_core.views.inbox import inbox as waiting
from uwf_core.views.inbox import waiting_in

if TYPE_CHECKING:
    from uwf_core.views.inbox import InboxItem

_WORDS = {
    "question": "asks",
    "message": "asks",
    "failure": "failed",
    "limit": "reached a limit",
    "interrupted": "was interrupted",
    "worker": "waits for a worker",
}


def inbox(session: Session, answer: bool) -> int:
    """Show what waits for a person, or answer it."""
    items = waiting(session.engine)
    if answer:
        return _answer_all(session, items)
    session.emit({"items": items}, partial(inbox_text, now=now_ms()))
    return ExitCode.DONE


def inbox_text(document: Mapping[str, Any], screen: Screen, now: int) -> str:
    """A paragraph for each thread that waits."""
    items = document["items"]
    if not items:
        return "nothing waits for you"
    return "\n\n".join("\n".join(_lines(each, screen, now)) for each in items)


def _lines(item: Mapping[str, Any], screen: Screen, now: int) -> list[str]:
    style = "error" if item["kind"] == "failure" else "warning"
    what = screen.paint(f"{item['role']} {_WORDS[item['kind']]}", style)
    kind = f" ({item['failure']})" if item["failure"] else ""
    lines = [
        f"{item['root']} {item['workflowName']}: {what}{kind}, "
        f"{amounts.ago(item['sinceMs'], now)} ago".replace("now ago", "now"),
        screen.paint(fit(f"  task: {item['task']}", screen.width), "dim"),
        indent(item["message"], "  "),
    ]
    if item["until"] is not None:
        lines.append(f"  not before {amounts.moment(item['until'])}")
    if item["deadline"] is not None:
        passed = "time is up: " if item["deadline"] <= now else ""
        lines.append(f"  {passed}answer before {amounts.moment(item['deadline'])}")
    for number, line in enumerate(item["commands"]):
        lines.append(screen.paint(f"{'    or:' if number else '  next:'} {line}", "dim"))
    return lines


def _answer_all(session: Session, items: "list[InboxItem]") -> int:
    from uwf_core.cli.form import can_ask

    if not can_ask(session):
        raise UsageError(
            "--answer needs a terminal",
            hint="`uwf inbox` prints the command that answers each question",
        )
    left = 0
    for number, item in enumerate(items, 1):
        session.note(f"\n{number} of {len(items)}: {item['task']}")
        left += not answered(session, item)
    if left or not items:
        session.note(f"\nleft: {left}" if left else "nothing waits for you")
    return ExitCode.SUSPENDED if left else ExitCode.DONE


def answered(session: Session, item: "InboxItem") -> bool:
    """Whether a thread continues now, in the background."""
    from uwf_core.cli.form import ask_person, confirmed

    while True:
        texts: dict[str, str | None] = {}
        if item["kind"] in ("question", "message"):
            said = ask_person(session, item)
            if said is None:
                return False
            texts = {"--prompt": said.text, "--answer": said.answer}
        elif not confirmed(session, item, _WORDS[item["kind"]]):
            return False
        try:
            _continue(session, item, texts)
        except UwfError as error:
            session.note(f"{error.message}\n")
            if error.code != PayloadError.code:
                if error.exit_code not in (BusyError.exit_code, WrongStateError.exit_code):
                    raise
                return True  # another person was faster
        else:
            return True


def _continue(session: Session, item: "InboxItem", texts: Mapping[str, str | None]) -> None:
    from uwf_core.engine.context import RunOptions
    from uwf_core.threads.background import run_in_background

    is_alone = len(waiting_in(session.engine, item["root"])) == 1
    thread = item["root"] if is_alone else item["thread"]
    options = RunOptions(until_done=True)
    if item["kind"] in ("failure", "interrupted", "worker"):
        run_in_background(session.engine, "exec", thread, options)
    else:
        seen = options._replace(head=item["head"])
        run_in_background(session.engine, "resume", thread, seen, texts)
    session.note(f"continues in the background; next: uwf watch {item['root']}")
