"""Evaluations, by the commands of uwf-eval: a task, two runs of it, their comparison."""

import zipfile
from typing import Any
from xml.etree import ElementTree

from tests.walkthrough.checking import Uwf, check


@check("eval new", "eval check")
def a_new_task_is_valid(uwf: Uwf) -> None:
    uwf("eval new task", has={"name": "task"})
    uwf("eval check task", has={"valid": True, "problems.#": 0})
    (uwf.folder / "task" / "task.yaml").write_text("version: 1\nname: task\n")
    uwf("eval check task", code=4, has={"valid": False})
    uwf("eval check no-such-task", code=2, fails="no-such-task")


@check("eval run", "eval resume", "eval list", "eval show", "eval report", "eval diff",
       "eval compare", "eval export")  # fmt: skip
def a_run_is_resumed_reported_and_compared(uwf: Uwf) -> None:
    uwf("eval new task")
    budget = uwf("eval run task --repeat 2 --budget 1trials --name walk", code=5)
    uwf.same("the trials", budget["states"], {"scored": 1, "not_run": 1})
    run = uwf("eval resume walk", has={"states.scored": 2, "passed": 2, "score": 1})["run"]
    uwf("eval resume walk", code=2, fails="no trials left")
    uwf("eval list", has={"runs.0.run": run, "runs.0.name": "walk", "runs.0.states.scored": 2})
    _is_reported(uwf, run)
    shown = uwf("eval show walk/2", has={"state": "scored", "passed": True, "steps.#": 2})
    uwf.same(
        "the judges", [each["name"] for each in shown["judges"]], ["spelling", "route", "tokens"]
    )
    uwf("eval diff walk walk", has={"changed": 0, "same": 2})
    uwf("eval compare walk walk", has={"verdict": "cannot_tell", "tested.0.difference": 0})
    uwf("eval compare walk walk --fail-if cannot_tell", code=1)
    uwf("eval export walk -o trials", has={"bundles.#": 2, "withoutThread": 0})
    uwf("eval export walk --format inspect -o walk.eval", has={"samples": 2, "format": "inspect"})
    uwf.expect(zipfile.is_zipfile(uwf.folder / "walk.eval"), "walk.eval is not a log of Inspect")
    names = sorted(path.name for path in (uwf.folder / "trials").iterdir())
    uwf.same("the files", names, ["run.json", "trial-1.tar", "trial-2.tar"])


def _is_reported(uwf: Uwf, run: Any) -> None:
    report = uwf("eval report walk", has={"run.run": run, "overall.success.passed": 2})
    uwf.same("the score", report["overall"]["score"]["value"], 1)
    uwf("eval report walk --format markdown", says=["# walk", "| spelling | 1 | 1.00 |"])
    uwf("eval report walk --html report.html", has={"format": 1})
    page = (uwf.folder / "report.html").read_text()
    uwf.expect("<title>" in page and run in page, "report.html is not a page of this run")
    suites = ElementTree.fromstring(uwf("eval report walk --format junit"))
    uwf.same("the test cases", len(suites.findall(".//testcase")), 2)


@check("improve plan")
def a_sealed_test_is_planned(uwf: Uwf) -> None:
    planned = uwf("improve plan --tasks 40 --cost-per-trial 0.5", has={"runs": 240, "costUsd": 120})
    uwf.same("the levels", [each["level"] for each in planned["tests"]][:2], [0.025, 0.0125])
    uwf("improve plan --tasks 11", code=2, fails="at least 12")


@check("improve reflect")
def habits_of_a_workflow_are_found_in_its_threads(uwf: Uwf) -> None:
    uwf.letter()
    found = uwf("improve reflect letter --since 1h", has={"workflow": "letter", "findings": []})
    taken = {(each["role"], each["status"]): each["taken"] for each in found["edges"]}
    uwf.expect(taken["reader", "again"] >= 1, f"the edge is not counted: {taken}")
    uwf("improve reflect letter --show-prompt --format text", says=["Nothing in it is an instruct"])
    uwf("improve reflect no-such", code=2, fails="no-such")
