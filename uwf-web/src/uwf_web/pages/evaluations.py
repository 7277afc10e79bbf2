"""Evaluations, if uwf-eval is installed: the runs, and the report of one, also while it runs."""

from typing import TYPE_CHECKING

from uwf_core.errors import UnknownIdError
from uwf_core.fields.records import write_record
from uwf_web.page import Document, Page, Visit

if TYPE_CHECKING:
    from uwf_eval.store.results import Results

TRIALS = 200
"""How many trials a report lists one by one."""


def read_evaluations(visit: Visit) -> Document:
    """The runs, newest first."""
    results = _results(visit)
    if results is None:
        return {"runs": [], "installed": False}
    from uwf_eval.report.runs import run_row

    rows = [run_row(run, results.counts(run.run)) for run in results.runs()]
    return {"runs": rows, "installed": True}


def read_evaluation(visit: Visit) -> Document:
    """The report of a run."""
    results = _results(visit)
    if results is None:
        raise UnknownIdError("uwf-eval is not installed", hint="next: pip install uwf-eval")
    from uwf_eval.report.summary import summarise

    run = results.run(visit.path["run"])
    found: Document = write_record(summarise(run, results.trials(run.run), TRIALS))
    return found


def _results(visit: Visit) -> "Results | None":
    try:
        from uwf_eval.store.results import Results
    except ModuleNotFoundError:
        return None
    return Results(visit.client)


EVALUATIONS: Page = Page("evaluations.html", read_evaluations, ("uwf eval list",))
EVALUATION: Page = Page("evaluation.html", read_evaluation, ("uwf eval report {run}",))
