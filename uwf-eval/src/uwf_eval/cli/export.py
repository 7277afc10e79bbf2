"""`uwf-eval export`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from uwf_core.commands import Screen, Session, command
from uwf_core.errors import UsageError, WrongStateError
from uwf_eval.cli.opened import results_of

if TYPE_CHECKING:
    from uwf_core.client import Client
    from uwf_eval.records import Run, Trial


@command(
    "export",
    "uwf-eval export @last/3 -o trial.tar",
    "uwf-eval export nightly -o nightly-trials",
)
@click.argument("what", metavar="TRIAL|RUN")
@click.option(
    "-o", "--output", metavar="FILE|FOLDER", required=True,
    help="A file for one trial, a new folder for a whole run.",
)  # fmt: skip
def export(session: Session, what: str, output: str) -> None:
    """Write trials as bundles: their threads, whole, for `uwf bundle verify` and `uwf cas import`.

    A TRIAL is RUN/NUMBER and becomes one file. A RUN becomes a folder with a bundle for each trial
    that has a thread, and run.json, which says what the judges said.
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
    """A bundle of each trial that has a thread, and what is stored of the run.

    Raises:
        UsageError: the folder is there and not empty, or cannot be made.
    """
    import json

    from uwf_core.api.fields import write_record

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise UsageError(
                "this folder is not empty", where=str(folder), hint="-o names a new folder"
            )
        document = {"run": write_record(run), "trials": write_record(list(trials))}
        text = json.dumps(document, ensure_ascii=False, indent=1)
        (folder / "run.json").write_text(text + "\n", encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(
            f"the folder cannot be written: {error.strerror}", where=str(folder),
            hint="-o names a folder in a place that is yours to write",
        ) from error  # fmt: skip
    width = len(str(len(trials)))
    return [
        _bundle(client, trial, folder / f"trial-{trial.number:0{width}}.tar")
        for trial in trials
        if trial.thread is not None
    ]


def _bundle(client: "Client", trial: "Trial", file: Path) -> dict[str, Any]:
    """Write one trial's thread.

    Raises:
        WrongStateError: it has none: it was not run, or failed before its thread began.
    """
    if trial.thread is None:
        raise WrongStateError(
            f"trial {trial.run}/{trial.number} has no thread: it is {trial.state}",
            hint=f"`uwf-eval resume {trial.run}` runs what is left",
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
