"""`uwf eval compare`."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from uwf_core.commands import Session
from uwf_core.errors import ExitCode, UsageError
from uwf_core.fields.records import read_record, write_record
from uwf_eval.cli.results import results_of
from uwf_eval.compare.changes import changes_between
from uwf_eval.compare.compare import compare as compare_trials
from uwf_eval.compare.pairs import select
from uwf_eval.compare.records import DIMENSIONS, CompareOptions, Comparison, Dimension
from uwf_eval.compare.text import as_markdown, as_text


def compare(session: Session, a: str, b: str, fail_if: Sequence[str], **asked: Any) -> int:
    """Compare two runs, or two parts of one."""
    comparison = _compared(session, a, b, asked)
    _emit(session, comparison)
    found = {each.verdict for each in comparison.tested}
    return ExitCode.FAILED if found & set(fail_if) else ExitCode.DONE


def _compared(session: Session, a: str, b: str, asked: dict[str, Any]) -> Comparison:
    by: Dimension | None = asked.pop("by")
    word: str | None = asked.pop("run")
    listed: int = asked.pop("trials")
    if word and not by:
        raise UsageError("--run needs --by", hint="without --by, A and B are the runs")
    options = _options(asked)
    with results_of(session) as (_, results):
        runs = [results.run(each) for each in ([word or "@last"] if by else [a, b])]
        sides = [results.trials(run.run) for run in runs]
    names = [f"{run.run} {run.name}".rstrip() for run in runs]
    if by is None:
        found = compare_trials(sides[0], sides[1], replace(options, names=(names[0], names[1])))
        return replace(found, changes=changes_between(runs[0], sides[0], runs[1], sides[1], listed))
    part_a, part_b = (select(sides[0], by, each) for each in (a, b))
    alike = tuple(each for each in DIMENSIONS if each != by)
    named = (f"{a} in {names[0]}", f"{b} in {names[0]}")
    return compare_trials(part_a, part_b, replace(options, names=named, alike=alike))


def _options(asked: dict[str, Any]) -> CompareOptions:
    metrics = tuple(dict.fromkeys(asked.pop("metric")))
    try:
        return CompareOptions(metrics=metrics, **asked)
    except ValueError as error:
        option = str(error).partition(" ")[0]  # its messages begin with the option's name
        raise UsageError(str(error), where=f"--{option}") from error


def _emit(session: Session, comparison: Comparison) -> None:
    if session.format == "markdown":
        session.write(as_markdown(comparison))
        return
    session.emit(
        write_record(comparison),
        lambda document, screen: as_text(read_record(Comparison, document), screen),
    )
