"""The bound of a workflow: `workflow check --bound` and `workflow show`."""

import json
from itertools import islice
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.core.workflow.fan_outs import FAN
from tests.core.workflow.walks import bound, every_walk, random_walk, workflows

from uwf_core.workflow.check import check_text
from uwf_core.yaml.source import parse_yaml


@given(workflow=workflows(), seeds=st.lists(st.integers(0, 2**32), min_size=20, max_size=20))
def test_no_run_takes_more_than_its_bound(workflow: dict[str, Any], seeds: list[int]) -> None:
    found = bound(workflow)
    for seed in seeds:
        walk = random_walk(workflow, seed)
        assert found.agent_calls is None or walk.agent_calls <= found.agent_calls
        assert found.steps is None or walk.steps <= found.steps
        assert found.attempts is None or walk.attempts <= found.attempts
    assert bool(found.cycle) == (found.steps is None)


@given(
    workflow=workflows(branching=True),
    seeds=st.lists(st.integers(0, 2**32), min_size=20, max_size=20),
)
def test_no_run_with_branches_takes_more_than_its_bound(
    workflow: dict[str, Any], seeds: list[int]
) -> None:
    found = bound(workflow)
    for seed in seeds:
        walk = random_walk(workflow, seed)
        assert found.agent_calls is None or walk.agent_calls <= found.agent_calls
        assert found.steps is None or walk.steps <= found.steps
        assert found.attempts is None or walk.attempts <= found.attempts
    assert bool(found.cycle or found.open_list) == (found.steps is None)


@given(workflow=workflows(forward=True, limited=False))
def test_a_graph_without_cycles_reaches_its_bound(workflow: dict[str, Any]) -> None:
    walks = list(islice(every_walk(workflow), 400))
    assume(len(walks) < 400)
    found = bound(workflow)
    assert found.steps == max(walk.steps for walk in walks)
    assert found.agent_calls == max(walk.agent_calls for walk in walks)
    assert found.attempts == max(walk.attempts for walk in walks)


@given(workflow=workflows(forward=True, limited=False), most=st.integers(1, 5))
def test_a_limit_at_the_top_is_reached_exactly(workflow: dict[str, Any], most: int) -> None:
    workflow["limits"] = {"maxSteps": most}
    assume(not any(role["workflow"] == "$SELF" for role in workflow["roles"].values()))
    walks = list(islice(every_walk(workflow), 400))
    assume(len(walks) < 400)
    assert bound(workflow).steps == max(walk.steps for walk in walks)


def loop(limits: dict[str, dict[str, int]], most: int | None = None) -> dict[str, Any]:
    """A developer and a reviewer, each with limits."""
    leaf = {"workflow": None, "program": None, "human": False}
    none = {"maxSteps": None, "maxVisits": None}
    graph = {
        "$START": {"new": "developer", "resume": "developer"},
        "developer": {"done": "reviewer"},
        "reviewer": {"good": "$END", "bad": "developer"},
    }
    return {
        "limits": {"maxSteps": most},
        "roles": {
            name: {**leaf, "limits": {**none, **limits.get(name, {})}}
            for name in ("developer", "reviewer")
        },
        "graph": {
            name: {status: {"role": role, "limits": None} for status, role in edges.items()}
            for name, edges in graph.items()
        },
    }


@pytest.mark.parametrize(
    ("limits", "most", "words"),
    [
        ({}, None, "unbounded: reviewer -> developer"),
        ({}, 7, "at most 7 agent calls"),
        ({"reviewer": {"maxVisits": 2}}, None, "at most 5 agent calls"),
        ({"reviewer": {"maxSteps": 2}}, None, "at most 5 agent calls"),
        ({"developer": {"maxVisits": 3}}, None, "at most 6 agent calls"),
        ({"developer": {"maxVisits": 99}, "reviewer": {"maxVisits": 2}}, None,
         "at most 5 agent calls"),
    ],
)  # fmt: skip
def test_a_loop_is_bounded_by_its_scarcest_role(limits: Any, most: int | None, words: str) -> None:
    assert bound(loop(limits, most)).words() == words


@pytest.mark.parametrize(
    ("target", "limits", "words"),
    [
        ("$END", {}, "at most 8 agent calls"),
        ("developer", {}, "unbounded: developer -> developer"),
        ("developer", {"developer": {"maxVisits": 3}}, "at most 6 agent calls"),
    ],
)
def test_failing_visits_are_no_steps_for_a_limit(target: str, limits: Any, words: str) -> None:
    workflow = loop(limits, 7)
    workflow["graph"]["developer"]["$failed"] = {"role": target, "limits": None}
    assert bound(workflow).words() == words


def test_steps_of_persons_are_no_agent_calls() -> None:
    workflow = loop({"reviewer": {"maxVisits": 2}})
    workflow["roles"]["reviewer"]["human"] = True
    assert bound(workflow).words() == "at most 3 agent calls (5 steps)"
    workflow["roles"]["reviewer"]["limits"]["maxVisits"] = None
    assert bound(workflow).words() == "unbounded: reviewer -> developer"
    workflow["roles"]["developer"]["human"] = True
    assert (
        bound(workflow).words() == "at most 0 agent calls; steps unbounded: reviewer -> developer"
    )


