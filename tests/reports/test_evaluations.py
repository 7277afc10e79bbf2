"""Evaluations and improvements: one test for each public report, and every refusal as a terminal
and a pipe show it.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.core.cli.cli_kit import on_terminal
from tests.eval.run.run_site import DONE, Site
from tests.improve.loop.desk import GOOD, NOTE, Desk


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path, cases=13)


# -- judges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "setup"),
    [
        pytest.param("pytestt -q", ["true"], id="skillberry-ai/cap-evolve #306: never installed"),
        pytest.param("cd . && pytestt", ["true"], id="scaleapi/SWE-bench_Pro-os #78: in a list"),
        pytest.param("./check.sh", ["echo true > check.sh"], id="SWE-bench/SWE-bench #594: 126"),
    ],
)
def test_a_mistake_in_the_task_is_no_failure_of_the_workflow(
    site: Site, run: str, setup: list[str]
) -> None:
    judge = {"name": "tests", "builtin": "command", "options": {"run": run}}
    site.task(agent=DONE, judges=[judge], setup=setup)
    done = site.document("run", "t", code=1)
    assert done["states"] == {"infra_error": 1} and done["score"] is None


@pytest.mark.parametrize(
    "judge",
    [
        pytest.param({"builtin": "hallucination"}, id="found while using uwf: no model"),
        pytest.param({"plugin": "rubric"}, id="a judge of a plugin"),
        pytest.param({"builtin": "command", "options": {"run": "pytestt -q"}}, id="no program"),
    ],
)
def test_no_agent_is_paid_for_a_trial_that_nobody_can_judge(
    site: Site, judge: dict[str, Any]
) -> None:
    site.task(agent=f"touch {site.folder}/paid\n{DONE}", judges=[{"name": "j", **judge}])
    for command in ("check", "run"):
        done = site.eval(command, "t")
        assert done.returncode == 4 and "task.yaml" in done.stdout + done.stderr
    assert not (site.folder / "paid").exists() and site.runs() == []


# -- refusals, as people and programs read them ----------------------------------------------------

EDITED = {
    "memory": ("    frontmatter:", "    memory: [notes.md]\n    frontmatter:"),
    "limits": ("graph:", "limits: {maxSteps: 99}\ngraph:"),
    "judges": ("Write a note about the topic.", "Write what the judge wants."),
    "tests": ("Write a note about the topic.", "Delete the tests first."),
    "changes nothing": ("# A note about a topic.", "# The same note."),
}


def shown(desk: Desk, *words: str) -> tuple[int, str]:
    """What a command prints on a terminal, which is that of a pipe."""
    terminal = on_terminal(desk, words, columns=200)
    piped = desk.uwf(*words, "--format", "text")
    assert (piped.exit_code, piped.stderr.splitlines()[-1:]) == (
        terminal.code,
        [terminal.plain.splitlines()[-1]],
    )
    return terminal.code, terminal.plain


def reads_well(code: int, text: str) -> bool:
    """Whether a refusal has its reason and nothing of Python's."""
    bad = re.search(r"Traceback|KeyError|None|internal error|\{'", text)
    return code in (2, 4) and bad is None and re.search(r"error:|\d+:\d+ ", text) is not None


@pytest.mark.parametrize("reason", EDITED)
def test_an_edit_that_is_refused_says_why_on_a_terminal(desk: Desk, reason: str) -> None:
    """Found while using uwf: a traceback with `KeyError: 'file'` in place of the reason."""
    (desk.folder / "edited.yaml").write_text(NOTE.replace(*EDITED[reason]))
    code, text = shown(desk, "improve", "propose", "note", "--edited", "edited.yaml")
    assert reads_well(code, text) and code == 2
    assert reason.rstrip("s") in text


def test_try_and_decide_say_why_they_refuse_an_edit_on_a_terminal(desk: Desk) -> None:
    made = desk.uwf("improve", "propose", "note", "--text", f"roles.writer.goal={GOOD}")
    edit = json.loads(made.stdout)["edit"]
    assert desk.uwf("improve", *desk.seal()).exit_code == 0
    for words in (
        ("try", edit, "--set", "unknown"),
        ("try", "unknown", "--set", "notes"),
        ("try", edit),
        ("decide", edit, "--set", "unknown"),
        ("decide", "unknown", "--set", "notes"),
    ):
        code, text = shown(desk, "improve", *words)
        assert reads_well(code, text), (words, text)


@pytest.mark.parametrize(
    "words",
    [
        ("improve", "propose", "note"),
        ("improve", "propose", "nothing", "--text", "roles.writer.goal=x"),
        ("improve", "propose", "note", "--text", "roles.nobody.goal=x"),
        ("improve", "propose", "note", "--text", "x"),
        ("improve", "propose", "note", "--text", "graph.writer.written.prompt={{{missing}}}"),
        ("improve", "propose", "note", "--patch", "tasks/task.yaml"),
        ("improve", "propose", "note", "--text", "roles.writer.goal=x", "--gepa", "3"),
        ("improve", "reflect", "unknown"),
        ("improve", "seal", "s", "missing"),
        ("improve", "seal", "s", "tasks", "--sealed", "3"),
        ("improve", "open", "unknown"),
        ("improve", "show", "unknown"),
        ("improve", "report", "unknown"),
        ("distill", "missing.jsonl"),
        ("eval", "run", "missing"),
        ("eval", "run", "tasks", "--budget", "much"),
        ("eval", "run", "tasks", "--name", "a/b"),
        ("eval", "run", "tasks", "tasks"),
        ("eval", "run", "tasks", "--agent", "unknown"),
        ("eval", "run", "tasks", "--workflow", "unknown"),
        ("eval", "check", "missing"),
        ("eval", "new", "tasks"),
        ("eval", "resume", "unknown"),
        ("eval", "report", "unknown"),
        ("eval", "compare", "unknown", "unknown"),
        ("eval", "calibrate", "tasks/source"),
        ("eval", "show", "unknown/1"),
        ("eval", "export", "unknown"),
    ],
    ids=" ".join,
)
def test_every_refusal_reads_well_on_a_terminal_and_in_a_pipe(
    desk: Desk, words: tuple[str, ...]
) -> None:
    code, text = shown(desk, *words)
    assert reads_well(code, text), text


def test_several_reasons_are_printed_one_per_line(desk: Desk) -> None:
    text = "Delete the tests and read the rubric of the judge."
    done = desk.uwf("improve", "propose", "note", "--text", f"roles.writer.goal={text}")
    reasons = [each["message"] for each in done.error["problems"]]
    assert len(reasons) > 1
    _, seen = shown(desk, "improve", "propose", "note", "--text", f"roles.writer.goal={text}")
    assert [line.strip() for line in seen.splitlines() if line.strip() in reasons] == reasons


# -- a run that is resumed -------------------------------------------------------------------------


def test_a_resume_pays_no_agent_for_a_trial_that_only_lacks_a_judge(site: Site) -> None:
    """Found while using uwf: resume played the whole trial again, with the old copy of the task."""
    paid = site.folder / "paid"
    task = site.task(
        agent=f"echo x >> {paid}\n{DONE}", judges=[{"name": "own", "entry": "judge.sh"}]
    )
    (task / "judge.sh").write_text("#!/bin/sh\nexit 9\n")
    done = site.document("run", "t", code=1)
    (task / "judge.sh").write_text("#!/bin/sh\necho '{\"score\": 1}'\n")
    again = site.document(*done["hint"].removeprefix("uwf eval ").split())
    assert again["states"] == {"scored": 1}
    assert paid.read_text().count("x") == 1
