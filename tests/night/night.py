"""A night: threads that run into failures, and passes of `uwf tick` until nothing is left to do."""

import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from uwf_core.client import Client
from uwf_core.errors import UwfError
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_record import ModelRequest
from uwf_testing.model_server_script import ModelError, ModelScript, ModelTurn

_IDLE_SECONDS = 5
_CRON = {"PATH": "/usr/bin:/bin", "SHELL": "/bin/sh", "LOGNAME": "night"}
"""What a line of cron finds, before its own assignments."""

_WORKFLOW = """
version: 1
name: night
description: a builder whom a reviewer sends back, and a person who sleeps
roles:
  builder:
    goal: Build it.
    frontmatter:
      properties: {$status: {const: built}, round: {type: integer}}
      required: [$status, round]
  reviewer:
    goal: Review it.
    frontmatter:
      oneOf:
        - properties: {$status: {const: rejected}, comment: {type: string}}
          required: [$status, comment]
        - properties: {$status: {const: approved}}
          required: [$status]
    limits: {maxUnchanged: 0}
  person:
    human: true
    goal: Decide.
    within: 10s
    expired: {role: closer, prompt: Close it.}
    frontmatter: {properties: {$status: {const: decided}}, required: [$status]}
  closer:
    goal: Close it.
    frontmatter: {properties: {$status: {const: closed}}, required: [$status]}
graph:
  $START: {new: {role: builder, prompt: Build it.}, resume: {role: builder, prompt: Go on.}}
  builder: {built: {role: reviewer, prompt: "Review round {{round}}."}}
  reviewer:
    rejected: {role: builder, prompt: "Improve it: {{comment}}."}
    approved: {role: person, prompt: What now?}
  person: {decided: {role: $END, prompt: Done.}}
  closer: {closed: {role: $END, prompt: Done.}}
"""


class Plan(NamedTuple):
    """How many threads of how many steps, and which part of the answers fails and how; `killed`:
    runs that are killed, for each answer; `ticks_killed`: part of the passes.
    """

    threads: int
    steps: int
    seed: int
    unavailable: float
    cut: float
    silent: float
    killed: float
    ticks_killed: float
    minutes: float


