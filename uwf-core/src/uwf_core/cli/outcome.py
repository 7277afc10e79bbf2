"""Show a run and its result: on stderr a live line for each running step on a terminal, plain lines
elsewhere; signals cancel it; its document on stdout.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import IO, TYPE_CHECKING, Any

from uwf_core.api.agent import usage_payload
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen, fit, is_terminal, screen_of
from uwf_core.cli.session import Session
from uwf_core.cli.shutdown import cancel_on_signals
from uwf_core.escape import clean, clean_document, one_line
from uwf_core.views.activity import Running

if TYPE_CHECKING:
    from uwf_core.engine.results import Outcome
    from uwf_core.process.cancel import Cancel

_CLEAR = "\r\x1b[2K"
_CLEAR_ABOVE = "\x1b[1A\x1b[2K"
_LEAST_ROOM = 3
"""Lines of a terminal that live lines leave free: the last ones of what stays."""
_REFRESH_SECONDS = 0.5
_NO_MODEL = ("program", "workflow")
"""What the steps of programs and calls record as their agents; neither gives signs of life."""


class LiveWatch:
    """Shows a run's events on `stream`; a `Watch` of the engine.

    Args:
        refresh: whether a line for each running step is redrawn in place; else lines only at the
            starts and ends of steps.
        write: prints a whole line (and a line end) on the same stream.
    """

    def __init__(
        self, stream: IO[str], screen: Screen, write: Callable[[str], None], *, refresh: bool
    ) -> None:
        self._stream = stream
        self._screen = screen
        self._write = write
        self._refresh = refresh
        self._running: dict[str, Running] = {}
        self._drawn = 0
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._ticker: threading.Thread | None = None

    def __enter__(self) -> "LiveWatch":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stop.set()
        with self._lock:
            self._running = {}
            self._draw()

    def event(self, event: object) -> None:
        """Show one of the events of a run."""
        show = _SHOW.get(type(event).__name__)
        if show is not None:
            with self._lock:
                show(self, event)

    def notice(self, text: str) -> None:
        """A line for people."""
        with self._lock:
            self._say(clean(text))

    def _say(self, text: str) -> None:
        """A line that stays, above the live ones."""
        if self._drawn:
            self._redraw([])
        self._write(text)
        self._draw()

    def _draw(self) -> None:
        """Draw a line for each running step, as many as the screen has room for."""
        now, width = monotonic(), max(self._screen.width - 1, 10)
        texts = [running_line(each, now) for each in self._running.values()]
        room = max(self._screen.height - _LEAST_ROOM, 1)
        if len(texts) > room:
            texts[room - 1 :] = [f"+ {len(texts) - room + 1} more"]
        self._redraw([self._screen.paint(fit(text, width), "running") for text in texts])

    def _redraw(self, lines: list[str]) -> None:
        if not self._refresh or self._stream.closed:
            return
        clear = _CLEAR + _CLEAR_ABOVE * (self._drawn - 1)
        self._drawn = len(lines)
        try:
            self._stream.write(clear + "\n".join(lines))
            self._stream.flush()
        except (OSError, ValueError):  # the terminal has gone; the run continues without it
            self._refresh = False

    def _tick(self) -> None:
        while not self._stop.wait(_REFRESH_SECONDS):
            with self._lock:
                if self._running:
                    self._draw()

    def _step_started(self, event: Any) -> None:
        now, agent = monotonic(), event.alias or event.agent
        seen = Running(step_number(event), event.attempt, event.role, agent, now, now)
        self._running[event.thread] = seen._replace(answers=event.answers)
        if not self._refresh:
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            again = ", a person's answer" if event.answers else again
            self._write(f"{step_name(event)}: {one_line(agent)}{again}")
        elif self._ticker is None:
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        self._draw()

    def _turn_taken(self, event: Any) -> None:
        running = self._running.get(event.thread)
        if running and self._refresh:
            self._running[event.thread] = running.after_turn(event.turn, monotonic())
            self._draw()

    def _step_finished(self, event: Any) -> None:
        running = self._running.get(event.thread)
        answers = running is not None and running.answers and event.usage.turns == 0
        self._end(event, finished_text(event, self._screen, is_answer=answers))

    def _step_failed(self, event: Any) -> None:
        self._end(event, failed_text(event, self._screen))

    def _step_asked(self, event: Any) -> None:
        """The end of the run shows the question. In a called thread, others may run until then."""
        if event.label:
            waits = self._screen.paint("waits for a person", "warning")
            self._end(event, f"{step_name(event)}: {waits}")
        else:
            self._running.pop(event.thread, None)
            self._draw()

    def _end(self, event: Any, text: str) -> None:
        self._running.pop(event.thread, None)
        self._say(text)


_SHOW: Mapping[str, Callable[[LiveWatch, Any], None]] = {
    "StepStarted": LiveWatch._step_started,
    "TurnTaken": LiveWatch._turn_taken,
    "StepFinished": LiveWatch._step_finished,
    "StepFailed": LiveWatch._step_failed,
    "StepAsked": LiveWatch._step_asked,
}


def running_line(step: Running, now: float) -> str:
    """`#3 reviewer · mock · 12s · waiting 4s for the model · 2 turns · 1.2k tokens · text`."""
    parts = [f"#{step.number} {one_line(step.role)}", one_line(step.agent)]
    if step.answers:
        parts.append("a person's answer")
    elif step.attempt > 1:
        parts.append(f"attempt {step.attempt}")
    parts += [_seconds(now - step.started), _doing(step, now)]
    if step.turns:
        parts.append(f"{step.turns} turn{'' if step.turns == 1 else 's'}")
    if step.tokens is not None:
        parts.append(f"{amounts.count(step.tokens)} tokens")
    if not step.activity.in_tool:
        parts.append(step.activity.said)
    return " · ".join(filter(None, parts))


def _doing(step: Running, now: float) -> str:
    """What it does since the last sign of life."""
    silent = now - step.heard
    since = _seconds(silent) if silent >= 1 else ""
    if step.activity.in_tool:
        return f"running {step.activity.said} {since}".rstrip()
    if not since or step.answers or step.agent in _NO_MODEL:
        return ""
    return f"waiting {since} for the {'model' if step.turns else 'agent'}"


def _seconds(seconds: float) -> str:
    """`12s`, `3m05s`."""
    return f"{seconds:.0f}s" if seconds < 59.5 else amounts.duration(round(seconds) * 1000)


def finished_text(event: Any, screen: Screen, *, is_answer: bool) -> str:
    """`#2 reviewer: again ↩ writer (8.1s, 1 turn) 7GQ8K1M2N4P5Q`, of a `StepFinished`."""
    used = "answered by a person"
    if not is_answer:
        used = amounts.duration(event.duration_ms)
        if event.usage.turns != 0:  # else a program or a called thread was the agent
            spent = amounts.usage(usage_payload(event.usage))
            used = ", ".join(filter(None, (used, spent)))
    denied = ", ".join(map(one_line, event.denials))
    more = f"; {screen.paint('denied:', 'warning')} {denied}" if denied else ""
    return f"{step_name(event)}: {_status(event, screen)} ({used}) {event.step}{more}"


def failed_text(event: Any, screen: Screen) -> str:
    """`#3 writer: ✗ rate_limited: too many requests`, of a `StepFailed`."""
    kind = screen.paint(one_line(event.kind), "error")
    return f"{step_name(event)}: ✗ {kind}: {clean(event.message)}"


def step_number(event: Any) -> str:
    """The step's number in the whole tree."""
    return one_line(event.label or str(event.number))


