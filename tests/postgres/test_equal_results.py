"""Workers and one process come to the same results, node for node."""

import json
from hashlib import sha256
from typing import Any

import pytest
from test_dispatch import DONE, TWO
from test_worker import Thread, wait

from uwf_core.client import Client
from uwf_core.testing.project import Project

OWN = {
    *("thread", "start"),  # the id of the thread, and its start, which names the time
    *("startedAtMs", "completedAtMs", "usage"),  # times and durations
    *("session", "mark", "detail"),  # the session of the agent, and its turns with their times
}
"""The fields of a step that say when and where it ran; all others are its result."""

STEPS = {"prev", "replaces", "ancestors"}
"""The fields with references of other steps: each is replaced by the result of that step."""


def result_of(uwf: Client, ref: str) -> str:
    """The hash of a step without what is its own, and of all steps that it refers to."""
    payload: dict[str, Any] = uwf.nodes.get(ref)
    if "edgePrompt" not in payload:
        return "start"
    kept = {name: each for name, each in payload.items() if name not in OWN}
    for name in STEPS & kept.keys():
        refs = kept[name]
        many = [result_of(uwf, each) for each in refs] if isinstance(refs, list) else None
        kept[name] = many if many is not None else refs and result_of(uwf, refs)
    return sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def results(uwf: Client, threads: list[str]) -> list[tuple[str, list[str]]]:
    """The state and the results of threads, in order."""
    return [
        (
            uwf.show(each)["status"],
            [result_of(uwf, row["step"]) for row in uwf.steps(each) if row["number"]],
        )
        for each in threads
    ]


@pytest.fixture
def project(tmp_path, workers_url) -> Project:
    made = Project(tmp_path)
    made.workflow("two", TWO)
    replies = [
        {"role": role, "output": DONE, "body": f"I am the {role}."}
        for role in ("planner", "writer")
    ]
    made.script(replies, by_role=True)
    return made


def test_threads_of_workers_have_the_results_of_one_process(project, workers_url):
    """Every reference of an output, prompt, text or workflow is the same, and so is the order of
    the steps, whichever of three workers ran which step.
    """
    with project.client() as uwf:
        alone = [uwf.start("two", f"Task {n}.")["thread"] for n in range(4)]
        for each in alone:
            uwf.exec(each, until_done=True)
        expected = results(uwf, alone)
    project.env["UWF_STORE"] = workers_url
    with project.client() as uwf:
        threads = [uwf.start("two", f"Task {n}.", queue=True)["thread"] for n in range(4)]
        workers = [Thread(project, job_seconds=0.0) for _ in range(3)]
        try:
            wait(lambda: all(uwf.show(each)["status"] == "completed" for each in threads))
        finally:
            ended = [each.drain() for each in workers]
        assert sum(each.steps for each in ended) == 8
        assert results(uwf, threads) == expected
    assert [len(steps) for _, steps in expected] == [2, 2, 2, 2]