class Night:
    """One night in a folder of its own."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._given, self._rounds = Counter[str](), Counter[str]()
        self._threads: list[str] = []
        self._passes = self._kills = self._ticks_killed = 0
        self._seconds = 0.0
        self._home, self._project, user = (folder / name for name in ("home", "project", "user"))
        for each in (self._project, user):
            each.mkdir()
        self._home.mkdir(mode=0o700)
        (self._project / ".workflow").mkdir()
        (self._project / ".workflow" / "night.yaml").write_text(_WORKFLOW)
        self._env = {"PATH": os.environ["PATH"], "HOME": str(user), "UWF_HOME": str(self._home)}

    def play(self, tell: Callable[[str], None]) -> None:
        """Start the threads, kill their runs, and tick until nothing is left to do."""
        script = ModelScript(turns=(self._answer,), repeat=True, strict=False)
        with ScriptedModel(script=script) as model:
            self._configure(model.openai_url)
            started = time.monotonic()
            while len(self._threads) < self._plan.threads:
                self._start()
            tell(f"{len(self._threads)} threads started, and their runs killed")
            line = self._line_for_cron()
            while time.monotonic() - started < self._plan.minutes * 60:
                self._passes += 1
                if self._random.random() < self._plan.ticks_killed:
                    self._kill_a_tick(line)
                document = self._tick(line)
                if self._passes % 20 == 0:
                    tell(f"pass {self._passes}: {self._rounds.total()} answers, {document}")
                if not (document["running"] or document["due"] or document["nextAtMs"]):
                    break
                self._kill_some(document["running"])
                time.sleep(1)
            self._seconds = time.monotonic() - started

    def faults(self) -> list[str]:
        """What a thread should not be or have."""
        with Client.open(home=self._home, cwd=self._project) as uwf:
            return [fault for thread in self._threads for fault in self._faults_of(uwf, thread)]

    def report(self, faults: list[str]) -> Iterator[str]:
        """The table of the night."""
        ends, attempts = Counter[str](), Counter[str]()
        with Client.open(home=self._home, cwd=self._project) as uwf:
            for thread in self._threads:
                shown = uwf.show(thread)
                ends[str(shown["suspendReason"] or shown["status"])] += 1
                attempts["steps"] += shown["steps"]
        for each in (self._plan._asdict(), dict(ends), dict(attempts), dict(self._given)):
            yield json.dumps(each)
        yield (
            f"{self._passes} passes, {self._kills} runs and {self._ticks_killed} passes killed, "
            f"{self._seconds:.0f} s"
        )
        yield from faults

    def _answer(self, request: ModelRequest) -> ModelTurn:
        """The answer to the builder or the reviewer of a thread, or a failure."""
        text = json.dumps(request.body)
        found = re.search(r"thread-(\d+)", text)
        assert found is not None
        drawn, plan = self._random.random(), self._plan
        for name, part, turn in (
            ("503", plan.unavailable, ModelTurn(error=ModelError(status=503))),
            ("cut", plan.cut, ModelTurn(text="It is", drop="middle")),
            ("silent", plan.silent, ModelTurn(hang="start")),
        ):
            if drawn < part:
                self._given[name] += 1
                return turn
            drawn -= part
        self._given["answers"] += 1
        self._rounds[found[1]] += 1
        count = self._rounds[found[1]]
        if "Close it." in str(request.messages[-1]):
            return ModelTurn(text="---\n$status: closed\n---\nClosed.")
        if "Review round" not in str(request.messages[-1]):
            return ModelTurn(text=f"---\n$status: built\nround: {count}\n---\nBuilt.")
        if count >= plan.steps:
            return ModelTurn(text="---\n$status: approved\n---\nGood.")
        return ModelTurn(text=f"---\n$status: rejected\ncomment: number {count}\n---\nNot yet.")

    def _configure(self, url: str) -> None:
        configuration = {
            "defaultAgent": "builtin",
            "defaultModel": "scripted",
            "providers": {"local": {"baseUrl": url, "apiKey": "sk-night"}},
            "models": {"scripted": {"provider": "local", "name": "any"}},
            "limits": {"idleSeconds": _IDLE_SECONDS},
        }
        file = self._home / "config.yaml"
        file.write_text(json.dumps(configuration))
        file.chmod(0o600)

    def _start(self) -> None:
        """Start a thread whose run dies at once, as all do when the machine loses its power."""
        task = f"This is thread-{len(self._threads)}."
        begun = self._uwf("run", "night", "-p", task, "--background")
        thread = str(json.loads(begun)["thread"])
        self._threads.append(thread)
        self._kill(thread)

    def _line_for_cron(self) -> str:
        lines = json.loads(self._uwf("tick", "--print", "cron"))["lines"]
        [line] = [each for each in lines.splitlines() if not each.startswith("#")]
        return str(line.split(" ", 5)[5].removesuffix(">/dev/null"))

    def _as_cron(self, line: str) -> list[str]:
        env = [f"{name}={value}" for name, value in _CRON.items()]
        return ["env", "-i", *env, "/bin/sh", "-c", line]

    def _kill_a_tick(self, line: str) -> None:
        """Kill a pass at any moment."""
        begun = subprocess.Popen(
            self._as_cron(f"exec env {line}"),
            cwd="/",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        time.sleep(self._random.uniform(0, 0.8))
        begun.kill()
        begun.communicate()
        self._ticks_killed += 1

    def _tick(self, line: str) -> dict[str, Any]:
        done = subprocess.run(self._as_cron(line), cwd="/", capture_output=True, check=True)
        document: dict[str, Any] = json.loads(done.stdout)
        return document

    def _kill_some(self, running: list[str]) -> None:
        """Kill runs, so many in the whole night as the plan says."""
        wanted = self._plan.killed * self._rounds.total()
        if running and self._kills < wanted:
            self._kills += 1
            self._kill(self._random.choice(running))

    def _kill(self, thread: str) -> None:
        for process in Path("/proc").iterdir():
            if not process.name.isdigit():
                continue
            try:
                words = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if thread.encode() in words:
                os.kill(int(process.name), signal.SIGKILL)

    def _uwf(self, *words: str) -> str:
        command = [sys.executable, "-m", "uwf_core", *words]
        done = subprocess.run(
            command, cwd=self._project, env=self._env, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{shlex.join(command)}: {done.stderr}")
        return done.stdout

    def _faults_of(self, uwf: Client, thread: str) -> Iterator[str]:
        shown = uwf.show(thread)
        end = shown["suspendReason"] or shown["status"]
        if end not in ("completed", "role", "failure", "limit"):
            yield f"{thread}: {end}"
        rows = uwf.steps(thread)[1:]
        numbers = [each["number"] for each in rows]
        if numbers != list(range(1, len(rows) + 1)):
            yield f"{thread}: its steps have the numbers {numbers}"
        if "person" in (each["role"] for each in rows):
            yield f"{thread}: time has answered the question"
        try:
            problems = uwf.verify(thread)["problems"]
            replayed = uwf.replay(thread)
        except UwfError as error:
            yield f"{thread}: {error.message}"
        else:
            yield from (f"{thread}: verify: {each}" for each in problems)
            if replayed["verdict"] != "same":
                yield f"{thread}: its replay is {replayed['verdict']}: {replayed['first']}"
