"""A trial of a workflow that calls another one: figures, judges, the stores, lists."""

from typing import Any

import pytest

from uwf_core.client import Client, ThreadFilter
from uwf_eval.judges.builtin.route import RouteOptions, conditions

INNER = """\
version: 1
name: inner
roles:
  writer:
    goal: Write it.
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status, text]
  checker:
    goal: Check it.
    frontmatter:
      properties: {$status: {const: good}, text: {type: string}}
      required: [$status, text]
graph:
  $START:
    new: {role: writer, prompt: Write the text.}
    resume: {role: writer, prompt: There is more to do.}
  writer:
    written: {role: checker, prompt: "Check: {{{text}}}"}
  checker:
    good: {role: $END, prompt: Done.}
"""
OUTER = """\
version: 1
name: flow
roles:
  planner:
    goal: Plan it.
    frontmatter:
      properties: {$status: {const: planned}, plan: {type: string}}
      required: [$status, plan]
  work:
    workflow: ./inner.yaml
  judge:
    goal: Judge it.
    frontmatter:
      oneOf:
        - {properties: {$status: {const: accepted}}, required: [$status]}
        - {properties: {$status: {const: refused}, why: {type: string}}, required: [$status, why]}
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    planned: {role: work, prompt: "Do this: {{{plan}}}"}
  work:
    good: {role: judge, prompt: "Judge: {{{text}}}"}
  judge:
    accepted: {role: $END, prompt: Accepted.}
    refused: {role: work, prompt: "Refused: {{{why}}}"}
"""
PLAY = """\
byRole: true
steps:
  - {role: planner, output: {$status: planned, plan: a poem}, usage: {inputTokens: 10, costUsd: 1}}
  - {role: writer, output: {$status: written, text: red}, usage: {inputTokens: 10, costUsd: 1}}
  - {role: writer, output: {$status: written, text: blue}, usage: {inputTokens: 10, costUsd: 1}}
  - {role: checker, output: {$status: good, text: red}, usage: {inputTokens: 10, costUsd: 1}}
  - {role: checker, output: {$status: good, text: blue}, usage: {inputTokens: 10, costUsd: 1}}
  - {role: judge, output: {$status: refused, why: dull}, usage: {inputTokens: 10, costUsd: 1}}
  - {role: judge, output: {$status: accepted}, usage: {inputTokens: 10, costUsd: 1}}
"""
ROUTE = [
    "planner", "work/writer", "work/checker", "work", "judge",
    "work/writer", "work/checker", "work", "judge",
]  # fmt: skip
LEAVES = [role for role in ROUTE if role != "work"]


@pytest.fixture
def called(table: Any) -> Any:
    """A task whose workflow calls another one twice."""
    table.write("inner.yaml", INNER)
    table.write("flow.yaml", OUTER)
    table.write("play.yaml", PLAY)
    return table


def play(table: Any, **changes: Any) -> Any:
    given = {"agent": "mock", "env": {"UWF_MOCK_SCRIPT": "./play.yaml"}, **changes}
    return table.trial(**given)


def informing(name: str, **options: Any) -> dict[str, Any]:
    return {"name": name, "builtin": name, "options": options}


def test_a_trial_reports_each_step_of_an_agent_once_with_its_path(called: Any) -> None:
    trial = play(called, judges=[informing("expected-route", route=ROUTE)])
    assert (trial.state, trial.score) == ("scored", 1.0), trial
    assert [step.role for step in trial.steps] == LEAVES
    assert (trial.usage.cost_usd, trial.usage.input_tokens) == (7, 70)
    assert sum(step.usage.cost_usd or 0 for step in trial.steps) == 7


def test_built_in_judges_count_the_steps_of_agents_in_all_threads(called: Any) -> None:
    judges = [
        informing("token-stats"),
        informing("frontmatter-compliance"),
        informing("cost", fullUsd=7, zeroUsd=7),
        informing("duration", zeroSeconds=60),
    ]
    trial = play(called, judges=judges)
    stats, valid, cost, duration = trial.judges
    assert (stats.data["steps"], stats.data["inputTokens"]) == (7, 70)
    assert {role: each["steps"] for role, each in stats.data["byRole"].items()} == {
        "planner": 1, "work/writer": 2, "work/checker": 2, "judge": 2,
    }  # fmt: skip
    assert (valid.data["steps"], valid.score) == (7, 1.0)
    assert (cost.score, duration.score) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("options", "score"),
    [
        (RouteOptions(route=["planner", "work", "judge", "work", "judge"]), 1),
        (RouteOptions(route=["planner", "...", "work/checker", "work", "judge"]), 1),
        (RouteOptions(route=["planner", "work/writer", "..."]), 1),
        (RouteOptions(route=["planner", "writer", "..."]), 0),
        (RouteOptions(includes=["work/writer"], at_most={"work/writer": 2}), 1),
        (RouteOptions(excludes=["work/writer"]), 0),
    ],
)
def test_a_route_counts_called_threads_as_deep_as_it_names_them(
    options: RouteOptions, score: int
) -> None:
    assert all(holds for _, holds in conditions(options, ROUTE)) is bool(score)


def test_a_judge_that_is_a_program_reads_the_called_threads(called: Any) -> None:
    called.write(
        "judge.py",
        "import json, sys\n"
        "from uwf_core.client import Client\n"
        "with Client.open() as uwf:\n"
        "    steps = list(uwf.thread(sys.argv[2]).steps())\n"
        "    child = uwf.thread(next(step.child for step in steps if step.child))\n"
        "    score = float([step.role for step in child.steps()] == ['writer', 'checker'] * 2)\n"
        "print(json.dumps({'score': score}))\n",
    )
    trial = play(called, judges=[{"name": "own", "entry": "judge.py"}])
    assert (trial.state, trial.score) == ("scored", 1.0), trial


def test_called_threads_of_trials_are_in_the_main_store_and_in_no_list(called: Any) -> None:
    trial = play(called, judges=[informing("expected-route", route=ROUTE)])
    with Client.open(env=called.env) as main:
        [child] = main.show(trial.thread)["children"]
        assert child["status"] == "completed" and main.read(child["thread"])
        assert not main.list(ThreadFilter(all=True, children=True))
        every = main.list(ThreadFilter(all=True, children=True, trials=True))
        assert {row["thread"] for row in every} == {trial.thread, child["thread"]}
        assert not main.verify()["problems"]


def test_a_limit_of_the_task_counts_the_steps_of_called_threads(called: Any) -> None:
    trial = play(called, limits={"maxSteps": 2})
    assert (trial.state, trial.failure.kind) == ("failed", "limit")
    assert [step.role for step in trial.steps] == LEAVES[:2]
    assert trial.usage.cost_usd == 2, "also of the call that did not end"


def test_a_failure_in_a_called_thread_is_the_failure_of_the_trial(called: Any) -> None:
    called.write("play.yaml", PLAY.replace("$status: good, text: blue", "$status: bad"))
    trial = play(called)
    assert (trial.state, trial.failure.kind) == ("failed", "invalid_output")
    assert [step.role for step in trial.steps] == LEAVES[:5]
