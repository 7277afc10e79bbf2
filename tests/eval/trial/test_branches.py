"""A trial of a workflow with parallel branches: figures, judges, failures, limits."""

from typing import Any

import pytest
from tests.eval.trial.test_called_threads import informing, play

from uwf_core.client import Client, ThreadFilter

WHOLE = """\
version: 1
name: flow
roles:
  planner:
    goal: Plan it.
    frontmatter:
      properties: {$status: {const: planned}, parts: {type: array, items: {type: string}}}
      required: [$status, parts]
  writer:
    goal: Write a part.
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status, text]
  style:
    goal: Judge the style.
    frontmatter: &verdict
      properties: {$status: {const: good}}
      required: [$status]
  facts:
    goal: Judge the facts.
    frontmatter: *verdict
graph:
  $START:
    new: {role: planner, prompt: Plan.}
    resume: {role: planner, prompt: Plan again.}
  planner:
    planned:
      forEach: parts
      role: writer
      prompt: "Write {{{.}}}"
      shared: true
      then:
        written:
          role: merger
          prompt: "Merge:{{#results}} {{{text}}}{{/results}}"
        $mixed: {role: $END, prompt: Cancelled.}
        $empty: {role: $END, prompt: Nothing.}
  merger:
    written:
      parallel:
        style: {role: style, prompt: "Judge {{{text}}}"}
        facts: {role: facts, prompt: "Judge {{{text}}}"}
      shared: true
      then:
        good: {role: $END, prompt: Good.}
        $mixed: {role: $END, prompt: Cancelled.}
""".replace(
    "  style:\n    goal",
    """\
  merger:
    goal: Merge the parts.
    frontmatter:
      properties: {$status: {const: written}, text: {type: string}}
      required: [$status, text]
  style:
    goal""",
    1,
)
USAGE = "usage: {inputTokens: 10, costUsd: 1}"
PLAY = f"""\
byRole: true
steps:
  - {{role: planner, output: {{$status: planned, parts: [a, b, c]}}, {USAGE}}}
  - {{role: writer, output: {{$status: written, text: red}}, {USAGE}}}
  - {{role: merger, output: {{$status: written, text: all}}, {USAGE}}}
  - {{role: style, output: {{$status: good}}, {USAGE}}}
  - {{role: facts, output: {{$status: good}}, {USAGE}}}
"""
WRITERS = [f"planner/planned/{number}/writer" for number in range(3)]
LEAVES = [
    *("planner", *WRITERS, "merger"),
    *("merger/written/facts/facts", "merger/written/style/style"),
]


@pytest.fixture
def branched(table: Any) -> Any:
    """A task whose workflow has branches over a list, then two with names."""
    table.write("flow.yaml", WHOLE)
    table.write("play.yaml", PLAY)
    return table


def test_a_trial_counts_the_steps_and_the_usage_of_all_branches(branched: Any) -> None:
    judges = [informing("token-stats"), informing("frontmatter-compliance")]
    trial = play(branched, judges=judges)
    assert (trial.state, trial.failure) == ("scored", None), trial
    assert sorted(step.role for step in trial.steps) == sorted(LEAVES)
    assert (trial.usage.cost_usd, trial.usage.input_tokens) == (7, 70)
    stats, valid = trial.judges
    assert (stats.data["steps"], stats.data["inputTokens"], valid.score) == (7, 70, 1.0)
    with Client.open(env=branched.env) as main:
        every = main.list(ThreadFilter(all=True, children=True, trials=True))
        assert len(every) == 6, "the root and its branches are in the main store"


def test_a_route_can_name_a_fan_out_and_each_branch(branched: Any) -> None:
    above = ["planner", "planner/planned", "merger", "merger/written"]
    judges = [
        informing("expected-route", route=above),
        informing("expected-route", includes=[*WRITERS], atMost={WRITERS[0]: 1}),
    ]
    judges[1]["name"] = "branches"
    assert [each.score for each in play(branched, judges=judges).judges] == [1.0, 1.0]


@pytest.mark.parametrize("role", ["style", "facts"])
def test_a_branch_that_fails_fails_the_trial_and_the_others_count(branched: Any, role: str) -> None:
    bad = PLAY.replace(f"role: {role}, output: {{$status: good}}", f"role: {role}, output: {{}}")
    branched.write("play.yaml", bad)
    trial = play(branched)
    assert (trial.state, trial.failure.kind) == ("failed", "invalid_output")
    rest = [each for each in LEAVES if not each.endswith(f"/{role}")]
    assert sorted(step.role for step in trial.steps) == sorted(rest)


def test_a_limit_of_the_task_counts_the_steps_of_branches(branched: Any) -> None:
    trial = play(branched, limits={"maxSteps": 3})
    assert (trial.state, trial.failure.kind) == ("failed", "limit")
    assert [step.role for step in trial.steps] == LEAVES[:3]
    assert trial.usage.cost_usd == 3, "also of the branches that were not joined"
