"""What `uwf watch` prints: lines of JSON, lines of text, and what a live screen shows of a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from uwf_core.api.agent import usage_payload
from uwf_core.api.events import StepFailed, StepFinished
from uwf_core.cli.outcome import failed_text, finished_text, running_line
from uwf_core.cli.render import amounts
from uwf_core.cli.render.colours import Screen, fit
from uwf_core.cli.render.turns import GrowingTurns
from uwf_core.cli.session import Session, now_ms
from uwf_core.engine.results import Outcome
from uwf_core.escape import clean, clean_document, one_line
from uwf_core.thread.lifecycle import status_fields

if TYPE_CHECKING:
    from uwf_core.views.following import Look, TurnSeen


class PlainLines:
    """Shows looks at threads as lines of text that stay: steps, and the finished lines of turns.
    `was_asked`: a question was shown that is still pending.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.was_asked = False
        self._turns: dict[str, GrowingTurns] = {}
        self._named: set[str] = set()

    def show(self, looks: "Mapping[str, Look]") -> None:
        """Print what is new, each thread under its name."""
        for root, look in looks.items():
            lines = [line for event in look.events for line in self._lines(event)]
            if root not in self._named:
                self._named.add(root)
                earlier = f", {look.skipped} earlier steps" if look.skipped else ""
                lines.insert(0, f"thread {root} {look.state.workflow_name}{earlier}")
            if lines:
                self.write("\n".join(lines))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def answer(self, thread: str) -> bool:
        """Let the person answer what a thread asks; whether it continues now."""
        return False

    def stop(self) -> None:
        """Leave the terminal as it was."""

    def left(self, thread: str, look: "Look") -> None:
        """Print how the run of one of several threads ended."""
        state, screen = look.state, self.session.screen
        text = f"thread {thread} {screen.status(state.status)}"
        if state.suspension is not None:
            text += f" ({state.suspension.reason}): {clean(state.suspension.message)}"
            text += f"\nnext: uwf watch {thread}"
        self.write(text)
        self._named.discard(thread)

    def write(self, text: str) -> None:
        """Print lines that stay."""
        self.session.write(text)

    def _lines(self, event: Any) -> list[str]:
        screen = self.session.screen
        if isinstance(event, StepFinished):
            is_answer = event.usage.turns == 0 and event.agent == "human"
            return [*self._rest(event.thread), finished_text(event, screen, is_answer=is_answer)]
        if isinstance(event, StepFailed):
            return [*self._rest(event.thread), failed_text(event, screen)]
        return self._turn_lines(event)

    def _turn_lines(self, event: "TurnSeen") -> list[str]:
        turns = self._turns.setdefault(event.thread, GrowingTurns(self.session.screen))
        document = clean_document({**event.turn, "number": event.label or event.turn["number"]})
        lines = turns.add(document)
        return [line.rstrip("\n") for line in (*lines, *(turns.end() if event.is_finished else ()))]

    def _rest(self, thread: str) -> list[str]:
        turns = self._turns.get(thread)
        return [] if turns is None else [line.rstrip("\n") for line in turns.end()]


class JsonLines(PlainLines):
    """A line of JSON for each step, each finished turn and each change of a status."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._status: dict[str, Any] = {}

    def show(self, looks: "Mapping[str, Look]") -> None:
        """Print what is new."""
        for root, look in looks.items():
            for event in look.events:
                document = _event_document(event)
                if document is not None:
                    self._write({**document, "root": root})
            status = {**status_fields(look.state), "steps": look.state.steps, "usage": look.usage}
            if self._status.get(root) != status:
                self._status[root] = status
                self._write({"event": "status", "root": root, "thread": root, **status})

    def left(self, thread: str, look: "Look") -> None:
        """Print nothing more: the status was printed."""

    def end(self, outcome: Outcome) -> None:
        """Print the document of the run."""
        document = {**outcome.document, "exitCode": outcome.exit_code}
        self._write({"event": "end", "root": document["thread"], **document})

    def _write(self, document: Mapping[str, Any]) -> None:
        self.session.emit_line(document, lambda *_: "")


def _event_document(event: Any) -> dict[str, Any] | None:
    if isinstance(event, StepFinished):
        return {
            "event": "step", "thread": event.thread, "label": event.label or str(event.number),
            "number": event.number, "step": event.step, "role": event.role, "agent": event.agent,
            "status": event.output.get("$status"), "leadsTo": event.leads_to, "back": event.back,
            "durationMs": event.duration_ms, "usage": usage_payload(event.usage), "failure": None,
        }  # fmt: skip
    if isinstance(event, StepFailed):
        return {
            "event": "step", "thread": event.thread, "label": event.label or str(event.number),
            "number": event.number, "step": event.step, "role": event.role, "agent": event.agent,
            "status": None, "leadsTo": None, "back": False, "durationMs": None, "usage": None,
            "failure": {"kind": event.kind, "message": event.message},
        }  # fmt: skip
    if event.is_finished:
        return {"event": "turn", "thread": event.thread, "label": event.label, **event.turn}
    return None


# -- a live screen ---------------------------------------------------------------------------------

_LEAST_ROOM = 4
"""Lines of a terminal that the live part leaves free."""


_WIDE = 80
_PREFIX = 12
"""So much of a thread's id is shown on a narrower screen."""


def live_lines(looks: "Mapping[str, Look]", now: int, screen: Screen) -> list[str]:
    """How some threads are now: a line for each thread and each of its steps under way, at most as
    many as the screen has room for.
    """
    lines: list[str] = []
    for root, look in looks.items():
        name = root if screen.width >= _WIDE else root[:_PREFIX]
        lines.append(screen.paint(fit(_thread_line(name, look, now), screen.width), "bold"))
        lines += [
            screen.paint(fit(f"  {text}", screen.width), "running")
            for text in (
                *map(_branches_line, look.branches),
                *(running_line(each, now / 1000) for each in look.attempts),
            )
        ]
    room = max(screen.height - _LEAST_ROOM, 2)
    if len(lines) > room:
        lines[room - 1 :] = [f"+ {len(lines) - room + 1} more"]
    return lines


def _thread_line(root: str, look: "Look", now: int) -> str:
    """`01JD… fix-bug > review · running · $0.02 · 3 steps · 12.3k in, 1.1k out · 5m`."""
    tokens: dict[str, Any] = {**look.usage, "turns": None, "costUsd": None}
    cost = {**dict.fromkeys(tokens), "atLeast": look.usage["atLeast"]}
    parts = [
        f"{root} {' > '.join(map(one_line, look.stack)) or one_line(look.state.workflow_name)}",
        look.state.status,
        amounts.usage({**cost, "costUsd": look.usage["costUsd"]}),
        f"{look.state.steps} step{'' if look.state.steps == 1 else 's'}",
        amounts.usage(tokens),
        amounts.ago(look.state.started_ms, now).replace("now", ""),
    ]
    return " · ".join(filter(None, parts))


def _branches_line(branches: Any) -> str:
    counts = ", ".join(f"{count} {status}" for status, count in sorted(branches.counts.items()))
    return f"branches of {one_line(branches.role)}: {counts}"


def live_now(looks: "Mapping[str, Look]", screen: Screen) -> list[str]:
    """`live_lines` at this moment."""
    return live_lines(looks, now_ms(), screen)
