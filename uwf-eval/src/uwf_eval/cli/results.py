"""Commands that read stored runs: `list`, `show`, `diff`, `export`."""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from uwf_core.commands import Screen, Session, command, working_folder
from uwf_core.errors import UsageError, WrongStateError

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_eval.records import Run, Trial
    from uwf_eval.store.results import Results


@contextmanager
def results_of(session: Session) -> "Iterator[tuple[Client, Results]]":
    """Open the client and the stored results.

    The garbage collector is off meanwhile: thousands of trials without reference cycles are read,
    and the search for cycles would take a quarter of the time.
    """
    from uwf_core.client import Client
    from uwf_eval.store.results import Results

    gc.disable()
    try:
        with Client.open(env=session.env, cwd=working_folder(), on_notice=session.note) as client:
            yield client, Results(client)
    finally:
        gc.enable()


@command("list", "uwf-eval list", "uwf-eval list --limit 5 --format json")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="List at most N runs.")
def list_(session: Session, limit: int | None) -> None:
    """List the runs, newest first."""
    from uwf_eval.report.runs import run_row, runs_text

    with results_of(session) as (_, results):
        rows = [run_row(run, results.counts(run.run)) for run in results.runs()[:limit]]
    session.emit({"runs": rows}, runs_text)


@command("show", "uwf-eval show @last/3", "uwf-eval show nightly/12 --format json")
@click.argument("trial", metavar="TRIAL")
def show(session: Session, trial: str) -> None:
    """Show one trial: its steps, each judge's result, the failure, commands that show more.

    TRIAL is RUN/NUMBER; RUN is an id, a unique prefix of one, a name or @last.
    """
    from uwf_core.api.fields import write_record
    from uwf_eval.report.trial_text import reading, trial_text

    with results_of(session) as (_, results):
        found = results.trial(trial)
    document = {**write_record(found), "commands": reading(found)}
    session.emit(document, lambda _, screen: trial_text(found, screen))


@command("diff", "uwf-eval diff nightly @last", "uwf-eval diff 01K9ABCD 01K9EFGH --format json")
@click.argument("before", metavar="RUN")
@click.argument("after", metavar="RUN")
@click.option(
    "--trials", type=click.IntRange(min=0), default=200, show_default=True, metavar="N",
    help="List at most N changed trials.",
)  # fmt: skip
def diff(session: Session, before: str, after: str, trials: int) -> None:
    """Compare two runs: changed settings, the score of each task, each trial that changed.

    RUN is an id, a unique prefix of one, a name or @last. `uwf-eval compare` tests whether a
    difference is more than chance.
    """
    from uwf_core.api.fields import write_record
    from uwf_eval.report.difference import difference, difference_text

    with results_of(session) as (_, results):
        a, b = results.run(before), results.run(after)
        found = difference(a, results.trials(a.run), b, results.trials(b.run), trials)
    session.emit(write_record(found), lambda _, screen: difference_text(found, screen))


@command(
    "export", "uwf-eval export @last/3 -o trial.tar", "uwf-eval export nightly -o nightly-trials"
)
@click.argument("what", metavar="TRIAL|RUN")
@click.option(
    "-o", "--output", metavar="FILE|FOLDER", required=True,
    help="A file for one trial, a new folder for a whole run.",
)  # fmt: skip
def export(session: Session, what: str, output: str) -> None:
    """Export trials as bundles: their threads, whole, for `uwf bundle verify` and `uwf cas import`.

    A TRIAL is RUN/NUMBER and becomes one file. A RUN becomes a folder with a bundle for each trial
    that has a thread, and run.json with the results of the judges.
    """
    with results_of(session) as (client, results):
        if "/" in what:
            bundles = [_bundle(client, results.trial(what), Path(output))]
            left_out = 0
        else:
            run = results.run(what)
            trials = results.trials(run.run)
            bundles = _folder(client, run, trials, Path(output))
            left_out = len(trials) - len(bundles)
    session.emit({"bundles": bundles, "withoutThread": left_out}, _text)


def _folder(
    client: "Client", run: "Run", trials: "Sequence[Trial]", folder: Path
) -> list[dict[str, Any]]:
    """Write a bundle for each trial with a thread, and run.json.

    Raises:
        UsageError: the folder is not empty, or cannot be created.
    """
    import json

    from uwf_core.api.fields import write_record

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(
                "the folder is not empty", where=str(folder), hint="choose a new folder for -o"
            )
        document = {"run": write_record(run), "trials": write_record(list(trials))}
        text = json.dumps(document, ensure_ascii=False, indent=1)
        (folder / "run.json").write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(
            f"cannot write the folder: {error.strerror}", where=str(folder),
            hint="choose a writable folder for -o",
        ) from error  # fmt: skip
    width = len(str(len(trials)))
    return [
        _bundle(client, trial, folder / f"trial-{trial.number:0{width}}.tar")
        for trial in trials
        if trial.thread is not None
    ]


def _bundle(client: "Client", trial: "Trial", file: Path) -> dict[str, Any]:
    """Write the thread of one trial.

    Raises:
        WrongStateError: the trial was not run, or failed before its thread started.
    """
    if trial.thread is None:
        raise WrongStateError(
            f"trial {trial.run}/{trial.number} has no thread; its state is {trial.state}",
            hint=f"`uwf-eval resume {trial.run}` runs the remaining trials",
        )
    return {"trial": trial.number, **client.export_thread(trial.thread, file)}


def _text(document: dict[str, Any], _screen: Screen) -> str:
    lines = [
        f"trial {each['trial']}: {each['file']}, {each['nodes']} nodes, root {each['root']}"
        for each in document["bundles"]
    ]
    if document["withoutThread"]:
        lines.append(f"{document['withoutThread']} trials have no thread")
    return "\n".join(lines) or "no trial has a thread"
