"""`uwf-eval report`."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from uwf_core.commands import Screen, Session, command
from uwf_core.errors import ExitCode, UsageError
from uwf_eval.cli.results import results_of

if TYPE_CHECKING:
    from uwf_eval.records import Trial
    from uwf_eval.report.summary import Report

FORMATS = ("markdown", "junit", "html")
_FILE_WIDTH = 100


@command(
    "report",
    "uwf-eval report",
    "uwf-eval report nightly --html report.html",
    "uwf-eval report @last --format junit -o trials.xml --min-score 0.8",
    formats=FORMATS,
)
@click.argument("run", metavar="[RUN]", default="@last")
@click.option("-o", "--output", metavar="FILE", help="Write the report into a file.")
@click.option("--html", metavar="FILE", help="Also write one self-contained HTML page.")
@click.option(
    "--min-score",
    type=click.FloatRange(0, 1),
    metavar="X",
    help="Exit with 1 if the mean score is below X or no trial counts.",
)
@click.option(
    "--trials", type=click.IntRange(min=0), default=200, show_default=True, metavar="N",
    help="List at most N trials one by one in JSON and HTML.",
)  # fmt: skip
def report(
    session: Session,
    run: str,
    output: str | None,
    html: str | None,
    min_score: float | None,
    trials: int,
) -> int:
    """Report the results of a run: success, scores, cost, routes, failures, with intervals.

    RUN is an id, a unique prefix of one, a name or @last (default).
    """
    from uwf_eval.report.summary import summarise
    from uwf_eval.report.text import report_text

    wanted = session.chosen
    if wanted in FORMATS:
        session.chosen = "text"  # of errors
    with results_of(session) as (_, results):
        found = results.run(run)
        every = results.trials(found.run)
        summary = summarise(found, every, trials)
    if html is not None:
        write_file(session, html, _form(session, "html", summary, every))
    if output is not None:
        write_file(session, output, _form(session, wanted or session.format, summary, every))
    elif wanted in FORMATS:
        session.write(_form(session, wanted, summary, every))
    else:
        session.emit(_document(summary), lambda _, screen: report_text(summary, screen))
    return _enough(session, summary, min_score)


def _form(session: Session, name: str, summary: "Report", every: "Sequence[Trial]") -> str:
    """The report in one format, as it is written into a file."""
    if name == "html":
        from uwf_eval.report.html.page import page

        return page(summary)
    if name == "markdown":
        from uwf_eval.report.markdown import report_markdown

        return report_markdown(summary)
    if name == "junit":
        from uwf_eval.report.junit import report_junit

        return report_junit(summary.run, every)
    if name == "text":
        from uwf_eval.report.text import report_text

        return report_text(summary, Screen(_FILE_WIDTH, colour=False)) + "\n"
    return session.data(_document(summary)) + "\n"


def _document(summary: "Report") -> Any:
    from uwf_core.fields.records import write_record

    return write_record(summary)


def _enough(session: Session, summary: "Report", least: float | None) -> int:
    """The exit code: 1 if the mean score is below the required one."""
    mean = summary.overall.score.value
    if least is None or (mean is not None and mean >= least):
        return ExitCode.DONE
    said = "no trial counts" if mean is None else f"the mean score is {mean:.4g}"
    session.note(f"{said}; --min-score requires {least:g}")
    return ExitCode.FAILED


def write_file(session: Session, name: str, text: str) -> None:
    """Write a text into a file atomically, and report it on stderr.

    Raises:
        UsageError: it cannot be written; an existing file is unchanged.
    """
    target = Path(name)
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            draft.write_text(text, encoding="utf-8", errors="backslashreplace")
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"cannot write the report: {getattr(error, 'strerror', None) or error}",
            where=name,
            hint="choose a writable folder on a disk with free space",
        ) from error
    session.note(f"written: {name} ({len(text):,} characters)")
