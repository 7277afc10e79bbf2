"""Shows the progress of a run on stderr: one live line on a terminal, plain lines elsewhere."""

import time
from collections import Counter
from collections.abc import Sequence

from uwf_core.api import NO_USAGE
from uwf_core.commands import Session, clean, duration, is_terminal, screen_of
from uwf_eval.records import Run, Trial
from uwf_eval.report.numbers import cost_of

_WORDS = (
    ("passed", "passed"),
    ("scored", "below pass"),
    ("failed", "failed"),
    ("infra_error", "infra error"),
    ("tampered", "tampered"),
    ("not_run", "interrupted"),
)
_STYLES = {"passed": "ok", "failed": "error", "infra_error": "warning", "tampered": "error"}
_EVERY_SECONDS = 0.1


class Progress:
    """The progress display. As a context manager it removes the live line on exit."""

    def __init__(self, session: Session, run: Run, trials: Sequence[Trial]) -> None:
        self._session = session
        self._screen = screen_of(session.stderr, session.env, session.color)
        self._live = is_terminal(session.stderr) and session.env.get("TERM") != "dumb"
        self._total = run.trials
        self._cells = {each.number: each.cell for each in trials}
        self._counts: Counter[str] = Counter()
        self._before = sum(each.state not in ("not_run", "infra_error") for each in trials)
        self._used = NO_USAGE
        self._began = time.monotonic()
        self._drawn_at = 0.0
        self._running: Sequence[int] = ()
        self._is_drawn = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_error: object) -> None:
        self._wipe()

    def stored(self, trial: Trial) -> None:
        """A trial has ended and is stored."""
        kind = "passed" if trial.passed else str(trial.state)
        self._counts[kind] += 1
        self._used = self._used.plus(trial.spent)
        done = self._before + sum(self._counts.values())
        self._say(f"[{done}/{self._total}] {self._name(trial.number)}: {self._words(kind, trial)}")
        self._draw(force=True)

    def tick(self, running: Sequence[int]) -> None:
        """These trials are running."""
        self._running = running
        self._draw(force=False)

    def notice(self, text: str) -> None:
        """A line for the user."""
        self._say(f"note: {text}")

    def _name(self, number: int) -> str:
        cell = self._cells[number]
        parts = [f"#{number} {cell.task}"]
        parts += [f"/{cell.case}"] if cell.case else []
        said = [each for each in (cell.workflow_name, cell.agent, cell.model) if each]
        return "".join(parts) + f" ({', '.join(said)}; repeat {cell.repeat})"

    def _words(self, kind: str, trial: Trial) -> str:
        word = self._screen.paint(dict(_WORDS).get(kind, kind), _STYLES.get(kind, ""))
        score = "" if trial.score is None else f" {trial.score:.2f}"
        why = "" if trial.failure is None else f": {trial.failure.kind}: {trial.failure.message}"
        first = why.splitlines()[0][:200] if why else ""
        return f"{word}{score} in {duration(trial.duration_ms)}{clean(first)}"

    def _say(self, text: str) -> None:
        self._wipe()
        self._session.write_error(text)

    def _draw(self, *, force: bool) -> None:
        now = time.monotonic()
        if not self._live or (not force and now - self._drawn_at < _EVERY_SECONDS):
            return
        self._drawn_at = now
        done = self._before + sum(self._counts.values())
        parts = [f"{done} of {self._total}"]
        parts += [f"{self._counts[key]} {word}" for key, word in _WORDS if self._counts[key]]
        parts += [f"{len(self._running)} running"] if self._running else []
        parts += [cost_of(self._used)] if self._used.cost_usd else []
        parts.append(duration(round(1000 * (now - self._began))))
        text = " · ".join(parts)[: max(self._screen.width - 1, 10)]
        self._session.stderr.write(f"\r\x1b[2K{self._screen.paint(text, 'dim')}")
        self._session.stderr.flush()
        self._is_drawn = True

    def _wipe(self) -> None:
        if self._is_drawn:
            self._session.stderr.write("\r\x1b[2K")
            self._session.stderr.flush()
            self._is_drawn = False
