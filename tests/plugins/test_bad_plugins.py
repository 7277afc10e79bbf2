"""Whatever a plugin does, uwf goes on working, names it, and says what helps."""

import json
import os
import signal
import subprocess
import time

import pytest
from bad_plugins import (
    BAD,
    HANGS_WHEN_MADE,
    LEAVES_A_FILE_OPEN,
    OBSERVERS,
    STARTS_THREADS_AT_THE_END,
    STILL_GOOD,
    install_observer,
)
from tests.beside import beside

ALL = {each.name: each for each in (*BAD, *STILL_GOOD)}
DIED = ("killed", "crashes")


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_check_says_what_is_wrong_with_whom_and_what_helps(bad, installation):
    bad.install(installation.wheels, installation.site)
    done = installation.uwf("plugin", "check", bad.name, "--timeout", "2")
    assert done.exit_code == bad.check, done
    plugin = next(
        each for each in done.document["plugins"] if each["distribution"] == bad.distribution
    )
    assert (plugin["status"], plugin["version"]) == (bad.status, "1.2")
    if bad.check:
        assert bad.cause in plugin["reason"], plugin["reason"]
        assert plugin["hint"]
        assert "\n" not in plugin["reason"] + plugin["hint"]


@pytest.mark.parametrize(
    "bad", [each for each in BAD if each.exec is not None], ids=lambda bad: bad.name
)
def test_a_step_with_it_fails_with_the_right_code_and_names_it(bad, installation):
    thread = installation.thread()
    bad.install(installation.wheels, installation.site)
    done = installation.uwf("thread", "exec", thread, "--agent", bad.name)
    assert done.exit_code == bad.exec, done
    assert "Traceback" not in done.stderr
    said = done.stdout + done.stderr
    if bad.name in DIED:
        said = installation.uwf("plugin", "list").stderr
        assert f"uwf config set --add plugins.block {bad.name}" in said
    if bad.group == "uwf.agents":
        assert f"{bad.distribution} 1.2" in said
    assert installation.exec_on(thread, "mock") == "completed", "it cannot go on with another one"


@pytest.mark.parametrize("bad", STILL_GOOD, ids=lambda bad: bad.name)
def test_a_plugin_with_bad_manners_is_used_and_spoils_nothing(bad, installation):
    thread = installation.thread()
    bad.install(installation.wheels, installation.site)
    checked = installation.uwf("plugin", "check", bad.name, "--timeout", "10")
    assert (checked.exit_code, checked.document["ready"]) == (0, True), checked
    done = installation.uwf("thread", "exec", thread, "--agent", bad.name)
    assert done.exit_code == 0, done
    assert done.document["status"] == "completed"
    assert "noise" not in done.stdout
    assert bad.cause in done.stderr
    assert installation.steps(thread) == 1, "a step was made twice"


