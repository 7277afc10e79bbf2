"""`uwf improve seal` and `open`: sets of tasks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uwf_core.client import Client
from uwf_core.commands import Column, Screen, Session, fields, table, working_folder
from uwf_core.errors import UsageError
from uwf_core.fields.records import write_record
from uwf_improve.gate.bar import Bar, Guard
from uwf_improve.gate.decide import refusal
from uwf_improve.gate.plan import plan
from uwf_improve.gate.sides import sealed_units
from uwf_improve.sealed.catalog import set_row
from uwf_improve.sealed.confirm import open_set
from uwf_improve.sealed.records import SetRecord
from uwf_improve.sealed.sealing import add_tasks
from uwf_improve.sealed.sealing import seal as seal_set

if TYPE_CHECKING:
    from uwf_improve.documents import SetDocument


def seal(
    session: Session, set_: str, tasks: Sequence[str], add: bool, dry_run: bool, **options: Any
) -> None:
    """Seal tasks, or show what a test of them would find."""
    if add and dry_run:
        raise UsageError("--add and --dry-run exclude each other", hint="omit one of them")
    if not (tasks or dry_run):
        raise UsageError("no TASK to seal", hint="name folders of tasks, or add --dry-run")
    cwd = Path(working_folder())
    if dry_run and not tasks:
        _plan(session, _bar(options), options["sealed"])
        return
    with Client.open(env=session.env, cwd=cwd) as client:
        if add:
            record = add_tasks(client, set_, tasks, cwd)
        else:
            record = seal_set(client, set_, tasks, _bar(options), cwd, dry_run)
    if dry_run:
        _plan(session, record.bar, len(sealed_units(record.places)))
    else:
        session.emit(_set_document(record), set_text)


def _plan(session: Session, bar: Bar, tasks: int) -> None:
    why = refusal(bar, tasks, 1)
    if why is not None:
        raise UsageError(why, hint="a smaller number of tasks shows nothing reliable")
    session.emit(write_record(plan(bar, tasks)), _plan_text)


def _plan_text(document: Mapping[str, Any], screen: Screen) -> str:
    runs = f"{document['tasks']} tasks x {document['repeats']} x 2 = {document['runs']} runs"
    rows = [
        {
            "number": each["number"],
            "level": f"{each['level'] * 100:.3g} %",
            "finds": f"+{each['finds'] * 100:.0f} points",
        }
        for each in document["tests"]
    ]
    columns = (
        Column("number", "TEST", right=True),
        Column("level", "ALPHA", right=True),
        Column("finds", "FINDS IN 8 OF 10 CASES", least=8),
    )
    return f"{runs}\n\n{table(columns, rows, screen)}"


def _bar(options: Mapping[str, Any]) -> Bar:
    try:
        guards = [*map(_guard, options["guard"])] or [("tampering", 0.0), ("infra_errors", 0.05)]
        return Bar(
            metric=options["metric"],
            smallest_gain=_share(options["gain"]),
            guards=[Guard(metric=name, margin=margin) for name, margin in guards],  # type: ignore[arg-type]
            sealed=options["sealed"],
            repeats=options["repeat"],
        )
    except ValueError as error:
        raise UsageError(str(error), hint="see `uwf improve seal --help`") from error


def _guard(text: str) -> tuple[str, float]:
    name, equals, share = text.partition("=")
    if not equals:
        raise ValueError(f"{text!r} is not METRIC=SHARE, such as cost=20%")
    return name, _share(share)


def _share(text: str) -> float:
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise ValueError(f"{text!r} is not a share, such as 5% or 0.05") from None


def _set_document(record: SetRecord) -> "SetDocument":
    opened = [each.name for each in record.tasks if each.side == "open"]
    return {**set_row(record), "bar": write_record(record.bar), "openTasks": opened}


def set_text(document: Mapping[str, Any], screen: Screen) -> str:
    """The output of `seal` and `open`."""
    bar = document["bar"]
    guards = ", ".join(f"{e['metric']} {e['margin']:.0%}" for e in bar["guards"])
    return fields(
        (
            ("set", document["set"]),
            ("tasks", f"{document['sealed']} sealed, {document['open']} open"),
            (
                "sources",
                None
                if document["sources"] == document["sealed"]
                else f"{document['sources']} different sources are sealed; each counts once",
            ),
            ("bar", f"{bar['metric']} +{bar['smallestGain']:.3g}; at most worse: {guards or '-'}"),
            ("tests", f"{document['tests']}, {document['left']} left"),
        ),
        screen,
    )


def open_tasks(client: Client, set_: str) -> "SetDocument":
    """Open the sealed tasks of a set."""
    return _set_document(open_set(client, set_))
