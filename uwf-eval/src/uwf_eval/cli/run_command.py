"""Shared by `run` and `resume`: the options, the client, the workers, the result."""

import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from uwf_core.client import Client
from uwf_core.commands import Screen, Session, cancel_on_signals, clean, fields, working_folder
from uwf_core.errors import UsageError
from uwf_eval.calibration.weigh import notices
from uwf_eval.cli.recorded import selected
from uwf_eval.judges.launcher import hide
from uwf_eval.plan.budget import read_budget
from uwf_eval.records import Budget
from uwf_eval.run.pool import ProcessPool
from uwf_eval.run.prepare import Prepared, Request
from uwf_eval.run.progress import Progress
from uwf_eval.run.start import RunOutcome, RunServices
from uwf_eval.run.worker_process import WorkerProcess
from uwf_eval.task.recorded import Selection
from uwf_eval.trial.folders import places

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}\Z")


def budget_of(text: str | None) -> Budget:
    """The budget of `--budget`; unlimited without it.

    Raises:
        UsageError: the text is not a valid budget.
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
    """Validate the value of `--name`.

    Raises:
        UsageError: the name is not valid.
    """
    if text and not _NAME.match(text):
        raise UsageError(
            f"{text!r} is not a valid run name",
            where="--name",
            hint="use a letter, then letters, digits, `.`, `_` and `-`; at most 64 characters",
        )
    return text


def request_of(tasks: Sequence[str], options: Mapping[str, Any]) -> Request:
    """The request of `uwf eval run`, with a random seed if none is given.

    Raises:
        UsageError: the budget or the name is not valid.
    """
    seed = options["seed"]
    return Request(
        tasks=tasks,
        agents=options["agent"],
        models=options["model"],
        workflows=options["workflow"],
        repeat=options["repeat"],
        jobs=options["jobs"],
        seed=int.from_bytes(os.urandom(4)) >> 1 if seed is None else seed,
        budget=budget_of(options["budget"]),
        name=run_name(options["name"] or ""),
        command=_command_words(),
        cwd=Path(working_folder()),
    )


def with_steps(session: Session, client: Client, request: Request, wanted: Selection) -> Request:
    """The request with the selected steps."""
    if wanted.is_empty:
        return request
    steps = selected(session, client, wanted).steps
    return replace(request, steps=steps, files=wanted.files)


def _command_words() -> list[str]:
    """The arguments after `uwf-eval` or `uwf eval`."""
    words = sys.argv[1:]
    if click.get_current_context().find_root().info_name == "uwf":
        words.remove("eval")
    return words


def conduct(
    session: Session,
    jobs: int,
    worker: WorkerProcess,
    run: Callable[[Client, RunServices], RunOutcome],
    *,
    keep: bool,
) -> int:
    """Run the trials, print the result, and return the exit code."""
    hide()  # as its workers do
    with (
        Client.open(env=session.env, cwd=working_folder()) as client,
        cancel_on_signals(session) as cancel,
    ):
        pool = ProcessPool(jobs, lambda text: session.note(f"note: {text}"), worker)
        services = RunServices(pool, cancel, lambda run: _watched(session, run), session.env, keep)
        done = run(client, services)
    if keep:
        session.note(f"note: folders of the trials: {places(done.run.run)}")
    session.emit(done.document(), done_text)
    return done.exit_code


def _watched(session: Session, prepared: Prepared) -> Progress:
    session.note(f"run {prepared.run.run}: {prepared.run.trials} trials")
    for line in [*prepared.notes, *notices(prepared.run.tasks)]:
        session.note(f"note: {line}")
    return Progress(session, prepared.run, prepared.trials)


def done_text(document: dict[str, Any], screen: Screen) -> str:
    """The output of `run` and `resume`."""
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
