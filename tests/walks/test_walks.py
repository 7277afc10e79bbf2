"""A part of the walks, and that they notice what the check would have missed."""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from tests.forms import form
from tests.walks.__main__ import walked
from tests.walks.walk import Doubts, Unsound, Walk, Workflows

from uwf_core.cas.store import Store
from uwf_core.stores.memory import open_memory
from uwf_core.workflow.check import check_text
from uwf_core.workflow.publish import publish

WORKFLOWS = form(short=20, long=200)


def test_no_walk_through_a_checked_workflow_fails() -> None:
    """The long form is `nox -s walks`; its table is in docs/explanation/types.md."""
    counts, wrong = walked(seed=18, workflows=WORKFLOWS, walks=50 * WORKFLOWS)
    assert wrong == []
    assert counts["walks"] == 50 * WORKFLOWS
    for reached in (
        "steps",
        "calls",
        "fan-outs",
        "branches",
        "ended",
        "suspended",
        "texts with steps",
    ):
        assert counts[reached] > 100, counts


WORKFLOW: dict[str, Any] = {
    "version": 1,
    "name": "w",
    "roles": {
        "a": {
            "goal": "g",
            "frontmatter": {
                "oneOf": [
                    {
                        "properties": {"$status": {"const": "x"}, "note": {"type": "string"}},
                        "required": ["$status"],
                    },
                    {"properties": {"$status": {"const": "y"}}, "required": ["$status"]},
                ]
            },
        }
    },
    "graph": {
        "$START": {
            "new": {"role": "a", "prompt": "Go."},
            "resume": {"role": "a", "prompt": "Go on."},
        },
        "a": {"x": {"role": "a", "prompt": "Go."}, "y": {"role": "$END", "prompt": "Done."}},
    },
}


@pytest.mark.parametrize(
    ("prompt", "status", "message"),
    [
        ("{{#note}}Fix it.{{/note}}", "y", "renders blank"),
        ("Fix {{note}}.", "y", "'note' has no value"),
        ("Go.", "z", "unknown status 'y'"),
    ],
)
def test_a_walk_notices_what_a_check_would_have_to_find(
    prompt: str, status: str, message: str
) -> None:
    store = Store(open_memory("memory:", ""), lambda: 0)
    known = Workflows(store, {"w": Doubts()}, Random(1))
    definition = known.definition(publish(store, check_text(json.dumps(WORKFLOW), "w").require()))
    edges = definition.graph["a"]
    edges["x"] = edges["x"]._replace(prompt=prompt)
    edges[status] = edges.pop("y")
    with pytest.raises(Unsound, match=message):
        for _ in range(200):
            Walk(known, Random(_), Counter()).run(definition)


def test_the_files_of_a_seed_are_always_the_same() -> None:
    from tests.walks.files import random_files

    assert random_files(Random(7)) == random_files(Random(7))
