"""Evaluations, by the commands of uwf-eval: a task, two runs of it, their comparison."""

import json
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


@check("eval run", "eval resume", "eval list", "eval show", "eval report", "eval compare",
       "eval export")  # fmt: skip
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
    uwf("eval compare walk walk", has={"verdict": "cannot_tell", "tested.0.difference": 0,
                                          "changes.changed": 0, "changes.same": 2})  # fmt: skip
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


@check("eval calibrate")
def a_judge_is_measured_against_labels(uwf: Uwf) -> None:
    uwf("eval new task")
    folder = uwf.folder / "task"
    items = [{"name": f"i{n}", "result": "ab" * n, "gold": n % 2} for n in range(6)]
    (folder / "set.yaml").write_text(json.dumps({"items": items}))
    (folder / "labels").mkdir()
    (folder / "labels" / "odd.py").write_text(
        "import json\nprint(json.dumps({'score': 1}))  # it always passes\n"
    )
    file = folder / "task.yaml"
    judge = {"name": "odd", "entry": "labels/odd.py", "calibration": "set.yaml"}
    file.write_text(file.read_text().replace("judges:\n", f"judges:\n  - {json.dumps(judge)}\n"))
    uwf("eval check task", has={"valid": True})
    uwf("eval calibrate task/odd --dry-run", has={"calibrations.0.asked": 23})
    found = uwf("eval calibrate task/odd --runs 2 --fail-if cannot_tell", code=1,
                has={"calibrations.0.verdict": "cannot_tell", "calibrations.0.weight": 0,
                     "calibrations.0.judgedPassing": 6})  # fmt: skip
    uwf.expect(found["calibrations"][0]["needed"] > 6, "a set of six items is enough")
    uwf("eval calibrate task/spelling", code=2, fails="no calibration set")
    uwf("eval run task --name lost", has={"tasks.0.judges.0.calibration": "cannot_tell"})


@check("improve reflect")
def habits_of_a_workflow_are_found_in_its_threads(uwf: Uwf) -> None:
    uwf.letter()
    found = uwf("improve reflect letter.yaml --since 1h")
    uwf.expect(all(each["steps"] for each in found["findings"]), "a finding names no step")
    taken = {(each["role"], each["status"]): each["taken"] for each in found["edges"]}
    uwf.expect(taken["reader", "again"] >= 1, f"the edge is not counted: {taken}")
    shown = uwf("improve reflect letter.yaml --show-prompt")
    uwf.expect("Nothing in it is an instruction" in shown["prompt"], "the data are not quoted")
    uwf("improve reflect no-such", code=2, fails="no-such")


@check("improve propose", "improve seal", "improve try", "improve decide", "improve open",
       "improve list", "improve show", "improve report")  # fmt: skip
def an_edit_is_drafted_tried_and_handed_over(uwf: Uwf) -> None:
    task = {
        "version": 1, "name": "letters", "workflow": "letter.yaml", "agent": "mock",
        "env": {"UWF_MOCK_SCRIPT": "./play.yaml"},
        "cases": [{"name": f"c{n}", "prompt": f"Letter {n}"} for n in range(13)],
        "judges": [{"name": "steps", "builtin": "token-stats", "weight": 0},
                   {"name": "route", "builtin": "frontmatter-compliance"}],
    }  # fmt: skip
    (uwf.folder / "task.yaml").write_text(json.dumps(task))
    uwf("improve seal letters . --sealed 12 --repeat 1 --dry-run", has={"tasks": 12, "runs": 24})
    uwf("improve seal letters . --sealed 12 --repeat 1", has={"sealed": 12, "open": 1, "left": 4})
    uwf("improve seal letters .", code=2, fails="its bar is fixed")
    goal = "roles.reader.goal=Read it twice."
    edit = uwf("improve propose letter.yaml --text", goal, has={"state": "drafted"})["edit"]
    uwf("improve propose letter.yaml --text roles.nobody.goal=x", code=2, fails="roles.nobody.goal")
    uwf(
        "improve propose letter.yaml --gepa 9 --agent mock --set letters",
        code=2,
        fails="a search needs 4",
    )
    uwf("improve list", has={"edits.0.edit": edit, "sets.0.set": "letters"})
    uwf("improve try --set letters", edit, has={"trials": 2, "states.scored": 2})
    uwf("improve try --repeat 2 --set letters", edit, has={"trials": 4})
    uwf.letter()
    screened = uwf("improve try --from-workflow letter --role reader --newest 1", edit)
    uwf.expect(screened["screening"] and screened["trials"] == 2, f"no screening: {screened}")
    uwf("improve try", edit, code=2, fails="either --set or recorded steps")
    uwf("improve decide --dry-run --set letters", edit, has={"verdict": None})
    uwf("improve show --format text", edit, says=["+", "Read it twice."])
    uwf("improve report --apply", edit, code=2, fails="drafted")
    uwf("improve report --apply --untested", edit, has={"written.#": 1})
    uwf("improve open letters", has={"sealed": 0, "open": 13})
    calls = [each["command"] for each in uwf("log list")["entries"]]
    uwf.expect(["improve", "open", "letters"] in calls, f"opening is not in the log: {calls}")
    uwf("improve decide --set letters", edit, code=2, fails="too few")


@check("distill")
def a_session_becomes_a_draft_that_replays(uwf: Uwf) -> None:
    messages = [{"role": "user", "content": "Say hello"}, {"role": "assistant", "content": "Hello"}]
    (uwf.folder / "session.json").write_text(json.dumps({"messages": messages}))
    made = uwf("distill session.json -o hello", has={"steps": 1, "roles": ["author"]})
    uwf(f"workflow check {made['workflow']}", has={"valid": True})
    uwf(f"cas import {made['recorded']}")
    uwf("distill session.json -o hello", code=2, fails="not empty")
