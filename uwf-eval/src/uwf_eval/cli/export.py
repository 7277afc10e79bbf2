"""`uwf eval export`: trials as bundles, a run as a log of Inspect."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from uwf_core.client import Client
from uwf_core.commands import Screen, Session
from uwf_core.errors import UsageError, WrongStateError
from uwf_core.fields.records import write_record
from uwf_eval.cli.results import results_of
from uwf_eval.inspect_log.file import export_inspect_log
from uwf_eval.records import Run, Trial

if TYPE_CHECKING:
    from uwf_eval.documents import BundlesDocument, LogDocument, TrialBundle


def export(session: Session, what: str, output: str) -> None:
    """Export a trial or a run."""
    if session.chosen == "inspect":
        session.chosen = None  # of the report, and of errors
        session.emit(_inspect_log(session, what, output), _log_text)
        return
    with results_of(session) as (client, results):
        if "/" in what:
            bundles = [_bundle(client, results.trial(what), Path(output))]
            left_out = 0
        else:
            run = results.run(what)
            trials = results.trials(run.run)
            bundles = _folder(client, run, trials, Path(output))
            left_out = len(trials) - len(bundles)
    document: BundlesDocument = {"bundles": bundles, "withoutThread": left_out}
    session.emit(document, _text)


def _inspect_log(session: Session, what: str, output: str) -> "LogDocument":
    """Write a run as a log of Inspect, in place of an existing file.

    Raises:
        UsageError: `what` is a trial, or the file cannot be written.
    """
    if "/" in what:
        raise UsageError(
            f"{what!r} is a trial; a log of Inspect is of a run",
            hint=f"next: uwf eval export {what.partition('/')[0]} --format inspect -o FILE.eval",
        )
    with results_of(session) as (client, results):
        run = results.run(what)
        return export_inspect_log(client, run, results.trials(run.run), Path(output))


def _log_text(document: "LogDocument", _screen: Screen) -> str:
    name = document["file"]
    return (
        f"{name}: run {document['run']}, {document['samples']} samples\nnext: inspect view {name}"
    )


def _folder(client: Client, run: Run, trials: Sequence[Trial], folder: Path) -> "list[TrialBundle]":
    """Write a bundle for each trial with a thread, and run.json.

    Raises:
        UsageError: the folder is not empty, or cannot be created.
    """
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


def _bundle(client: Client, trial: Trial, file: Path) -> "TrialBundle":
    """Write the thread of one trial.

    Raises:
        WrongStateError: the trial was not run, or failed before its thread started.
    """
    if trial.thread is None:
        raise WrongStateError(
            f"trial {trial.run}/{trial.number} has no thread; its state is {trial.state}",
            hint=f"`uwf eval resume {trial.run}` runs the remaining trials",
        )
    return {"trial": trial.number, **client.export_thread(trial.thread, file)}


def _text(document: "BundlesDocument", _screen: Screen) -> str:
    lines = [
        f"trial {each['trial']}: {each['file']}, {each['nodes']} nodes, root {each['root']}"
        for each in document["bundles"]
    ]
    if document["withoutThread"]:
        lines.append(f"{document['withoutThread']} trials have no thread")
    return "\n".join(lines) or "no trial has a thread"
