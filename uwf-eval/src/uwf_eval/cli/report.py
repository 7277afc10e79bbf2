"""`uwf eval report`."""

from collections.abc import Sequence

from uwf_core.commands import Screen, Session
from uwf_core.errors import ExitCode
from uwf_core.fields.records import write_record
from uwf_eval.cli.results import results_of
from uwf_eval.records import Trial
from uwf_eval.report.html.page import page
from uwf_eval.report.junit import report_junit
from uwf_eval.report.markdown import report_markdown
from uwf_eval.report.summary import Report, summarise
from uwf_eval.report.text import report_text

FORMATS = ("markdown", "junit", "html")
_FILE_WIDTH = 100


def report(
    session: Session,
    run: str,
    output: str | None,
    html: str | None,
    min_score: float | None,
    trials: int,
) -> int:
    """Report the results of a run."""
    wanted = session.chosen
    if wanted in FORMATS:
        session.chosen = "text"  # of errors
    with results_of(session) as (_, results):
        found = results.run(run)
        every = results.trials(found.run)
        summary = summarise(found, every, trials)
    if html is not None:
        _write_file(session, html, _form(session, "html", summary, every))
    if output is not None:
        _write_file(session, output, _form(session, wanted or session.format, summary, every))
    elif wanted in FORMATS:
        session.write(_form(session, wanted, summary, every))
    else:
        session.emit(write_record(summary), lambda _, screen: report_text(summary, screen))
    return _enough(session, summary, min_score)


def _form(session: Session, name: str, summary: Report, every: Sequence[Trial]) -> str:
    """The report in one format, as it is written into a file."""
    if name == "html":
        return page(summary)
    if name == "markdown":
        return report_markdown(summary)
    if name == "junit":
        return report_junit(summary.run, every)
    if name == "text":
        return report_text(summary, Screen(_FILE_WIDTH, colour=False)) + "\n"
    return session.data(write_record(summary)) + "\n"


def _enough(session: Session, summary: Report, least: float | None) -> int:
    """The exit code: 1 if the mean score is below the required one."""
    mean = summary.overall.score.value
    if least is None or (mean is not None and mean >= least):
        return ExitCode.DONE
    said = "no trial counts" if mean is None else f"the mean score is {mean:.4g}"
    session.note(f"{said}; --min-score requires {least:g}")
    return ExitCode.FAILED


def _write_file(session: Session, name: str, text: str) -> None:
    session.write_file(name, "the report", [text.encode("utf-8", "backslashreplace")])
    session.note(f"written: {name} ({len(text):,} characters)")
