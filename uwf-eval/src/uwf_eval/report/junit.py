"""The trials as JUnit XML, which build servers show: a suite per task, a case per trial.

A trial that did not pass is a failure, an infrastructure error is an error, a trial that was not
run is skipped. Source of the format: the schema of Jenkins' xUnit plugin, `junit-10.xsd`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from uwf_eval.records import Run, Trial
from uwf_eval.report.groups import by_task
from uwf_eval.report.numbers import score
from uwf_eval.report.shares import reason_of

_NOT_XML: Final = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""The characters that XML 1.0 cannot contain (its production 2)."""


def report_junit(run: Run, trials: Sequence[Trial]) -> str:
    """The document, with its declaration."""
    root = Element("testsuites", {"name": _xml(run.name or run.run), **_counts(trials)})
    for task, group in by_task(trials).items():
        suite = SubElement(root, "testsuite", {"name": _xml(task), **_counts(group)})
        for trial in group:
            _case(suite, trial)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _counts(trials: Sequence[Trial]) -> Mapping[str, str]:
    outcomes = [_outcome(trial) for trial in trials]
    return {
        "tests": str(len(trials)),
        "failures": str(outcomes.count("failure")),
        "errors": str(outcomes.count("error")),
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(trial.duration_ms for trial in trials) / 1000:.3f}",
    }


def _outcome(trial: Trial) -> str:
    """`failure`, `error` or `skipped`; "" if the trial passed."""
    if trial.state == "not_run":
        return "skipped"
    if trial.state == "infra_error":
        return "error"
    return "" if trial.passed else "failure"


def _case(suite: Element, trial: Trial) -> None:
    cell = trial.cell
    words = (cell.case, f"{cell.workflow_name}@{cell.workflow[:4]}", cell.agent, cell.model)
    name = " · ".join(word for word in (*words, f"repeat {cell.repeat}") if word)
    case = SubElement(
        suite,
        "testcase",
        {
            "classname": _xml(cell.task),
            "name": _xml(name),
            "time": f"{trial.duration_ms / 1000:.3f}",
        },
    )
    outcome = _outcome(trial)
    if outcome:
        kind = trial.failure.kind if trial.failure else trial.state
        problem = SubElement(case, outcome, {"message": _xml(_message(trial))})
        if outcome != "skipped":
            problem.set("type", _xml(kind))
            problem.text = _xml(_detail(trial))


def _message(trial: Trial) -> str:
    said = reason_of(trial)
    if said or trial.state != "scored":
        return said or trial.state.replace("_", " ")
    return f"score {score(trial.score)} does not pass"


def _detail(trial: Trial) -> str:
    lines = [f"trial {trial.run}/{trial.number}"]
    lines += [f"thread {trial.thread}"] if trial.thread else []
    lines += [
        f"{each.name}: {each.error or score(each.score)}" + (" (informs)" * (not each.weight))
        for each in trial.judges
    ]
    return "\n".join(lines)


def _xml(text: str) -> str:
    """Replace characters that XML cannot contain; the writer escapes the rest."""
    return _NOT_XML.sub("\ufffd", text)