def test_a_called_workflow_counts_in_each_call_and_a_call_has_limits() -> None:
    """A cycle below is named with the roles that lead to it."""
    parent, child = loop({"developer": {"maxVisits": 2}}), loop({})
    parent["roles"]["developer"]["workflow"] = child
    assert bound(parent).cycle == ("developer/reviewer", "developer/developer")
    parent["graph"]["$START"]["new"]["limits"] = {"maxSteps": 4}
    assert bound(parent).agent_calls is None  # the edge of the reviewer has none
    parent["graph"]["reviewer"]["bad"]["limits"] = {"maxSteps": 6}
    # The result of the child has another status than the edge: the first call suspends.
    assert bound(parent).agent_calls == 6
    parent["graph"]["developer"] = {"good": {"role": "reviewer", "limits": None}}
    assert bound(parent).agent_calls == 2 * 6 + 2
    child["limits"] = {"maxSteps": 5}
    assert bound(parent).agent_calls == 5 + 2


def test_a_workflow_calls_itself_as_deep_as_the_configuration_allows() -> None:
    workflow = loop({"reviewer": {"maxVisits": 1}})
    workflow["roles"]["developer"]["workflow"] = "$SELF"
    workflow["graph"]["developer"] = {"good": {"role": "reviewer", "limits": None}}
    workflow["graph"]["$START"]["new"]["role"] = "reviewer"
    assert [bound(workflow, depth).agent_calls for depth in (0, 1, 2)] == [1, 2, 3]


def test_a_fan_out_counts_the_sum_of_its_branches() -> None:
    file = parse_yaml(FAN, file="fan.yaml")

    def words() -> str:
        return bound(check_text(json.dumps(file), "fan.yaml").require()).words()

    planned = file["graph"]["planner"]["planned"]
    planned["then"]["$mixed"]["role"] = "$END"
    assert words() == "unbounded: planner/planned (a list without maxItems)"
    tasks = file["roles"]["planner"]["frontmatter"]["oneOf"][0]["properties"]["tasks"]
    tasks["maxItems"] = 7
    assert words() == "at most 8 agent calls"
    file["roles"]["worker"]["limits"] = {"maxSteps": 3}
    assert words() == "at most 4 agent calls"
    tasks["maxItems"] = 1
    assert words() == "at most 2 agent calls (3 steps)"  # a person is in the other fan-out
    planned["then"]["$mixed"]["role"] = "planner"
    assert words() == "unbounded: planner/planned -> planner"
    tasks["minItems"] = 1  # cancelled at the limit of the worker, the branches give `$mixed`
    del planned["then"]["$empty"]
    assert words() == "unbounded: planner/planned -> planner"
    file["roles"]["planner"]["limits"] = {"maxVisits": 5}
    assert words() == "at most 9 agent calls (10 steps)"


def test_the_list_without_a_bound_is_named_by_its_path() -> None:
    checked = check_text(FAN.replace("$mixed: {role: planner", "$mixed: {role: $END"), "fan.yaml")
    parent = loop({"developer": {"maxVisits": 2}})
    parent["roles"]["developer"]["workflow"] = checked.require()
    assert bound(parent)[:4] == (None, None, (), "developer/planner/planned")


def _table(edges: str, limits: str = "", *, roles: str = "ab") -> dict[str, Any]:
    """The completed mapping of a graph as `a>b` or `a>$END`, with limits of roles as `a=3`."""
    most = dict(each.split("=") for each in limits.split())
    graph: dict[str, dict[str, Any]] = {name: {} for name in roles}
    for number, edge in enumerate(edges.split()):
        source, target = edge.split(">")
        graph[source][f"s{number}"] = {"role": target, "prompt": "x"}
    begin = {"role": roles[0], "prompt": "x"}
    return check_text(
        json.dumps(
            {
                "version": 1,
                "name": "w",
                **({"limits": {"maxSteps": int(most.pop("all"))}} if "all" in most else {}),
                "roles": {
                    name: {
                        "goal": "g",
                        **({"limits": {"maxVisits": int(most[name])}} if name in most else {}),
                        "frontmatter": {
                            "oneOf": [
                                {"properties": {"$status": {"const": s}}, "required": ["$status"]}
                                for s in graph[name]
                            ]
                        },
                    }
                    for name in roles
                },
                "graph": {"$START": {"new": begin, "resume": begin}, **graph},
            }
        ),
        "w.yaml",
    ).require()


@pytest.mark.parametrize(
    ("edges", "limits", "most"),
    [
        ("a>$END", "", 1),
        ("a>b b>$END", "", 2),
        ("a>b a>$END b>$END", "", 2),
        ("a>b a>c b>$END c>$END", "", 2),
        ("a>b b>c c>$END", "", 3),
        ("a>b a>c b>d c>d d>$END", "", 3),
        ("a>b a>c b>c c>$END", "", 3),
        ("a>b b>c c>d d>$END a>d", "", 4),
        ("a>a a>$END", "", None),
        ("a>a a>$END", "a=5", 5),
        ("a>b b>a b>$END", "", None),
        ("a>b b>a b>$END", "b=3", 7),
        ("a>b b>a b>$END", "a=3", 6),
        ("a>b b>a b>$END", "a=2 b=5", 4),
        ("a>b b>a b>$END", "all=10", 10),
        ("a>b b>b b>c c>$END", "b=4", 6),
        ("a>b b>c c>b c>$END", "c=2", 6),
        ("a>b b>c c>a c>$END", "", None),
        ("a>b b>c c>a c>$END", "a=2", 6),
        ("a>b b>$SUSPEND b>$END", "", 2),  # a suspension ends the run
    ],
)
def test_the_bound_of_a_table_of_graphs(edges: str, limits: str, most: int | None) -> None:
    names = "".join(sorted({each for each in edges if each in "abcd"}))
    assert bound(_table(edges, limits, roles=names)).agent_calls == most
