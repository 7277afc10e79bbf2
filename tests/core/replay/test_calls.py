"""A thread that calls others replays with them: each call is as good as all that was done in it."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from tests.core.calling import (
    ACCEPTED,
    GOOD,
    INNER,
    OUTER,
    PLANNED,
    REFUSED,
    WRITTEN,
    calling_project,
    child_of,
    children,
    said,
)

from uwf_core.client import Client
from uwf_core.testing.project import Project

TWICE = [PLANNED, WRITTEN, said("writer", "written", text="violets"), GOOD, REFUSED, ACCEPTED]
CHECKS_ALL = ("inner", "goal: Check it.", "goal: Check all.")
FAILED = {"fail": {"kind": "crashed", "message": "no"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return calling_project(tmp_path)


def run(uwf: Client) -> str:
    root = uwf.start("outer", "Make a poem.")["thread"]
    outcome = uwf.exec(root, until_done=True)
    assert outcome.document["status"] == "completed", outcome.document
    return root


def rows(found: Any) -> list[tuple[str, str, str]]:
    return [(each["path"], each["kind"], each["verdict"]) for each in found["steps"]]


def paths(found: Any) -> list[str]:
    return [each["path"] for each in found["steps"]]


def edited(project: Project, *edits: tuple[str, str, str]) -> str:
    """The file of a changed workflow beside the one that it calls; an edit is a name and texts."""
    folder = project.folder / "draft"
    folder.mkdir(exist_ok=True)
    texts = {"inner": INNER, "outer": OUTER.replace("inner", "./inner.yaml")}
    for name, old, new in edits:
        assert old in texts[name]
        texts[name] = texts[name].replace(old, new)
    for name, text in texts.items():
        (folder / f"{name}.yaml").write_text(text, "utf-8")
    return str(folder / "outer.yaml")


def test_a_call_is_replayed_with_the_steps_of_the_thread_that_it_called(uwf: Client) -> None:
    root = run(uwf)
    found = uwf.replay(root)
    assert found["verdict"] == "same", found["first"]
    assert paths(found) == ["planner", "work", "work/writer", "work/checker", "judge"]
    child = child_of(uwf, root)
    assert [each["thread"] for each in found["steps"]] == [root, root, child, child, root]
    assert found["counts"]["same"] == 5


def test_a_role_that_calls_again_replays_each_call_with_its_own_steps(
    project: Project, uwf: Client
) -> None:
    project.script(TWICE, by_role=True)
    root = run(uwf)
    found = uwf.replay(root)
    assert found["verdict"] == "same", found["first"]
    below = ["work", "work/writer", "work/checker", "judge"]
    assert paths(found) == ["planner", *below, *below]


def test_a_called_thread_replays_alone(project: Project, uwf: Client) -> None:
    project.script(TWICE, by_role=True)
    child = child_of(uwf, run(uwf))
    found = uwf.replay(child)
    assert rows(found) == [(role, "step", "same") for role in ("writer", "checker") * 2]


def test_a_copy_of_a_called_thread_that_a_person_forked_replays(
    project: Project, uwf: Client
) -> None:
    project.script(TWICE, by_role=True)
    child = child_of(uwf, run(uwf))
    for step in uwf.steps(child)[1:]:
        fork = uwf.fork(step["step"])["thread"]
        if uwf.show(fork)["status"] != "completed":
            uwf.exec(fork)
        assert uwf.replay(fork)["verdict"] == "same", uwf.replay(fork)["first"]


def test_an_open_call_is_replayed_as_far_as_it_goes(uwf: Client) -> None:
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, count=2)
    assert rows(uwf.replay(root)) == [
        ("planner", "step", "same"),
        ("work", "calling", "same"),
        ("work/writer", "step", "same"),
    ]


def test_failures_and_a_cancelled_call_are_replayed(project: Project, uwf: Client) -> None:
    failing = {**WRITTEN, "outputs": [FAILED, WRITTEN["output"]]}
    del failing["output"]
    project.script([PLANNED, failing, GOOD, WRITTEN, ACCEPTED], by_role=True)
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, until_done=True)
    uwf.exec(root)
    [child] = children(uwf, root)
    uwf.cancel(child)
    for _ in range(3):  # the attempt of the call, and those of the next one
        uwf.exec(root, until_done=True)
    found = uwf.replay(root)
    assert uwf.show(root)["status"] == "completed", uwf.show(root)
    assert found["verdict"] == "same", found["first"]
    assert [(path, kind) for path, kind, _ in rows(found)][1:5] == [
        ("work", "failed"),
        ("work/writer", "failed"),
        ("work/writer", "step"),
        ("work", "step"),
    ]


def test_what_a_person_says_in_and_of_a_call_is_replayed(project: Project, uwf: Client) -> None:
    asking = {**WRITTEN, "question": {"message": "Which?", "form": {"properties": {}}}}
    project.script([PLANNED, asking, GOOD, WRITTEN, GOOD, ACCEPTED], by_role=True)
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, until_done=True)
    uwf.resume(root, "blue", answer="{}")
    uwf.exec(root)
    assert [row["role"] for row in uwf.steps(root)] == ["$START", "planner", "work"]
    uwf.poke(root, "Make it longer.")
    uwf.exec(root, until_done=True)
    found = uwf.replay(root)
    assert found["verdict"] == "same", found["first"]
    assert ("work", "replaced", "same") in rows(found)


def test_a_fork_replays_its_copy_of_a_called_thread(project: Project, uwf: Client) -> None:
    project.script(TWICE, by_role=True)
    root = run(uwf)
    fork = uwf.fork(uwf.steps(root)[3]["step"])["thread"]
    uwf.exec(fork, until_done=True)
    assert uwf.show(fork)["status"] == "completed"
    found = uwf.replay(fork)
    assert found["verdict"] == "same", found["first"]
    assert len({each["thread"] for each in found["steps"]}) == 3
    steps = [each["step"] for each in found["steps"]]
    assert len(set(steps)) == len(steps), "the steps that the copy shares are shown once"
    uwf.remove(root)
    assert uwf.replay(fork)["verdict"] == "same", uwf.replay(fork)["first"]


def test_another_prompt_of_the_call_makes_the_steps_below_stale(
    project: Project, uwf: Client
) -> None:
    root = run(uwf)
    file = edited(project, ("outer", "Do this:", "Do that:"))
    found = uwf.replay(root, file)
    assert [verdict for *_, verdict in rows(found)] == ["same", *["stale"] * 4]
    first = found["first"]
    assert first is not None
    assert (first["path"], first["causes"][0]["path"]) == ("work", "graph.planner.planned.prompt")
    below = found["steps"][2]
    assert [each["part"] for each in below["differences"]] == ["prompt"]
    assert below["causes"] == first["causes"], "its task is the prompt of the call"


def test_another_version_of_the_called_workflow_is_replayed_below(
    project: Project, uwf: Client
) -> None:
    root = run(uwf)
    file = edited(project, CHECKS_ALL)
    found = uwf.replay(root, file)
    assert rows(found)[1:] == [
        ("work", "step", "stale"),
        ("work/writer", "step", "same"),
        ("work/checker", "step", "stale"),
        ("judge", "step", "stale"),
    ]
    first = found["first"]
    assert first is not None
    assert first["path"] == "work/checker"
    [cause] = first["causes"]
    assert (cause["workflowName"], cause["path"]) == ("inner", "roles.checker.goal")
    assert str(cause["file"]).endswith("draft/inner.yaml")
    assert cause["line"] == 10


def test_another_route_below_makes_the_call_different(project: Project, uwf: Client) -> None:
    root = run(uwf)
    file = edited(
        project,
        ("inner", "good: {role: $END, prompt: Done.}", "good: {role: writer, prompt: More.}"),
        (
            "inner",
            'bad: {role: writer, prompt: "Fix: {{{why}}}"}',
            "bad: {role: $END, prompt: No.}",
        ),
        (
            "outer",
            'good: {role: judge, prompt: "Judge: {{{text}}}"}',
            'bad: {role: judge, prompt: "{{{why}}} {{{_body}}}!"}',
        ),
    )
    found = uwf.replay(root, file)
    assert rows(found)[1:] == [
        ("work", "step", "different"),
        ("work/writer", "step", "same"),
        ("work/checker", "step", "different"),
        ("judge", "step", "unreachable"),
    ]
    assert found["first"]
    assert found["first"]["path"] == "work"


def test_another_route_of_the_result_is_a_difference_of_the_call(
    project: Project, uwf: Client
) -> None:
    root = run(uwf)
    old, refused = 'good: {role: judge, prompt: "Judge: {{{text}}}"}', (
        "outer", "hopeless: {role: $END, prompt: No way.}", "hopeless: {role: judge, prompt: No.}"
    )  # fmt: skip
    file = edited(
        project, ("outer", old, 'good: {role: planner, prompt: "Plan {{{text}}}"}'), refused
    )
    found = uwf.replay(root, file)
    assert [verdict for *_, verdict in rows(found)] == [
        "same", "different", "same", "same", "unreachable"
    ]  # fmt: skip
    assert found["first"]
    assert [each["part"] for each in found["first"]["differences"]] == ["route"]


def test_a_role_that_an_agent_plays_now_makes_no_call(project: Project, uwf: Client) -> None:
    root = run(uwf)
    agent = """goal: Do it all.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: good}, text: {type: string}}, required: [$status, text]}
        - {properties: {$status: {const: hopeless}}, required: [$status]}"""
    file = edited(project, ("outer", "workflow: ./inner.yaml", agent))
    found = uwf.replay(root, file)
    assert [verdict for *_, verdict in rows(found)] == ["same", "different", *["unreachable"] * 3]


def test_live_runs_a_call_with_a_change_below_again_as_a_whole(
    project: Project, uwf: Client
) -> None:
    root = run(uwf)
    file = edited(project, CHECKS_ALL)
    done = project.uwf("replay", root, "--workflow", file, "--live")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done.stderr
    assert [each["role"] for each in done.document["steps"]] == ["writer", "checker", "judge"]
    fork = done.document["thread"]
    assert uwf.steps(fork)[1]["step"] == uwf.steps(root)[1]["step"]
    assert uwf.replay(fork)["verdict"] == "same"


def test_live_of_a_called_thread_continues_in_a_thread_of_its_own(
    project: Project, uwf: Client
) -> None:
    child = child_of(uwf, run(uwf))
    edited(project, CHECKS_ALL)
    file = str(project.folder / "draft" / "inner.yaml")
    done = project.uwf("replay", child, "--workflow", file, "--live")
    assert [each["role"] for each in done.document["steps"]] == ["checker"], done.stderr
    assert done.document["thread"] != child


def test_from_names_a_step_of_the_thread_itself(project: Project, uwf: Client) -> None:
    root = run(uwf)
    step = uwf.steps(child_of(uwf, root))[1]["step"]
    refused = project.uwf("replay", root, "--live", "--from", step)
    assert refused.exit_code == 2
    assert "is not a step of thread" in refused.error["message"]


def test_the_text_and_junit_name_the_steps_of_called_threads(project: Project, uwf: Client) -> None:
    root = run(uwf)
    file = edited(project, CHECKS_ALL)
    text = project.uwf("replay", root, "--workflow", file, "--format", "text").stdout
    assert "step 2 (work/checker, " in text
    junit = project.uwf("replay", root, "--workflow", file, "--format", "junit").stdout
    [suite] = ElementTree.fromstring(junit).findall("testsuite")
    assert (suite.get("tests"), suite.get("failures")) == ("5", "3")
    names = [str(case.get("name")).rpartition(" ")[0] for case in suite.findall("testcase")]
    assert names == ["1 planner", "2 work", "1 work/writer", "2 work/checker", "3 judge"]


def test_each_step_of_a_called_thread_is_a_test_of_its_own(
    project: Project, uwf: Client, tmp_path: Path
) -> None:
    uwf.export_thread(run(uwf), tmp_path / "one.thread")
    words = [sys.executable, "-m", "pytest", "-v", "-p", "uwf_core.replay.pytest"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        words, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "one.thread::1 work/writer PASSED" in done.stdout
    assert "5 passed" in done.stdout


def test_a_step_that_does_not_record_what_its_call_delivered_is_different(uwf: Client) -> None:
    root = uwf.start("outer", "Make a poem.")["thread"]
    uwf.exec(root, count=3)
    engine = uwf._engine
    head = engine.store.variable(f"@uwf/thread/{root}")
    assert head is not None
    step = uwf.node(head.value)["payload"]
    output = engine.store.payload(step["output"])
    schema = engine.store.get(step["output"]).type
    with engine.store.transaction():
        forged = engine.store.put(schema, {**output, "text": "thistles"})
        ref = engine.nodes.put("step", {**step, "output": forged})
        engine.store.set_variable(head.name, ref, head.tags, head)
    found = uwf.replay(root)
    assert rows(found)[1] == ("work", "step", "different")
    [difference] = found["steps"][1]["differences"]
    assert "thistles" in difference["recorded"]
    assert "roses are red" in difference["now"]


def test_a_called_thread_that_names_another_call_makes_the_call_different(uwf: Client) -> None:
    root = run(uwf)
    engine, child = uwf._engine, child_of(uwf, root)
    events = engine.store.variables(f"@uwf/event/{child}/")
    [called] = [each for each in events if each.name.endswith(".called")]
    node = engine.store.payload(called.value)
    with engine.store.transaction():
        ref = engine.nodes.put("called", {**node, "number": 9})
        engine.store.set_variable(called.name, ref, {}, called)
    found = uwf.replay(root)
    assert rows(found)[1] == ("work", "step", "different")
    [difference] = found["steps"][1]["differences"]
    assert difference["now"] == f"{ref} is of another call: number"
