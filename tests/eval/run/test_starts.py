"""What a run needs before its first trial: valid workflows, input, programs that are allowed."""

import json
from typing import Any

from uwf_core.client import Client

INPUT = """\
input:
  type: object
  properties: {level: {type: integer}}
  required: [level]
"""
PROGRAM = """\
version: 1
name: flow
roles:
  test:
    program: {argv: [sh, -c, "touch ran; exit $LEVEL"], statuses: {0: done, 1: broken}}
    frontmatter:
      oneOf:
        - {properties: {$status: {const: done}}, required: [$status]}
        - {properties: {$status: {const: broken}}, required: [$status]}
graph:
  $START:
    new: {role: test, prompt: Begin.}
    resume: {role: test, prompt: Again.}
  test:
    done: {role: $END, prompt: Done.}
    broken: {role: $END, prompt: Broken.}
"""
RAN = {"name": "ran", "builtin": "command", "options": {"run": "test -e ran"}}
CALLER = """\
version: 1
name: caller
roles:
  inner: {workflow: ./flow.yaml}
graph:
  $START:
    new: {role: inner, prompt: Begin.}
    resume: {role: inner, prompt: Again.}
  inner:
    done: {role: $END, prompt: Done.}
"""


def caller(site: Any, inner: str | None = None, **changes: Any) -> Any:
    """A task whose workflow calls `flow.yaml`."""
    folder = site.task(workflow="caller.yaml", **changes)
    (folder / "caller.yaml").write_text(CALLER)
    if inner is not None:
        (folder / "flow.yaml").write_text(inner)
    return folder


def refused(site: Any, *words: str) -> str:
    """The message of a command that ends before a run exists."""
    done = site.eval(*words)
    assert done.returncode in (2, 4), done.stderr
    assert not site.runs()
    return str(done.stdout + done.stderr)


def test_check_reports_a_missing_called_workflow_with_its_place(site: Any) -> None:
    folder = caller(site)
    assert site.document("check", "t")["valid"]
    (folder / "flow.yaml").unlink()
    [problem] = site.document("check", "t", code=4)["problems"]
    assert problem["file"].endswith("t/caller.yaml") and problem["line"] == 4
    assert "flow.yaml" in problem["message"]
    assert "flow.yaml" in refused(site, "run", "t")
    with Client.open(env=site.env) as client:
        assert not client.list()


def test_the_typed_input_of_a_task_is_checked_and_given_to_its_threads(site: Any) -> None:
    flow = (site.task() / "flow.yaml").read_text()
    goal = "goal: Deliver."
    flow = flow.replace("roles:", INPUT + "roles:").replace(goal, "goal: 'Level {{{input.level}}}'")
    cases = [{"name": "a", "prompt": "p"}, {"name": "b", "prompt": "p", "input": {"level": "x"}}]
    folder = site.task(cases=cases, prompt=None, input={"level": 3})
    task = json.loads((folder / "task.yaml").read_text())
    del task["prompt"]
    (folder / "flow.yaml").write_text(flow)
    (folder / "task.yaml").write_text(json.dumps(task))
    [problem] = site.document("check", "t", code=4)["problems"]
    assert problem["code"] == "bad-input" and "level" in problem["message"]
    nameless = {**task, "cases": [{"prompt": "p", "input": {"level": "x"}}]}
    (folder / "task.yaml").write_text(json.dumps(nameless, indent=1))
    found = site.document("check", "t", code=4)["problems"]
    [problem] = [each for each in found if each["code"] == "bad-input"]
    lines = (folder / "task.yaml").read_text().splitlines()
    assert "input" in lines[problem["line"] - 1] and problem["line"] > lines.index(' "cases": [')
    task["cases"][1]["input"] = {"level": 4}
    (folder / "task.yaml").write_text(json.dumps(task))
    site.document("run", "t")
    _, trials = site.stored()
    with Client.open(env=site.env, cwd=site.folder) as client:
        assert [client.show(each.thread)["input"] for each in trials] == [
            {"level": 3},
            {"level": 4},
        ]


def test_a_required_input_that_a_task_lacks_is_an_error_before_any_trial(site: Any) -> None:
    folder = site.task()
    flow = (folder / "flow.yaml").read_text()
    (folder / "flow.yaml").write_text(flow.replace("roles:", INPUT + "roles:"))
    [problem] = site.document("check", "t", code=4)["problems"]
    assert "requires the input level" in problem["message"]
    other = site.task("u")
    said = refused(site, "run", str(other), "--workflow", str(folder / "flow.yaml"))
    assert "requires the input level" in said and "input: of the task" in said


def test_a_role_that_a_person_plays_is_an_error_also_in_a_called_workflow(site: Any) -> None:
    folder = caller(site)
    flow = (folder / "flow.yaml").read_text()
    (folder / "flow.yaml").write_text(flow.replace("goal:", "human: true\n    goal:"))
    [problem] = site.document("check", "t", code=4)["problems"]
    assert problem["code"] == "workflow" and "a person plays flow/writer" in problem["message"]
    with Client.open(env=site.env, cwd=site.folder) as client:
        client.add_workflow(folder / "caller.yaml")
    site.task("u")
    assert "a person plays flow/writer" in refused(site, "run", "u", "--workflow", "caller")


def test_programs_run_where_the_user_trusts_the_folder_of_the_task(site: Any) -> None:
    site.task(env={"LEVEL": "0"}, judges=[RAN])
    (site.folder / "t" / "flow.yaml").write_text(PROGRAM)
    assert "are not allowed: flow runs for test: sh -c" in refused(site, "run", "t")
    site.trust(site.folder / "t")
    site.document("run", "t")
    _, [trial] = site.stored()
    assert (trial.state, trial.score) == ("scored", 1.0), trial
    assert [(step.role, step.status) for step in trial.steps] == [("test", "done")]


def test_programs_of_a_called_workflow_need_the_same_permission(site: Any) -> None:
    folder = caller(site, PROGRAM, env={"LEVEL": "0"}, judges=[RAN])
    with (folder / "caller.yaml").open("a") as file:
        file.write("    broken: {role: $END, prompt: Broken.}\n")
    assert "are not allowed: flow runs for test" in refused(site, "run", "t")
    with Client.open(env=site.env, cwd=site.folder) as client:
        client.add_workflow(folder / "caller.yaml", allow_programs=True)
    site.document("run", "t")
    _, [trial] = site.stored()
    assert (trial.state, trial.score) == ("scored", 1.0), trial
    assert [step.role for step in trial.steps] == ["inner/test"]
