"""Workers and one process come to the same results, node for node."""

import json
from hashlib import sha256
from typing import Any

import pytest
from test_dispatch import CALLS, DONE, TWO
from test_worker import Thread, wait
from tests.core.engine.test_failed_calls import CALLER, FAILS, LEAF, roles
from tests.core.engine.test_failed_calls import script as failing_script

from uwf_core.client import Client
from uwf_core.testing.project import Project

OWN = {
    *("thread", "start"),  # the id of the thread, and its start, which names the time
    *("startedAtMs", "completedAtMs", "usage"),  # times and durations
    "usageByRole",  # the same of branches
    *("id", "mark", "detail"),  # the session of the agent, and its turns with their times
    *("session", "call", "attempt"),  # their fields stand beside those of the step
}
"""The fields of a step that say when and where it ran; all others are its result."""

STEPS = {"prev", "replaces", "ancestors", "child", "children"}
"""The fields with references of other steps: each is replaced by the result of that step."""

TEXTS = {"prompt", "instruction", "edgePrompt", "raw", "body", "said"}
"""The fields with texts, which can name threads. Each name is replaced by the thread's place."""


class Tree:
    """A thread and its branches. Their ids are replaced by their places: `root`, `root/one`."""

    def __init__(self, uwf: Client, thread: str) -> None:
        self._uwf, self._thread = uwf, thread
        self._places = {thread: "root"}
        self.steps = [row["step"] for row in uwf.steps(thread) if row["number"]]
        for step in self.steps:
            for each in (uwf.nodes.get(step)["call"] or {}).get("branches") or ():
                self._places[each["thread"]] = f"root/{each['name']}"

    def results(self) -> tuple[str, list[str]]:
        """Its status, and the results of its steps in order."""
        return self._uwf.show(self._thread)["status"], [self.result(each) for each in self.steps]

    def result(self, ref: str) -> str:
        """The hash of a step without what is its own, and of all steps that it refers to."""
        payload: dict[str, Any] = self._uwf.nodes.get(ref)
        if "attempt" not in payload:
            return "start"
        parts = payload["session"], payload["call"], payload["attempt"], payload
        whole = {name: each for part in parts for name, each in (part or {}).items()}
        kept = {name: each for name, each in whole.items() if name not in OWN}
        for name in STEPS & kept.keys():
            kept[name] = self._each(kept[name], self.result)
        for name in TEXTS & kept.keys():
            kept[name] = self._each(kept[name], self._text)
        return sha256(self._placed(json.dumps(kept, sort_keys=True)).encode()).hexdigest()

    def _text(self, ref: str) -> str:
        return self._placed(self._uwf.nodes.get(ref))

    def _placed(self, text: str) -> str:
        for thread, place in self._places.items():
            text = text.replace(thread, place)
        return text

    def _each(self, refs: Any, call: Any) -> Any:
        if isinstance(refs, list):
            return [call(each) for each in refs]
        return refs and call(refs)


def results(uwf: Client, threads: list[str]) -> list[tuple[str, list[str]]]:
    """The state and the results of threads, in order."""
    return [Tree(uwf, each).results() for each in threads]


@pytest.fixture
def project(tmp_path, workers_url) -> Project:
    made = Project(tmp_path)
    made.workflow("two", TWO)
    made.workflow("calls", CALLS)
    replies = [
        {"role": role, "output": DONE, "body": f"I am the {role}."}
        for role in ("planner", "writer")
    ]
    made.script(replies, by_role=True)
    return made


@pytest.mark.parametrize(("workflow", "steps"), [("two", 2), ("calls", 2)])
def test_threads_of_workers_have_the_results_of_one_process(project, workers_url, workflow, steps):
    """Every reference of an output, prompt, text or workflow is the same, and so is the order of
    the steps, whichever of three workers ran which step. A fan-out has the same branches in the
    same order, and each of them the same steps.
    """
    with project.client() as uwf:
        alone = [uwf.start(workflow, f"Task {n}.")["thread"] for n in range(2)]
        for each in alone:
            uwf.exec(each, until_done=True)
        expected = results(uwf, alone)
    project.env["UWF_STORE"] = workers_url
    with project.client() as uwf:
        threads = [uwf.start(workflow, f"Task {n}.", queue=True)["thread"] for n in range(2)]
        workers = [Thread(project, job_seconds=0.0) for _ in range(3)]
        try:
            wait(lambda: all(uwf.show(each)["status"] == "completed" for each in threads))
        finally:
            ended = [each.drain() for each in workers]
        assert sum(each.steps for each in ended) >= 2 * steps
        assert results(uwf, threads) == expected
    assert [(status, len(found)) for status, found in expected] == [("completed", steps)] * 2


def test_the_failure_of_a_called_thread_leads_on_with_workers(project, workers_url):
    """The commit that stores the failure makes the caller wanted, which takes its edge."""
    project.workflow("leaf", LEAF)
    project.workflow("caller", CALLER.replace("CALLED", "leaf"))
    project.config("retry: {maxAttempts: 1}")
    failing_script(project, FAILS)
    project.env["UWF_STORE"] = workers_url
    with project.client() as uwf:
        thread = uwf.start("caller", "The task.", queue=True)["thread"]
        workers = [Thread(project, job_seconds=0.0) for _ in range(2)]
        try:
            wait(lambda: len(uwf.steps(thread)) > 2)
        finally:
            for each in workers:
                each.drain()
        assert roles(uwf, thread)[:2] == [("worker", "$failed"), ("rescuer", "undone")]
