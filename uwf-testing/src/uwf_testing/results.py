"""A pytest plugin that writes the outcome of each clause to a file, for `python -m uwf_testing`.

    pytest -p uwf_testing.results --uwf-results FILE

The file is JSON: `{"results": [{kind, subject, declared, kit, class, clause, outcome, reason}]}`,
an outcome is one of `holds`, `fails`, `skipped`, `known bug`, `fixed` (marked as a known bug, but
holds). It is loaded by name only, never by an entry point.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from uwf_testing.contract import PROPERTY

_PLUGIN = "uwf-results"


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--uwf-results FILE`."""
    parser.addoption("--uwf-results", metavar="FILE", help="write all results as JSON")


def pytest_configure(config: pytest.Config) -> None:
    """Register the results only in the main process, not in workers of xdist."""
    file = config.getoption("--uwf-results")
    if file and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Results(Path(file)), _PLUGIN)


class Results:
    """The outcomes of the clauses so far."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._results: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record a phase of a test; a later phase replaces an earlier one only if it fails."""
        properties: dict[str, Any] = dict(report.user_properties)
        about = properties.get(PROPERTY)
        if about is None or (report.when != "call" and report.passed):
            return
        outcome, reason = _outcome_of(report)
        before = self._results.get(report.nodeid)
        if before is None or outcome == "fails":
            _, _, place = report.nodeid.partition("::")
            cls, _, clause = place.rpartition("::")
            self._results[report.nodeid] = {
                **about,
                "class": cls,
                "clause": clause.partition("[")[0],
                "outcome": outcome,
                "reason": reason,
            }

    def pytest_sessionfinish(self) -> None:
        """Write the file."""
        document = {"results": list(self._results.values())}
        self._file.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _outcome_of(report: pytest.TestReport) -> tuple[str, str]:
    expected: str | None = getattr(report, "wasxfail", None)
    if expected is not None:
        reason = expected.removeprefix("reason: ")
        return ("known bug" if report.skipped else "fixed"), reason
    if report.skipped:
        return "skipped", _skip_reason(report.longrepr)
    if report.passed:
        return "holds", ""
    return "fails", _fail_reason(report.longrepr)


def _skip_reason(shown: Any) -> str:
    text = shown[2] if isinstance(shown, tuple) else str(shown)
    return str(text).removeprefix("Skipped: ")


def _fail_reason(shown: Any) -> str:
    """The first line of what pytest shows of a failure."""
    crash = getattr(shown, "reprcrash", None)
    text = crash.message if crash is not None else str(shown)
    return str(text).strip().partition("\n")[0]
