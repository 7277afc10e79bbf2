"""Threads that the agent of an attempt starts with `uwf run`."""

import json
import sys
from pathlib import Path

import pytest
from tests.core.calling import GOOD, INNER, OUTER, SMOOTH, WRITTEN, child_of, roles
from tests.step_parts import call_of

from uwf_core.api import own_python
from uwf_core.client import Client
from uwf_core.testing.project import Project

AGENT = """
import json, os, subprocess, sys
words = dict(zip(sys.argv[1::2], sys.argv[2::2]))
text = "---\\n$status: planned\\nplan: a poem\\n---\\n"
done = subprocess.run(
    {command} + ["--agent", "mock"], capture_output=True, text=True, env={{**os.environ, **{more}}}
)
open({log!r}, "a").write(json.dumps([done.returncode, done.stdout, done.stderr]) + "\\n")
reply = {{"output": text, "usage": {{"inputTokens": 1, "costUsd": 1}}}}
if {fails}:
    reply = {{"error": {{"kind": "crashed", "message": "no"}}}}
print(json.dumps(reply))
"""


class Starter:
    """A project whose planner is a command that runs the workflow `inner`."""

    def __init__(self, root: Path) -> None:
        self.project = Project(root)
        self.log = root / "log"
        self.project.workflow("inner", INNER)
        self.project.workflow("outer", OUTER)
        self.project.script([*SMOOTH[1:]], by_role=True)

    def use(self, *, fails: bool = False, limit: int = 3, **more: str) -> Client:
        agent = self.log.with_name("agent.py")
        command = [*own_python("uwf_core"), "run", "inner", "-p", "A part.", "--format", "json"]
        agent.write_text(AGENT.format(command=command, log=str(self.log), fails=fails, more=more))
        self.project.config(
            f"limits: {{depth: {limit}}}\n"
            f"agents:\n  me: {{command: {json.dumps(sys.executable)}, args: [{agent}], "
            "env: [UWF_MOCK_SCRIPT]}\n"
            "agentOverrides: {outer: {planner: me}}\n"
        )
        return self.project.client()

    @property
    def runs(self) -> list[tuple[int, str, str]]:
        return [tuple(json.loads(line)) for line in self.log.read_text().splitlines()]


@pytest.fixture
def starter(tmp_path: Path) -> Starter:
    return Starter(tmp_path)


def test_a_thread_that_an_agent_starts_is_a_call_of_its_step(starter: Starter) -> None:
    with starter.use() as uwf:
        root = uwf.start("outer", "Make a poem.")["thread"]
        uwf.exec(root)
        [(code, printed, _)] = starter.runs
        assert code == 0
        child = json.loads(printed)["thread"]
        assert child_of(uwf, root) == child
        [planner] = uwf.thread(root).steps()
        assert call_of(planner.node)["called"] == [child]
        assert uwf.usage(root)["total"]["steps"] == 3
        usage = uwf.show(root)["usage"]
        assert (usage["inputTokens"], usage["costUsd"]) == (21, 2.0)
        assert uwf.show(child)["depth"] == 1
        assert "Make a poem." in next(iter(uwf.thread(child).steps())).prompt
        assert roles(uwf.exec(root, until_done=True).document["steps"])[-1] == "judge"


def test_a_failed_attempt_names_the_threads_that_it_started(starter: Starter) -> None:
    with starter.use(fails=True) as uwf:
        root = uwf.start("outer", "Make a poem.")["thread"]
        uwf.exec(root)
        [failed] = uwf.thread(root).pending
        assert call_of(failed.node)["called"] == [child_of(uwf, root)]
        assert uwf.show(root)["usage"]["inputTokens"] == 20


def test_an_agent_may_not_start_threads_beyond_the_depth(starter: Starter) -> None:
    with starter.use(limit=0) as uwf:
        root = uwf.start("outer", "Make a poem.")["thread"]
        uwf.exec(root)
        [(code, _, errors)] = starter.runs
        assert code == 2
        assert "limits.depth" in errors


def test_a_thread_of_another_attempt_is_a_root_and_says_so(starter: Starter) -> None:
    with starter.use(UWF_ATTEMPT="01M83R74MKAHD65VS9E51WXGMP/1.1") as uwf:
        root = uwf.start("outer", "Make a poem.")["thread"]
        uwf.exec(root)
        [(code, printed, errors)] = starter.runs
        assert code == 0
        assert "UWF_ATTEMPT names no open attempt" in errors
        assert uwf.show(json.loads(printed)["thread"])["parent"] is None


def test_a_thread_that_an_agent_started_can_be_resumed_after_its_step(starter: Starter) -> None:
    with starter.use() as uwf:
        root = uwf.start("outer", "Make a poem.")["thread"]
        uwf.exec(root)
        starter.project.script([WRITTEN, GOOD], by_role=True)
        outcome = uwf.resume(child_of(uwf, root), "More.")
        assert roles(outcome.document["steps"]) == ["writer"]