@pytest.mark.parametrize("name", ["hangs", "late"])
def test_a_plugin_that_hangs_can_be_interrupted_and_is_named(installation, name):
    """By one Ctrl-C, at its import and where its agent is made."""
    {**ALL, "late": HANGS_WHEN_MADE}[name].install(installation.wheels, installation.site)
    thread = installation.thread()
    hangs = installation.project.folder / "hangs"
    child = subprocess.Popen(
        installation.project.command("thread", "exec", thread, "--agent", name),
        cwd=installation.project.folder,
        env={
            **installation.project.env,
            "PYTHONPATH": str(installation.site),
            "TEST_HANGS": str(hangs),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not hangs.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGINT)
    stdout, stderr = child.communicate(timeout=60)
    assert child.returncode == 130, (stdout, stderr)
    assert f"uwf-agent-{name} 1.2" in stdout + stderr
    assert "Traceback" not in stderr


def test_what_a_plugin_has_written_and_left_open_is_there_at_the_end(installation):
    """A command of uwf alone ends at once; one with a plugin gives it what Python gives."""
    LEAVES_A_FILE_OPEN.install(installation.wheels, installation.site)
    notes = installation.project.folder / "notes"
    done = installation.uwf(
        "thread", "exec", installation.thread(), "--agent", "untidy", TEST_NOTES=str(notes)
    )
    assert done.exit_code == 0, done
    assert notes.read_text() == "all of it"


def test_what_a_plugin_does_at_the_end_may_start_threads(installation):
    """As `opentelemetry-sdk` does; the interpreter itself would call it too late for that."""
    STARTS_THREADS_AT_THE_END.install(installation.wheels, installation.site)
    notes = installation.project.folder / "notes"
    done = installation.uwf(
        "thread", "exec", installation.thread(), "--agent", "closing", TEST_NOTES=str(notes)
    )
    assert done.exit_code == 0, done
    assert notes.read_text() == "all of it"


def test_a_plugin_that_closes_everything_ends_its_own_command_and_nothing_else(installation):
    """Its store and its streams are gone: what is left is the exit code, and the next command."""
    ALL["closes"].install(installation.wheels, installation.site)
    thread = installation.thread()
    done = installation.uwf("thread", "exec", thread, "--agent", "closes")
    assert done.exit_code == 1
    assert "uwf-agent-closes 1.2" in installation.uwf("plugin", "list").stderr
    assert installation.exec_on(thread, "mock") == "completed"


def test_a_demand_without_a_ceiling_is_a_warning_of_doctor(installation):
    ALL["unbounded"].install(installation.wheels, installation.site)
    done = installation.uwf("doctor", UWF_BLOCK_PLUGINS=beside())
    check = next(each for each in done.document["checks"] if "unbounded" in each["name"])
    assert check["state"] == "warning"
    assert "uwf-agent-unbounded 1.2" in check["message"]
    assert "no upper bound" in check["message"]
    assert "uwf-core>=0.1,<1" in check["hint"]


def test_a_blocked_plugin_is_never_imported(installation):
    """By its own name or its distribution's, in the configuration or the environment."""
    ALL["leaves"].install(installation.wheels, installation.site)
    blocked = installation.uwf("plugin", "check", "leaves", UWF_BLOCK_PLUGINS="uwf-agent-leaves")
    assert (blocked.exit_code, blocked.document["plugins"][0]["status"]) == (2, "blocked")
    installation.uwf("config", "set", "plugins.block", "[leaves]")
    again = installation.uwf("thread", "exec", installation.thread(), "--agent", "leaves")
    assert again.exit_code == 2
    assert again.error["hint"] == "next: uwf config set --remove plugins.block leaves"
    installation.uwf("config", "set", "--remove", "plugins.block", "leaves")
    words = ("thread", "exec", installation.thread(), "--agent", "leaves")
    again = installation.uwf(*words, UWF_BLOCK_PLUGINS="x,UWF-agent-leaves")
    place = "the environment variable UWF_BLOCK_PLUGINS"
    assert again.error["hint"] == f"remove 'UWF-agent-leaves' from {place}"


def test_the_command_that_the_hint_names_blocks_it_and_keeps_what_is_blocked_already(installation):
    ALL["raises"].install(installation.wheels, installation.site)
    installation.uwf("config", "set", "plugins.block", "[other]")
    hint = installation.uwf("plugin", "check", "raises").document["plugins"][0]["hint"]
    words = hint.rpartition("block it: uwf ")[2].split()
    assert installation.uwf(*words).exit_code == 0, words
    blocked = installation.uwf("config", "get", "plugins.block").document["value"]
    assert blocked == ["other", "raises"]
    assert installation.uwf("plugin", "check", "raises").exit_code == 2


def test_no_observer_stops_a_step_and_each_is_told_of_once(installation):
    for name in OBSERVERS:
        install_observer(name, installation.wheels, installation.site)
    thread = installation.thread()
    done = installation.uwf("thread", "exec", thread)
    assert done.document["status"] == "completed", done
    for name in set(OBSERVERS) - {"watch_prints"}:
        assert done.stderr.count(f"uwf-{name.replace('_', '-')} 1.2") == 1, (name, done.stderr)
    assert installation.steps(thread) == 1


COMMANDS = [
    "plugin list --all", "agent list", "thread list --all", "thread show {thread}",
    "step list {thread}", "workflow list", "config show --origin", "prompt list", "log list",
    "agent check human", "plugin check human", "thread exec {idle}", "run one -p again", "doctor",
]  # fmt: skip


def test_the_result_of_every_command_can_be_read_with_all_of_them_installed(installation):
    idle = installation.thread()
    thread = installation.thread()
    assert installation.exec_on(thread, "mock") == "completed"
    for bad in ALL.values():
        bad.install(installation.wheels, installation.site)
    for name in OBSERVERS:
        install_observer(name, installation.wheels, installation.site)
    # These take their time in `doctor`; the last would be nobody's, as it claims our name.
    blocked = f"hangs,floods,uwf-agent-mock,{beside()}"
    for words in COMMANDS:
        done = installation.uwf(
            *words.format(thread=thread, idle=idle).split(), "--format", "json",
            UWF_BLOCK_PLUGINS=blocked,
        )  # fmt: skip
        assert isinstance(json.loads(done.stdout), dict), (words, done)
        assert "Traceback" not in done.stderr, words


def test_the_hooks_of_each_plugin_are_listed_and_a_broken_one_has_its_reason(installation):
    for name in ("raises", "hangs", "killed"):
        ALL[name].install(installation.wheels, installation.site)
    for name in OBSERVERS:
        install_observer(name, installation.wheels, installation.site)
    blocked = {"UWF_BLOCK_PLUGINS": f"hangs,{beside()}"}
    plain = installation.uwf("plugin", "list", **blocked).document["plugins"]
    rows = installation.uwf("plugin", "list", "--hooks", **blocked).document["plugins"]
    assert [each["name"] for each in rows] == [each["name"] for each in plain]
    found = {each["name"]: each for each in rows}
    assert found["mock"]["hooks"] == ["uwf_agents"]
    assert found["watch_prints"]["hooks"] == ["uwf_step_finished"]
    assert (found["hangs"]["status"], found["hangs"]["hooks"]) == ("blocked", None)
    for name in ("raises", "killed"):
        assert (found[name]["status"], found[name]["hooks"]) == ("broken", None)
        assert ALL[name].cause in found[name]["reason"]
    text = installation.uwf("plugin", "list", "--hooks", "--format", "text", **blocked).stdout
    assert "agents mock (uwf-core 0.1.0): ready\n  hooks: uwf_agents\n" in text
    assert text.endswith("\nnext: uwf plugin check NAME\n")
