"""`uwf eval calibrate`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from uwf_core.client import Client
from uwf_core.commands import Session, cancel_on_signals, working_folder
from uwf_core.definitions import suggestion
from uwf_core.errors import ExitCode, UnknownIdError, UsageError
from uwf_core.fields.records import write_record
from uwf_eval.calibration.ask import Bench, judgements
from uwf_eval.calibration.ask import calibrate as calibrate_judge
from uwf_eval.calibration.catalog import save_calibration
from uwf_eval.calibration.set import read_set
from uwf_eval.calibration.text import calibrations_text
from uwf_eval.task.load import find_task, take_task
from uwf_eval.task.model import JudgeSpec, Task


def calibrate(
    session: Session, judge: str, runs: int, dry_run: bool, fail_if: Sequence[str]
) -> int:
    """Measure the judges that a word means."""
    found = []
    with (
        Client.open(env=session.env, cwd=working_folder()) as client,
        TemporaryDirectory(prefix="uwf-calibrate-") as scratch,
        cancel_on_signals(session) as cancel,
    ):
        task, specs = _judges(client, judge, Path(scratch))
        bench = Bench(
            task=task, client=client, folder=Path(scratch), env=session.env, cancel=cancel
        )
        for spec in specs:
            found.append(_measured(session, bench, spec, runs, dry_run=dry_run))
    session.emit({"calibrations": found}, calibrations_text)
    return ExitCode.FAILED if {each["verdict"] for each in found} & set(fail_if) else ExitCode.DONE


def _judges(client: Client, word: str, scratch: Path) -> tuple[Task, Sequence[JudgeSpec]]:
    """The judges that a word means, with a copy of their task."""
    head, _, name = word.rpartition("/")
    cwd = Path(working_folder())
    try:
        place, name = find_task(word, client, cwd), ""
    except UnknownIdError:
        if not head:
            raise
        place = find_task(head, client, cwd)
    task = take_task(place, scratch / "task", client).require()
    named = {each.name: each for each in task.judges if name in ("", each.name)}
    if not named:
        names = [each.name for each in task.judges]
        raise UnknownIdError(
            f"unknown judge {name!r} of task {task.name!r}",
            hint=suggestion(name, names) or f"there are: {', '.join(names)}",
        )
    with_set = [each for each in named.values() if each.calibration is not None]
    if not with_set:
        who = f"the judge {name!r}" if name else "no judge"
        raise UsageError(
            f"{who} of task {task.name!r} has {'no' if name else 'a'} calibration set",
            where=place.place,
            hint="add `calibration: FILE` to the judge in task.yaml",
        )
    return task, with_set


def _measured(
    session: Session, bench: Bench, spec: JudgeSpec, runs: int, *, dry_run: bool
) -> dict[str, Any]:
    """Calibrate one judge and store the result."""
    items = read_set(bench.task.folder / (spec.calibration or "")).require()
    planned, total = judgements(spec, items, runs), len(items.items)
    head: Mapping[str, Any] = {"task": bench.task.name, "name": spec.name, "set": spec.calibration}
    session.note(f"{spec.name}: {total} items, {planned} judgements")
    if dry_run:
        return {**head, "asked": planned, "items": total, "verdict": None}

    def note(judged: int) -> None:
        if judged % 10 == 0 and judged < total:
            session.note(f"{spec.name}: {judged} of {total} items")

    done = calibrate_judge(bench, spec, items, runs, note)
    ref = save_calibration(bench.client, done)
    weight = spec.weight if done.verdict == "reached" else 0.0
    return {**head, "weight": weight, **write_record(done), "ref": ref}
