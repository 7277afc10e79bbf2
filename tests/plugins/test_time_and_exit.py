"""What a plugin takes of time, and that none can end the command, are held against the plugin."""

import json
import time

import pytest
from bad_plugins import AGENT, RECORD
from tests.beside import beside
from wheels import build_wheel, install

OBSERVER = """
import os, sys, time
from uwf_core.api import hookimpl
{at_import}
@hookimpl
def uwf_step_started(event): {started}
@hookimpl
def uwf_step_finished(event): {finished}
"""
TELL = "print(type(event).__name__, file=sys.stderr)"


def observer(installation, at_import="pass", started=TELL, finished=TELL) -> None:
    code = OBSERVER.format(at_import=at_import, started=started, finished=finished)
    entries = {"uwf.observers": {"watcher": "uwf_watcher"}}
    wheel = build_wheel(installation.wheels, "uwf-watcher", entries, {"uwf_watcher.py": code})
    install(wheel, installation.site)


def agent(installation, more: str) -> None:
    """Install the agent `odd`, whose code is that of a good one and `more`."""
    code = RECORD.format(name="odd") + AGENT + more
    entries = {"uwf.agents": {"odd": "uwf_agent_odd"}}
    wheel = build_wheel(installation.wheels, "uwf-odd", entries, {"uwf_agent_odd.py": code})
    install(wheel, installation.site)


HANGS = {
    "at import": {"at_import": "time.sleep(600)"},
    "in a hook": {"started": "time.sleep(600)"},
    "at the end": {"finished": "time.sleep(600)"},
}


@pytest.mark.parametrize("where", HANGS)
def test_an_observer_that_hangs_costs_a_run_its_limit_and_is_named(installation, where):
    observer(installation, **HANGS[where])
    installation.uwf("config", "set", "limits.runSeconds", "2")
    thread, began = installation.thread(), time.monotonic()
    done = installation.uwf("thread", "exec", thread, "--agent", "mock")
    assert time.monotonic() - began < 30
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done
    assert done.stderr.count("watcher of uwf-watcher 1.2") == 1
    assert "took longer than 2 s" in done.stderr


def test_the_time_of_an_observer_is_not_the_time_of_a_step(installation):
    """Neither its import nor its hooks count, and it gets every event before the command ends."""
    slow = f"time.sleep(2); {TELL}"
    observer(installation, at_import="time.sleep(2)", started=slow, finished=slow)
    done = installation.uwf("thread", "exec", installation.thread(), "--agent", "mock")
    (step,) = done.document["steps"]
    assert step["durationMs"] < 2000
    assert "StepStarted" in done.stderr
    assert "StepFinished" in done.stderr


@pytest.mark.parametrize("end", ["raise KeyboardInterrupt", "os._exit(0)", "sys.exit(0)"])
def test_an_observer_that_wants_to_end_the_command_is_named_and_ends_nothing(installation, end):
    observer(installation, finished=end)
    thread = installation.thread()
    done = installation.uwf("thread", "exec", thread, "--agent", "mock")
    assert (done.exit_code, done.document["status"]) == (0, "completed"), done
    assert "watcher of uwf-watcher 1.2: uwf_step_finished failed: " in done.stderr
    assert installation.steps(thread) == 1


@pytest.mark.parametrize(
    "more",
    [
        "import os; os._exit(0)",
        "def make(options, context): import os; os._exit(0)",
        "import os; Agent.run = lambda self, request, sink: os._exit(0)",
    ],
    ids=["import", "factory", "run"],
)
def test_an_agent_that_ends_the_process_never_looks_like_success(installation, more):
    agent(installation, more)
    done = installation.uwf("run", "one", "-p", "a task", "--agent", "odd")
    assert done.exit_code == 1, done
    assert done.document["steps"][-1]["failure"]["kind"] == "internal"
    assert "uwf-odd 1.2" in done.document["steps"][-1]["failure"]["message"]


@pytest.mark.parametrize("more", ["import time; time.sleep(600)",
                                  "def make(options, context): import time; time.sleep(600)"],
                         ids=["import", "factory"])  # fmt: skip
def test_an_agent_that_hangs_before_its_call_reaches_the_limit_of_the_call(installation, more):
    agent(installation, more)
    installation.uwf("config", "set", "limits.runSeconds", "2")
    done = installation.uwf("thread", "exec", installation.thread(), "--agent", "odd")
    assert done.exit_code == 6, done
    failure = done.document["steps"][-1]["failure"]
    assert failure["kind"] == "timeout"
    assert "odd of uwf-odd 1.2 was not ready within 2 s" in failure["message"]


@pytest.mark.parametrize("error", ["ValueError('no luck')", "FileNotFoundError(2, 'no luck')"])
def test_a_command_that_fails_is_named_with_its_distribution(installation, error):
    code = f"import click\n@click.command()\ndef command():\n    raise {error}\n"
    entries = {"uwf.commands": {"fails": "uwf_fails:command"}}
    wheel = build_wheel(installation.wheels, "uwf-fails", entries, {"uwf_fails.py": code})
    install(wheel, installation.site)
    done = installation.uwf("fails")
    assert done.exit_code == 1
    told = json.loads(done.stderr)["error"]
    assert told["message"].startswith("the command 'fails' (uwf-fails 1.2) failed: ")
    assert "no luck" in told["message"]
    assert "internal error in uwf" not in done.stderr


@pytest.mark.parametrize("more", ["import os; os._exit(3)", "raise ValueError('no')", ""])
def test_of_a_distribution_with_two_plugins_the_doctor_blames_the_one_that_is_broken(
    installation, more
):
    """They share a process until one of them is not ready there."""
    names = ("good", "odd", "last")
    files = {f"uwf_agent_{name}.py": RECORD.format(name=name) + AGENT for name in names}
    files["uwf_agent_odd.py"] += more
    entries = {"uwf.agents": {name: f"uwf_agent_{name}" for name in names}}
    wheel = build_wheel(installation.wheels, "uwf-three", entries, files)
    install(wheel, installation.site)
    done = installation.uwf("doctor", UWF_BLOCK_PLUGINS=beside())
    checks = {each["name"]: each for each in done.document["checks"]}
    states = [checks[f"agents {name}"]["state"] for name in names]
    assert states == ["ok", "error" if more else "ok", "ok"]
    assert "uwf-three 1.2" in checks["agents odd"]["message"]
    listed = installation.uwf("plugin", "list", "--hooks", UWF_BLOCK_PLUGINS=beside()).document
    found = {each["name"]: each["status"] for each in listed["plugins"]}
    assert [found[name] for name in names] == ["ready", "broken" if more else "ready", "ready"]
