"""`uwf-eval compare` on runs in a store."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from compare_kit import A, B, saved_run, trials

from uwf_core.client import Client
from uwf_core.errors import UsageError
from uwf_core.testing.project import Project
from uwf_eval.compare.pairs import select
from uwf_eval.records import Trial
from uwf_eval.store.results import Results

MATRIX = "01K9ZZZZZZ0000000000000003"
LOW, HIGH = [[0.0, 0.5]] * 4 + [[0.5, 0.5]] * 4, [[1.0, 0.5]] * 4 + [[1.0, 1.0]] * 4
Answer = tuple[int, str, str]


def matrix() -> list[Trial]:
    """One run: each task by two agents, one of which is the configured one."""
    sides = ((None, "3F2AAAAAAAAAA", LOW), ("hermes", "3F2BBBBBBBBBB", HIGH))
    cells = [
        replace(each, cell=replace(each.cell, agent=agent, workflow=workflow))
        for agent, workflow, scores in sides
        for each in trials(MATRIX, scores)
    ]  # fmt: skip
    return [replace(each, number=number) for number, each in enumerate(cells, start=1)]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A store with three runs: baseline, careful, and a matrix of agents."""
    made = Project(tmp_path_factory.mktemp("compare"))
    with Client.open(home=made.home, cwd=made.folder, env=made.env) as client:
        results = Results(client)
        sides = ((A, "baseline", trials(A, LOW)), (B, "careful", trials(B, HIGH)))
        for run, name, some in (*sides, (MATRIX, "matrix", matrix())):
            results.save_run(saved_run(run, name, len(some)))
            numbered = [replace(each, number=n) for n, each in enumerate(some, start=1)]
            results.save_trials(numbered)
    return made


@pytest.fixture
def compare(
    project: Project, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Answer]]:
    """`uwf-eval compare` in this process: its exit code and what it printed."""
    from uwf_core.commands import main
    from uwf_eval.cli.main import root

    for name in [each for each in os.environ if each.startswith("UWF_")]:
        monkeypatch.delenv(name)
    for name, value in project.env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(project.folder)
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def run(*words: str) -> Answer:
        capfd.readouterr()
        code = main(("compare", *words), make_root=lambda: root("uwf-eval"))
        return (code, *capfd.readouterr())

    yield run
    for number, handler in before.items():
        signal.signal(number, handler)


def test_two_runs_are_compared_and_the_document_has_the_verdict(compare: Any) -> None:
    code, out, _ = compare("baseline", "careful")
    document = json.loads(out)
    assert (code, document["verdict"]) == (0, "better")
    assert document["names"] == [f"{A} baseline", f"{B} careful"]
    assert document["tested"][0]["interval"]["low"] > 0
    assert [each["metric"] for each in document["beside"]] == [
        "passed", "cost", "tokens", "duration"
    ]  # fmt: skip


def test_the_exit_code_is_0_whatever_the_verdict_unless_asked_otherwise(compare: Any) -> None:
    assert compare("careful", "baseline")[0] == 0
    assert compare("careful", "baseline", "--fail-if", "worse")[0] == 1
    assert compare("baseline", "careful", "--fail-if", "worse")[0] == 0
    assert compare("careful", "careful", "--fail-if", "worse", "--fail-if", "cannot_tell")[0] == 1
    metrics = ("--metric", "cost", "--metric", "score")
    assert compare("careful", "baseline", *metrics, "--fail-if", "worse")[0] == 1


def test_text_and_markdown_are_there_for_people(compare: Any) -> None:
    assert "B is better: score of A" in compare(A, B, "--format", "text")[1]
    assert compare(A, B, "--format", "markdown")[1].startswith("# Comparison\n")


def test_agents_and_workflows_of_one_run_are_compared_with_by(compare: Any) -> None:
    code, out, _ = compare("configured", "hermes", "--by", "agent", "--run", "matrix")
    document = json.loads(out)
    assert code == 0
    assert document["names"][1] == f"hermes in {MATRIX} matrix"
    # The agents ran other workflows: what is to be alike is not.
    assert {each["reason"] for each in document["leftOut"]} == {"unpaired"}
    code, out, err = compare("solve", "hermes", "--by", "workflow", "--run", "matrix")
    assert code == 2
    assert "matches several workflows" in err


def test_what_does_not_exist_or_makes_no_sense_is_an_error_of_use(compare: Any) -> None:
    for words, told in (
        (("nowhere", "careful"), "unknown run 'nowhere'"),
        (("baseline", "careful", "--metric", "beauty"), "beauty"),
        (("baseline", "careful", "--within", "-1"), "--within"),
        (("baseline", "careful", "--level", "1"), "--level"),
        (("baseline", "careful", "--level", "nan"), "not a number"),
        (("baseline", "careful", "--within", "nan"), "not a number"),
        (("baseline", "careful", "--within", "1e15"), "within must be between"),
        (("baseline", "careful", "--run", "matrix"), "--run needs --by"),
        (("baseline",), "B"),
        (("a", "hermes", "--by", "agent", "--run", "matrix"), "configured, hermes"),
    ):
        code, out, err = compare(*words)
        assert (code, out) == (2, "")
        assert told in err


def test_parts_of_a_run_are_meant_by_the_words_that_people_use() -> None:
    run = matrix()
    assert {each.cell.agent for each in select(run, "agent", "hermes")} == {"hermes"}
    assert {each.cell.agent for each in select(run, "agent", "configured")} == {None}
    assert len(select(run, "model", "configured")) == len(run)
    for word in ("solve@3F2A", "3F2A", "3F2AAAAAAAAAA"):
        assert {each.cell.workflow for each in select(run, "workflow", word)} == {"3F2AAAAAAAAAA"}
    for word in ("3F2", "other", "solve@", "solve"):
        with pytest.raises(UsageError):
            select(run, "workflow", word)
    with pytest.raises(UsageError, match="no agent"):
        select([], "agent", "hermes")


def test_the_command_is_found_by_both_its_names(project: Project, tmp_path: Path) -> None:
    outcome = project.uwf("eval", "compare", "baseline", "careful", "--within", "0.5")
    assert outcome.exit_code == 0
    assert outcome.document["within"] == 0.5
