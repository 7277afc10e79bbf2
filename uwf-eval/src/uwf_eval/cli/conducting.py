"""What `run` and `resume` share: a client, workers, a display, and the end's document."""

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from uwf_core.client import Client
from uwf_core.commands import Screen, Session, cancel_on_signals, clean, fields, working_folder
from uwf_core.errors import UsageError
from uwf_eval.judges.launcher import hide
from uwf_eval.plan.budget import read_budget
from uwf_eval.records import Budget
from uwf_eval.run.pool import ProcessPool
from uwf_eval.run.prepare import Prepared, Request
from uwf_eval.run.process import Worker
from uwf_eval.run.progress import Progress
from uwf_eval.run.start import Done, Hands
from uwf_eval.trial.space import places

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}\Z")


def budget_of(text: str | None) -> Budget:
    """The budget that `--budget` says; none is no limit.

    Raises:
        UsageError: it says none.
    """
    if text is None:
        return Budget()
    try:
        return read_budget(text)
    except ValueError as error:
        raise UsageError(
            str(error),
            where="--budget",
            hint="separate parts by commas: $2.50, 90m, 2h, 500ktok, 2Mtok, 20trials",
        ) from error


def run_name(text: str) -> str:
    """The name that `--name` says.

    Raises:
        UsageError: it is none.
    """
    if text and not _NAME.match(text):
        raise UsageError(
            f"{text!r} is not a valid run name",
            where="--name",
            hint="use a letter, then letters, digits, `.`, `_` and `-`; at most 64 characters",
        )
    return text


def request_of(tasks: Sequence[str], **options: Any) -> Request:
    """What `run` is asked for.

    Raises:
        UsageError: a budget or a name that is none.
    """
    asked = {**options, "budget": budget_of(options["budget"]), "name": run_name(options["name"])}
    return Request(tasks=tasks, command=_command_words(), cwd=Path(working_folder()), **asked)


def _command_words() -> list[str]:
    """What was typed after `uwf-eval`, or after `uwf eval`."""
    words = sys.argv[1:]
    if click.get_current_context().find_root().info_name == "uwf":
        words.remove("eval")
    return words


def conduct(
    session: Session,
    jobs: int,
    worker: Worker,
    go: Callable[[Client, Hands], Done],
    *,
    keep: bool,
) -> int:
    """Run trials, print what became of them, and give the exit code."""
    hide()  # as its workers do
    with (
        Client.open(env=session.env, cwd=working_folder()) as client,
        cancel_on_signals(session) as cancel,
    ):
        pool = ProcessPool(jobs, lambda text: session.note(f"note: {text}"), worker)
        hands = Hands(pool, cancel, lambda run: _watched(session, run), session.env, keep)
        done = go(client, hands)
    if keep:
        session.note(f"note: folders of the trials: {places(done.run.run)}")
    session.emit(done.document(), done_text)
    return done.exit_code


def _watched(session: Session, prepared: Prepared) -> Progress:
    session.note(f"run {prepared.run.run}: {prepared.run.trials} trials")
    return Progress(session, prepared.run, prepared.trials)


def done_text(document: dict[str, Any], screen: Screen) -> str:
    """What `run` and `resume` say at their end."""
    states = ", ".join(f"{count} {state.replace('_', ' ')}" for state, count in
                       document["states"].items())  # fmt: skip
    score = document["score"]
    return fields(
        (
            ("run", document["run"] + (f" ({document['name']})" if document["name"] else "")),
            ("trials", f"{document['trials']}: {states}"),
            ("passed", f"{document['passed']} of {document['trials']}"),
            ("score", None if score is None else f"{score:.3f} on average"),
            ("stopped", document["stopped"]),
            ("next", clean(document["hint"])),
        ),
        screen,
    )
