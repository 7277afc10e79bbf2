"""Other distributions: their commands, and what happens when one of them is broken."""

import os
import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from tests.beside import beside

from uwf_core.plugins import scan
from uwf_core.plugins.repair import repair_line
from uwf_core.testing.project import Project


class Site:
    """A folder of installed distributions, in front of the import path."""

    def __init__(self, folder, project: Project):
        self.folder = folder
        self.project = project
        folder.mkdir()

    def install(self, name: str, entry_points: str, code: str, more: str = "") -> None:
        module = name.replace("-", "_")
        (self.folder / f"{module}.py").write_text(code)
        info = self.folder / f"{module}-1.2.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n{more}")
        (info / "entry_points.txt").write_text(entry_points)

    def uwf(self, *words, **env):
        return self.project.uwf(*words, env={"PYTHONPATH": str(self.folder), **env})


@pytest.fixture
def site(project, tmp_path):
    return Site(tmp_path / "site", project)


GREET = """
import click
@click.command("greet")
@click.argument("name")
def command(name):
    "Greet somebody."
    click.echo(f"hello {name}")
    if name == "nobody":
        raise click.ClickException("there is nobody")
"""


def test_a_command_of_another_distribution_is_one_of_ours(site):
    summary = "Summary: Greet people politely.\n"
    site.install("uwf-greet", "[uwf.commands]\ngreet = uwf_greet:command\n", GREET, summary)
    assert re.search(r"^  greet +Greet somebody$", site.uwf("--help").stdout, re.MULTILINE)
    done = site.uwf("greet", "you")
    assert (done.exit_code, done.stdout) == (0, "hello you\n")
    assert site.uwf("greet", "--bogus").exit_code == 2
    assert site.uwf("greet", "nobody").exit_code != 0
    completed = site.uwf("__complete", "fish", "1", "uwf", "gr").stdout
    assert "greet\tGreet somebody\n" in completed
    for words in (("list",), ("list", "--hooks"), ("check", "greet")):
        rows = site.uwf("plugin", *words).document["plugins"]
        summaries = {each["name"]: each["summary"] for each in rows}
        assert summaries["greet"] == "Greet people politely.", words


def test_examples_name_the_command_as_it_was_called():
    def shown(*words):
        command = [sys.executable, "-m", *words, "--help"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert "\n  uwf eval run my-task --repeat 5\n" in shown("uwf_core", "eval")
    assert "\n  uwf eval show @last/3\n" in shown("uwf_core", "eval", "show")
    assert "uwf-eval show @last/3\n" in shown("uwf_eval", "show")


@pytest.mark.parametrize("words", [["eval", "--help"], ["eval"], ["eval", "run", "--help"]])
def test_asking_a_command_of_another_distribution_for_help_creates_nothing(tmp_path, words):
    home = tmp_path / "new" / "home"
    env = {**os.environ, "UWF_HOME": str(home), "HOME": str(tmp_path)}
    command = [sys.executable, "-m", "uwf_core", *words]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, check=False)
    assert b"Usage" in done.stdout + done.stderr
    assert not home.parent.exists()


def test_a_broken_command_is_told_in_one_line_and_breaks_nothing_else(site):
    site.install("uwf-bad", "[uwf.commands]\nbad = uwf_bad:command\n", "raise OSError('no libc')\n")
    done = site.uwf("bad", "--format", "text")
    assert done.exit_code == 1
    assert "uwf-bad 1.2" in done.stderr
    assert "no libc" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in site.uwf("bad", "--debug").stderr
    for words in (["--help"], ["plugin", "list"], ["thread", "list"], ["config", "show"]):
        assert site.uwf(*words).exit_code == 0


def test_a_blocked_command_is_never_imported(site):
    site.install("uwf-bad", "[uwf.commands]\nbad = uwf_bad:command\n", "print('imported')\n")
    done = site.uwf("bad", UWF_BLOCK_PLUGINS="bad")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "blocked" in done.error["message"]