def step_name(event: Any) -> str:
    """`#2.3 worker`: the step's number in the whole tree, and its role."""
    return f"#{step_number(event)} {one_line(event.role)}"


def _status(event: Any, screen: Screen) -> str:
    """The role's status and where it leads. A word does not tell good from bad, the graph does: an
    edge back, or to a person, is amber. Nothing is green.
    """
    from uwf_core.workflow.definition import SUSPEND

    text = one_line(str(event.output.get("$status", "")))
    if event.leads_to is None:
        return text
    text += f" {'↩' if event.back else '→'} {one_line(event.leads_to)}"
    is_detour = event.back or event.leads_to == SUSPEND
    return screen.paint(text, "warning") if is_detour else text


def watch(session: Session) -> LiveWatch:
    """The display of a run on stderr."""
    screen = screen_of(session.stderr, session.env, session.color)
    refresh = is_terminal(session.stderr) and session.env.get("TERM") != "dumb"
    return LiveWatch(session.stderr, screen, session.write_error, refresh=refresh)


@contextmanager
def running(session: Session) -> "Iterator[tuple[LiveWatch, Cancel]]":
    """Show a run on stderr while it lasts; signals set its cancel token."""
    with cancel_on_signals(session) as cancel, watch(session) as live:
        yield live, cancel


