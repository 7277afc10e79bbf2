"""Random workflows with retries, timers, deadlines and fallbacks, driven by a clock of the test:
whatever fails, expires or dies, the thread goes on, nothing is recorded twice, and time answers no
question.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.forms import form

from uwf_core.client import Client
from uwf_core.errors import BusyError, LimitReached, UwfError
from uwf_core.testing.crashes import at_points
from uwf_core.testing.project import Project

SEEDS = form(short=8, long=1_000)
ACTIONS = 20
KINDS = ("unavailable", "auth", "crashed", "timeout", "rate_limited", "refused")
HOUR_MS = 3_600_000
STATUSES = [{"properties": {"$status": {"const": word}}, "required": ["$status"]} for word in "ab"]


class Dead(BaseException):
    """The process died here."""


class Clock:
    """The time of the store and of the engine."""

    def __init__(self) -> None:
        self.ms = 1_800_000_000_000

    def __call__(self) -> int:
        self.ms += 1
        return self.ms


class Run:
    """One thread of one random workflow, and what was done to it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.random = Random(seed)
        self.project = Project(folder)
        self.project.config(self.configuration())
        self.clock = Clock()
        self.answers = 0
        self.uwf: Client = self.project.client(store="memory:")
        self.uwf._engine.now_ms = self.clock  # type: ignore[method-assign]
        self.draw()
        self.thread = self.uwf.start("random", "The task.")["thread"]

    def draw(self) -> None:
        """A workflow that can be published: each role is reached, and the end."""
        while True:
            file = self.project.workflow("random", json.dumps(self.workflow()))
            if self.uwf.check_workflow(str(file))["valid"]:
                return

    def configuration(self) -> str:
        return json.dumps({"agents": {"many": {"anyOf": ["mock", "nobody", "mock"]}}})

    def workflow(self) -> dict[str, Any]:
        names = [f"r{index}" for index in range(self.random.randint(2, 4))]
        targets = [*names, "person", "$END"]
        roles = {name: self.agent_role() for name in names}
        roles["person"] = self.person(names)
        graph: dict[str, Any] = {
            name: {status: self.edge(targets) for status in "ab"} for name in [*names, "person"]
        }
        graph["$START"] = {
            which: {"role": names[0], "prompt": "Begin."} for which in ("new", "resume")
        }
        return {"version": 1, "name": "random", "roles": roles, "graph": graph,
                "limits": {"maxSteps": 25}}  # fmt: skip

    def agent_role(self) -> dict[str, Any]:
        role: dict[str, Any] = {
            "goal": "Do it.",
            "frontmatter": {"oneOf": STATUSES},
            "limits": {"maxUnchanged": self.random.choice([0, 2])},
        }
        if self.random.random() < 0.5:
            role["agent"] = "many"
        if self.random.random() < 0.7:
            role["retry"] = {
                "maxAttempts": self.random.randint(1, 3),
                "interval": "10m",
                "backoff": self.random.choice([1, 2]),
            }
        return role

    def person(self, names: list[str]) -> dict[str, Any]:
        role = {"human": True, "goal": "Decide.", "frontmatter": {"oneOf": STATUSES}}
        if self.random.random() < 0.7:
            role["within"] = "2h"
            role["expired"] = {"role": self.random.choice(names), "prompt": "Nobody answered."}
        return role

    def edge(self, targets: list[str]) -> dict[str, Any]:
        edge = {"role": self.random.choice(targets), "prompt": "Go on."}
        if edge["role"] not in ("$END", "person") and self.random.random() < 0.3:
            edge["after"] = "30m"
        return edge

    def act(self) -> None:
        """One thing that can happen at night, or in the morning."""
        deed = self.random.choices(
            (self.execute, self.pass_time, self.die, self.answer), weights=(6, 3, 2, 1)
        )
        deed[0]()

    def execute(self) -> None:
        failure = {"fail": {"kind": self.random.choice(KINDS), "message": "as drawn"}}
        said = {"$status": self.random.choice("ab")}
        output = failure if self.random.random() < 0.4 else {"output": said}
        shown = self.uwf.show(self.thread)
        role = shown["currentRole"] or "r0"
        self.project.script([{"role": role, **output}] * 40)
        try:
            self.uwf.exec(self.thread)
        except BusyError as error:
            assert shown["waitingUntil"] is not None, error
        except LimitReached:
            pass
        except UwfError as error:
            assert shown["status"] in ("completed", "suspended"), error

    def pass_time(self) -> None:
        until = self.uwf.show(self.thread)["waitingUntil"]
        if until is not None and self.random.random() < 0.7:
            self.clock.ms = max(self.clock.ms, until)
        else:
            self.clock.ms += self.random.randint(1, 3 * HOUR_MS)

    def die(self) -> None:
        """A run that dies at any of the points where a process can."""
        left = self.random.randint(1, 25)

        def act(_name: str) -> None:
            nonlocal left
            left -= 1
            if left <= 0:  # nothing is written any more
                raise Dead

        at_points(act)
        try:
            self.execute()
        except Dead:
            pass
        finally:
            at_points(None)

    def answer(self) -> None:
        shown = self.uwf.show(self.thread)
        if shown["suspendReason"] == "role":
            self.project.script([{"role": "r0", "output": {"$status": "a"}}] * 40)
            try:
                self.uwf.resume(self.thread, answer={"$status": self.random.choice("ab")})
                self.answers += 1
            except UwfError as error:
                assert "expired" in str(error), error
        elif shown["status"] == "suspended":
            self.project.script([{"role": shown["currentRole"] or "r0",
                                  "output": {"$status": "a"}}] * 40)  # fmt: skip
            try:
                self.uwf.resume(self.thread, "Go on.")
            except UwfError:
                assert shown["suspendReason"] == "limit", shown

    def check(self) -> None:
        uwf, thread = self.uwf, self.thread
        steps = uwf.steps(thread)[1:]
        assert [each["number"] for each in steps] == list(range(1, len(steps) + 1))
        assert uwf.show(thread)["steps"] == len(steps) <= 26
        answered = [each for each in steps if each["role"] == "person"]
        assert len(answered) == self.answers, "time has answered a question"
        assert uwf.verify(thread)["problems"] == []

    def close(self) -> None:
        found = self.uwf.replay(self.thread)
        assert found["verdict"] == "same", found["first"]
        self.uwf.close()


@pytest.fixture(params=range(SEEDS))
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path, request.param)
    yield run
    run.close()


def test_whatever_happens_the_thread_goes_on_and_its_record_is_sound(run: Run):
    for _ in range(ACTIONS):
        run.act()
        run.check()