def test_a_command_cannot_take_the_name_of_one_of_ours(site):
    site.install("uwf-run", "[uwf.commands]\nrun = uwf_run:command\n", "print('imported')\n")
    done = site.uwf("run", "--help")
    assert "Start a workflow" in done.stdout
    assert "imported" not in done.stdout


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("raise ImportError('no module torch')\n", "torch"),
        ("import os; os._exit(7)\n", "(7)"),
        ("import sys; sys.exit('bye')\n", "exit("),
    ],
)
def test_doctor_names_a_plugin_that_does_not_load_and_survives_it(site, code, word):
    site.install("uwf-agent-bad", "[uwf.agents]\nbad = uwf_agent_bad\n", code)
    done = site.uwf("doctor", UWF_BLOCK_PLUGINS=beside())
    assert done.exit_code == 1
    bad = next(each for each in done.document["checks"] if each["name"] == "agents bad")
    assert (bad["state"], word in bad["message"]) == ("error", True), bad
    checked = site.uwf("agent", "check", "bad")
    assert (checked.exit_code, checked.document["ready"]) == (6, False)
    assert site.uwf("agent", "list").exit_code == 0


def test_doctor_names_a_library_that_a_plugin_needs_and_does_not_have(site):
    needs = "Requires-Dist: click<1\nRequires-Dist: absent-library>=2\n"
    site.install("uwf-greet", "[uwf.commands]\ngreet = uwf_greet:command\n", GREET, needs)
    checks = site.uwf("doctor", UWF_BLOCK_PLUGINS=beside()).document["checks"]
    own, *faults = [each for each in checks if each["name"] == "libraries"]
    assert own["state"] == "ok"
    assert f"click {version('click')}" in own["message"]
    assert faults == [
        {
            "name": "libraries",
            "state": "error",
            "message": message,
            "hint": repair_line("uwf-greet"),
        }
        for message in (
            f"uwf-greet needs click<1; installed is {version('click')}",
            "uwf-greet needs absent-library>=2, which is not installed",
        )
    ]


def test_plugin_check_says_where_a_distribution_lies(site):
    site.install("uwf-greet", "[uwf.commands]\ngreet = uwf_greet:command\n", GREET)
    (checked,) = site.uwf("plugin", "check", "greet").document["plugins"]
    assert checked["installed"] == {
        "location": str(site.folder),
        "installer": None,
        "editable": False,
    }
    text = site.uwf("plugin", "check", "greet", "--format", "text").stdout
    assert f"  installed: {site.folder}\n" in text


def test_a_plugin_that_hangs_is_given_up(site, monkeypatch):
    from uwf_core.engine.open_engine import open_engine
    from uwf_core.maintenance import plugin_probe as probe

    site.install(
        "uwf-agent-bad", "[uwf.agents]\nbad = uwf_agent_bad\n", "import time; time.sleep(99)"
    )
    monkeypatch.syspath_prepend(site.folder)
    env = {**site.project.env, "PYTHONPATH": str(site.folder)}
    engine = open_engine(env=env, cwd=str(site.project.folder))
    answer = probe.probe(engine, engine.plugins.found("uwf.agents", "bad"), 1.0)
    assert "(uwf-agent-bad 1.2) is broken: it did not load within 1 s" in str(answer["reason"])
    assert repair_line("uwf-agent-bad") in str(answer["hint"])


def test_the_checks_of_a_plugin_are_run_by_doctor_and_agent_check(site):
    site.install("uwf-agent-good", "[uwf.agents]\ngood = uwf_agent_good\n", (
        "from uwf_core.api import AgentSpec, Check, CheckResult, hookimpl\n"
        "class Agent:\n"
        "    def __init__(self, options, context): ...\n"
        "    def run(self, request, sink): ...\n"
        "    fork = ask = run\n"
        "    def close(self): ...\n"
        "@hookimpl\ndef uwf_agents():\n"
        "    return [AgentSpec(name='good', summary='s', factory='uwf_agent_good:Agent')]\n"
        "@hookimpl\ndef uwf_checks():\n"
        "    print('noise')\n"
        "    bad = CheckResult(state='error', message='not signed in', hint='sign in')\n"
        "    return [Check(name='login', run=lambda: bad), Check(name='odd', run=lambda: 1 / 0)]\n"
    ))  # fmt: skip
    checked = site.uwf("agent", "check", "good").document
    assert (checked["ready"], checked["reason"]) == (False, "not signed in")
    names = {
        each["name"]: each["state"]
        for each in site.uwf("doctor", UWF_BLOCK_PLUGINS=beside()).document["checks"]
    }
    assert names["agents good: login"] == "error"
    assert names["agents good: odd"] == "error"


def test_a_command_of_a_plugin_looks_through_the_installation_once(uwf, monkeypatch):
    pytest.importorskip("uwf_web")
    seen = []
    folders = scan._metadata_folders
    monkeypatch.setattr(
        scan, "_metadata_folders", lambda entry: seen.append(entry) or folders(entry)
    )
    assert uwf("web", "stop").code == 2
    assert seen == [each or "." for each in sys.path]