def print_outcome(
    session: Session,
    outcome: "Outcome",
    *,
    until_done: bool = False,
    was_shown: bool = True,
    was_asked: bool = False,
) -> int:
    """Print the document of an outcome; return its exit code.

    Args:
        session: the call.
        outcome: the result of its run.
        until_done: the next command runs until the end as well.
        was_shown: the steps were shown live on stderr: if the text goes to the same place, it does
            not repeat them.
        was_asked: the question for which the thread waits was shown.

    Raises:
        UwfError: the error that stopped the run.
    """
    document = outcome.document
    session.thread = document["thread"]
    failure = _failure(document)
    if failure is not None:
        session.failure = (failure["kind"], failure["message"])
    thread = _thread(session, document, until_done) if session.format == "text" else {}
    if was_shown and session.is_one_stream:
        told = {**document, "suspendMessage": None} if was_asked else document
        session.emit(told, lambda shown, screen: end_text(shown, thread, screen))
    else:
        session.emit(document, lambda shown, screen: exec_text(shown, thread, screen))
    if outcome.error is not None:
        raise outcome.error
    return outcome.exit_code


def _failure(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The failure for which the thread waits; another branch may have ended later."""
    failures = [step["failure"] for step in document["steps"] if step["failure"]]
    message = document["suspendMessage"]
    return next((each for each in reversed(failures) if each["message"] == message), None)


def _thread(session: Session, document: Mapping[str, Any], until_done: bool) -> dict[str, Any]:
    """The thread after a run, whose commands run as far as this one."""
    from uwf_core.views.show import show_thread

    thread = document["thread"]
    shown: dict[str, Any] = clean_document(show_thread(session.engine, thread))
    if shown["result"] is not None:
        from uwf_core.cli.thread import remarks_in

        shown["remarks"] = remarks_in(session.engine, thread)
    if until_done and not shown["running"]:
        from uwf_core.views.show import until_done as far

        shown["next"] = far(shown["next"], thread)
    return shown


def exec_text(document: Mapping[str, Any], thread: Mapping[str, Any], screen: Screen) -> str:
    """The result of `exec`, `run`, `resume`, `poke` and `wait`, with its steps."""
    root = document["thread"]
    lines = list[str]()
    for step in document["steps"]:
        lines.append(step_line(step, screen, root))
        if not thread.get("result"):  # with which all notices of the thread are shown
            lines += [f"notice: {each}" for each in step["notices"]]
    return "\n".join([*lines, end_text(document, thread, screen)])


def end_text(document: Mapping[str, Any], thread: Mapping[str, Any], screen: Screen) -> str:
    """Where a run has led: the status, its role, the message unless it is that of the last step,
    and the commands of which each continues the thread; at the end of the thread its result.
    """
    why = f" {screen.reason(document['suspendReason'])}" if document["suspendReason"] else ""
    role = thread["suspendedRole"] or thread["currentRole"]
    who = f": {role}" if role else ""
    until = amounts.waiting(document)
    who += f" (waits for {until})" if until else ""
    lines = [f"{document['thread']} {screen.status(document['status'])}{why}{who}"]
    failure = _failure(document)
    if document["suspendMessage"] and failure is None:
        lines.append(document["suspendMessage"])
    if failure is not None and failure["kind"] == "unavailable":
        from uwf_core.views.show import asks_to_install  # where something may be missing

        if asks_to_install(failure["message"]):
            lines.append(screen.paint(_check_first(document), "dim"))
    if thread.get("result"):
        from uwf_core.cli.thread import closing_text

        lines.append(closing_text(thread, thread["remarks"], screen))
    for number, command in enumerate(thread["next"]):
        lines.append(screen.paint(f"{'  or:' if number else 'next:'} {command}", "dim"))
    return "\n".join(lines)


def _check_first(document: Mapping[str, Any]) -> str:
    """What to do before the next run of what could not be started."""
    from shlex import quote

    step = next(each for each in reversed(document["steps"]) if each["failure"])
    agent = step["alias"] or step["agent"]
    check = "" if agent == "program" else f", and check it: uwf agent check {quote(agent)}"
    return f"first: install what is missing{check}"


def step_line(step: Mapping[str, Any], screen: Screen, root: str) -> str:
    """One step of an exec: its id, role, agent and time, the thread if it is not that of the exec,
    and its failure.
    """
    failure = step["failure"]
    parts = [step["step"] or "–", step["role"] or "–", step["alias"] or step["agent"] or "–"]
    parts.append(took(step))
    if step["thread"] != root:
        parts.append(f"in {step['thread']}")
    if failure:
        until = failure["until"]
        when = "" if until is None else f" (until {amounts.moment(until)})"
        parts.append(screen.paint(f"{failure['kind']}: {failure['message']}{when}", "error"))
    return "  ".join(parts)


def took(step: Mapping[str, Any]) -> str:
    """How long a step took. A person answers outside of uwf, which knows no duration of that."""
    return "answered" if step["answered"] else amounts.duration(step["durationMs"])
