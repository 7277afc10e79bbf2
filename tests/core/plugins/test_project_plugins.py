"""Plugins of a project: single files in `.uwf/plugins/`, which run once the project is trusted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.beside import beside

from uwf_core.errors import PluginBroken
from uwf_core.plugins.plugins import Plugins
from uwf_core.plugins.project_plugins import scan_project
from uwf_core.plugins.scan import AGENTS
from uwf_core.testing.project import Project

WORKFLOW = """
version: 1
name: short
description: one role
roles:
  writer:
    goal: write
    frontmatter: {properties: {$status: {const: done}, word: {type: string}}, required: [$status]}
graph:
  $START: {new: {role: writer, prompt: Write.}, resume: {role: writer, prompt: Again.}}
  writer: {done: {role: $END, prompt: Finished.}}
"""

AGENT = """
from dataclasses import dataclass
from uwf_core.api import AgentReply, AgentSpec, Continuation, hookimpl

@hookimpl
def uwf_agents():
    return [AgentSpec(
        name="echo", summary="repeats", factory=f"{__name__}:Echo", options=f"{__name__}:Options",
        capabilities=frozenset(("continue", "ask")),
    )]

@dataclass
class Options:
    word: str = "hello"

class Echo:
    def __init__(self, options, context):
        self.word = options.word

    def run(self, request, sink):
        return AgentReply(structured={"$status": "done", "word": self.word}, session="s")

    def fork(self, session, request):
        raise NotImplementedError

    def ask(self, request, sink):
        return AgentReply(text=f"I said {self.word}", session="s")

    def close(self):
        pass
"""

OBSERVER = """
import sys
from uwf_core.api import hookimpl

@hookimpl
def uwf_step_finished(event):
    print("observed", event.role, file=sys.stderr)
"""

COMMAND = '''
from uwf_core.commands import command

@command("greet", "uwf greet")
def main(session):
    """Greet."""
    session.emit({"word": "hello"}, lambda document, screen: document["word"])
'''


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path)
    made.workflow("short", WORKFLOW)
    return made


def add(project: Project, file: str, code: str, *, trusted: bool = True) -> Path:
    path = project.folder / ".uwf" / "plugins" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(code)
    if trusted:  # as `uwf config trust` does
        project.trust()
    return path


def listed(project: Project, *words: str) -> dict[str, dict]:
    rows = project.uwf("plugin", "list", *words).document["plugins"]
    return {f"{row['group']} {row['name']}": row for row in rows if row["file"]}


def test_a_file_of_a_trusted_project_is_an_agent_like_an_installed_one(project):
    file = add(project, "agents/echo.py", AGENT)
    row = listed(project)["uwf.agents echo"]
    assert (row["status"], row["distribution"], row["version"]) == ("ready", ".uwf/plugins", None)
    assert row["file"] == str(file)
    done = project.uwf("run", "short", "-p", "x", "--agent", "echo").document
    assert done["steps"][0]["agent"] == "echo"
    assert "hello" in project.uwf("step", "read", done["steps"][0]["step"]).stdout
    asked = project.uwf("step", "ask", done["steps"][0]["step"], "-p", "why?")
    assert "I said hello" in asked.stdout, asked.stderr


def test_its_options_come_from_the_configuration_and_are_checked(project):
    add(project, "agents/echo.py", AGENT)
    project.config("agents: {loud: {use: echo, options: {word: HELLO}}}\n")
    done = project.uwf("run", "short", "-p", "x", "--agent", "loud").document
    assert "HELLO" in project.uwf("step", "read", done["steps"][0]["step"]).stdout
    assert project.uwf("agent", "check", "loud").document["distribution"].endswith("agents/echo.py")
    wrong = project.uwf("config", "set", "agents.loud.options", "{wrod: x}")
    assert (wrong.exit_code, wrong.error["hint"]) == (2, "did you mean 'word'?")


def checks_of(project, *kept):
    """What `doctor` says about the project, without the distributions beside it."""
    blocked = {"UWF_BLOCK_PLUGINS": beside(*kept)}
    return project.uwf("doctor", env=blocked).document["checks"]


def test_processes_that_uwf_starts_find_it_too(project):
    add(project, "agents/echo.py", AGENT)
    thread = project.uwf("thread", "start", "short", "-p", "x").document["thread"]
    words = ("--agent", "echo", "--until-done", "--background")
    assert project.uwf("thread", "exec", thread, *words).exit_code == 0
    assert project.uwf("thread", "wait", thread).document["status"] == "completed"
    checked = project.uwf("plugin", "check", "echo").document["plugins"][0]
    assert (checked["status"], checked["summary"]) == ("ready", "repeats")
    checks = checks_of(project)
    assert {"name": "agents echo", "state": "ok", "message": ".uwf/plugins/agents/echo.py",
            "hint": None} in checks  # fmt: skip


def test_it_is_found_from_below_the_project(project):
    add(project, "agents/echo.py", AGENT)
    below = project.folder / "a" / "b"
    below.mkdir(parents=True)
    done = subprocess.run(
        project.command("agent", "check", "echo"), cwd=below, env=project.env, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_an_observer_and_a_command_of_a_project_work(project):
    add(project, "observers/audit.py", OBSERVER)
    add(project, "commands/greet.py", COMMAND)
    add(project, "agents/echo.py", AGENT)
    assert "observed writer" in project.uwf("run", "short", "-p", "x", "--agent", "echo").stderr
    assert project.uwf("greet", "--format", "text").stdout == "hello\n"
    assert "greet" in project.uwf("--help").stdout
    assert "greet" in project.uwf("__complete", "bash", "1", "uwf", "gr").stdout
    assert project.uwf("plugin", "check", ".uwf/plugins").exit_code == 0


def started(project: Project) -> list[str]:
    """The observers of a run, in the order in which they start."""
    said = project.uwf("run", "short", "-p", "x", "--agent", "echo").stderr
    return [line.split()[1] for line in said.splitlines() if line.startswith("starts")]


def test_observers_start_in_the_order_of_the_configuration_then_by_name(project):
    add(project, "agents/echo.py", AGENT)
    for name in "abcd":
        add(project, f"observers/{name}.py", f"{OBSERVER}\nprint('starts', {name!r})\n")
    assert started(project) == ["a", "b", "c", "d"]
    assert project.uwf("config", "set", "plugins.order", "[d, b]").exit_code == 0
    assert started(project) == ["d", "b", "a", "c"]
    assert project.uwf("config", "get", "plugins").document["value"]["order"] == ["d", "b"]
    project.uwf("config", "set", "--add", "plugins.block", "d")
    assert started(project) == ["b", "a", "c"]
    assert project.uwf("config", "set", "plugins.order", "[d, b]").exit_code == 0, "it is installed"


def test_an_unknown_observer_in_the_order_is_reported_and_stops_no_run(project):
    add(project, "agents/echo.py", AGENT)
    file = add(project, "observers/audit.py", OBSERVER)
    refused = project.uwf("config", "set", "plugins.order", "[audti]")
    assert (refused.exit_code, refused.error["message"]) == (2, "unknown observer 'audti'")
    assert "audit" in refused.error["hint"]
    assert project.uwf("config", "set", "plugins.order", "[audit]").exit_code == 0
    file.unlink()
    checks = checks_of(project)
    (fault,) = [each for each in checks if each["name"] == "names"]
    assert "plugins.order" in fault["message"] and "unknown observer 'audit'" in fault["message"]
    assert project.uwf("run", "short", "-p", "x", "--agent", "echo").exit_code == 0


def test_loading_leaves_no_trace_in_the_project_and_on_the_import_path(project):
    code = "import sys\nsys.stderr.write(f'path: {sys.path}')\n"
    before = subprocess.run(
        [sys.executable, "-P", "-c", code], env=project.env, capture_output=True, text=True
    ).stderr
    add(project, "agents/echo.py", f"{code}{AGENT}")
    assert before in project.uwf("run", "short", "-p", "x", "--agent", "echo").stderr
    assert [each.name for each in project.folder.rglob("*.py*")] == ["echo.py"]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("agents/echo.py", ("run", "short", "-p", "x", "--agent", "echo")),
        ("agents/echo.py", ("thread", "start", "short", "-p", "x", "--agent", "echo")),
        ("agents/echo.py", ("agent", "check", "echo")),
        ("agents/echo.py", ("plugin", "check", "echo")),
        ("commands/greet.py", ("greet",)),
        ("extractors/own.py", ("config", "set", "extractors", "[own]")),
    ],
)
def test_a_name_of_an_untrusted_project_is_an_error_with_the_command_that_trusts(
    project, file, words
):
    add(project, file, "raise SystemExit('it ran')", trusted=False)
    done = project.uwf(*words)
    said = done.stdout + done.stderr
    assert f"uwf config trust {project.folder}" in said
    assert done.exit_code == (6 if words[:2] == ("agent", "check") else 2)
    assert "it ran" not in said
    assert project.uwf("thread", "list").document["threads"] == []


def test_an_untrusted_project_is_listed_and_reported_and_takes_no_names(project, tmp_path):
    for group in ("agents", "observers", "commands"):
        add(project, f"{group}/greet.py", "raise SystemExit('it ran')", trusted=False)
    rows = listed(project)
    assert {row["status"] for row in rows.values()} == {"untrusted"}
    assert f"uwf config trust {project.folder}" in rows["uwf.agents greet"]["reason"]
    assert "greet" not in project.uwf("--help").stdout
    project.script([{"role": "writer", "output": {"$status": "done"}}])
    done = project.uwf("run", "short", "-p", "x")
    assert done.exit_code == 0
    assert "the observer greet of .uwf/plugins/observers/greet.py is untrusted" in done.stderr
    checks = {each["name"]: each for each in checks_of(project)}
    assert checks["agents greet"]["state"] == "warning"
    program = tmp_path / "bin" / "uwf-greet"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    path = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    found = project.uwf("agent", "check", "greet", env=path).document
    assert (found["kind"], found["ready"]) == ("command", True)


def test_an_untrusted_project_takes_no_name_from_an_installed_plugin(project):
    add(project, "agents/builtin.py", "raise SystemExit('it ran')", trusted=False)
    rows = project.uwf("plugin", "list").document["plugins"]
    statuses = {each["distribution"]: each["status"] for each in rows if each["name"] == "builtin"}
    assert statuses == {".uwf/plugins": "untrusted", "uwf-agent-builtin": "ready"}
    found = project.uwf("agent", "check", "builtin").document
    assert found["distribution"].startswith("uwf-agent-builtin")


def test_another_repository_at_the_same_place_is_not_trusted(project):
    add(project, "agents/echo.py", AGENT)
    (project.folder / ".git").mkdir()
    assert listed(project)["uwf.agents echo"]["status"] == "ready"
    project.folder.rename(project.folder.with_name("aside"))
    project.folder.mkdir()
    add(project, "agents/echo.py", AGENT, trusted=False)
    assert listed(project)["uwf.agents echo"]["status"] == "untrusted"


UNUSABLE = {
    "agents/mock.py": ("shadowed", "'mock' is a name of uwf-core"),
    "commands/run.py": ("shadowed", "'run' is a name of uwf-core"),
    "agents/builtin.py": ("duplicate", "claimed by .uwf/plugins/agents/builtin.py and by uwf-"),
    "agents/my agent.py": ("broken", "its name 'my agent' is invalid"),
    "agents/__init__.py": ("broken", "its name '__init__' is invalid"),
    "agent/echo.py": ("broken", "move it into a folder of .uwf/plugins: agents, stores"),
    "eval_tasks/echo.py": ("broken", "move it into a folder of .uwf/plugins: agents, stores"),
    "echo.py": ("broken", "move it into a folder of .uwf/plugins: agents, stores"),
}


def test_what_cannot_be_used_is_listed_with_its_reason(project):
    """In one project, since the doctor starts a process for each plugin."""
    for file in UNUSABLE:
        add(project, file, "raise SystemExit('it ran')")
    rows = [*listed(project).values()]
    found = sorted((row["status"], row["reason"]) for row in rows)
    for (status, reason), wanted in zip(found, sorted(UNUSABLE.values()), strict=True):
        assert (status, reason[: len(wanted[1])]) == wanted
    checks = checks_of(project, "uwf-agent-builtin")
    for row in rows:
        checked = project.uwf("plugin", "check", row["name"])
        assert checked.exit_code in (1, 2)
        assert "it ran" not in checked.stdout
        assert any(row["name"] in each["name"] and each["state"] == "error" for each in checks)


def test_it_is_uninstalled_by_removing_its_file(project):
    file = add(project, "agents/echo.py", AGENT)
    assert "uwf.agents echo" in listed(project)
    file.unlink()
    assert listed(project) == {}


@pytest.mark.parametrize("trusted", [True, False])
def test_blocking_applies_to_one_file_or_to_all(project, trusted):
    add(project, "agents/echo.py", AGENT, trusted=trusted)
    for word in ("echo", ".uwf/plugins"):
        rows = project.uwf("plugin", "list", env={"UWF_BLOCK_PLUGINS": word}).document["plugins"]
        assert [each["status"] for each in rows if each["name"] == "echo"] == ["blocked"]


def test_a_file_that_fails_is_reported_with_its_path_and_line(project):
    file = add(project, "agents/echo.py", "import nothing_like_this\n")
    done = project.uwf("run", "short", "-p", "x", "--agent", "echo")
    assert done.exit_code == 1
    checked = project.uwf("plugin", "check", "echo").document["plugins"][0]
    assert (checked["status"], checked["file"]) == ("broken", str(file))
    assert "No module named 'nothing_like_this'" in checked["reason"]
    assert checked["hint"].startswith(f"correct {file}; or block it")
    file.write_text(AGENT.replace('f"{__name__}:Echo"', '"echo:Echo"'))
    checked = project.uwf("plugin", "check", "echo").document["plugins"][0]
    assert "'echo:Echo' is not installed; for a name in its file write" in checked["reason"]
    file.write_text(AGENT.replace("Echo", "Ekho", 1))
    checked = project.uwf("plugin", "check", "echo").document["plugins"][0]
    assert checked["reason"].endswith("is broken: it has no 'Ekho'")
    file.write_text("x = ")
    checked = project.uwf("plugin", "check", "echo").document["plugins"][0]
    assert "importing '.uwf/plugins/agents/echo.py': SyntaxError" in checked["reason"]


def _open_to_all(file: Path, _elsewhere: Path) -> Path:
    file.chmod(0o666)
    return file


def _folder_open_to_all(file: Path, _elsewhere: Path) -> Path:
    file.parent.chmod(0o777)
    return file.parent


def _link(file: Path, elsewhere: Path) -> Path:
    file.unlink()
    file.symlink_to(elsewhere)
    return file


def _link_within_the_project(file: Path, elsewhere: Path) -> Path:
    file.parents[3].joinpath("script.py").write_text(elsewhere.read_text())
    return _link(file, Path("../../../script.py"))


def _loop(file: Path, _elsewhere: Path) -> Path:
    return _link(file, file)


def _link_of_a_folder(file: Path, elsewhere: Path) -> Path:
    folder = file.parents[1]
    folder.rename(elsewhere.parent / "aside")
    folder.symlink_to(elsewhere.parent / "aside")
    return folder


UNSAFE = [
    (_open_to_all, "every user can write to {0}; next: chmod o-w {0}"),
    (_folder_open_to_all, "every user can write to {0}; next: chmod o-w {0}"),
    (_link, "{0} is a symbolic link; replace it by what it leads to"),
    (_link_within_the_project, "{0} is a symbolic link; replace it by what it leads to"),
    (_loop, "{0} is a symbolic link; replace it by what it leads to"),
    (_link_of_a_folder, "{0} is a symbolic link; replace it by what it leads to"),
]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    file = tmp_path / "elsewhere.py"
    file.write_text("raise SystemExit('it ran')")
    return file


@pytest.mark.parametrize(("make_unsafe", "reason"), UNSAFE)
def test_a_file_that_others_can_change_is_not_imported(project, elsewhere, make_unsafe, reason):
    path = make_unsafe(add(project, "agents/echo.py", AGENT), elsewhere)
    row = listed(project)["uwf.agents echo"]
    assert (row["status"], row["reason"]) == ("broken", reason.format(path))
    assert project.uwf("run", "short", "-p", "x", "--agent", "echo").exit_code == 1


@pytest.mark.parametrize(("make_unsafe", "reason"), UNSAFE)
def test_a_file_is_checked_again_when_it_is_imported(project, elsewhere, make_unsafe, reason):
    file = add(project, "agents/echo.py", AGENT)
    plugins = Plugins(project=scan_project(str(project.folder), trusted=True))
    assert plugins.found(AGENTS, "echo").file == str(file)
    path = make_unsafe(file, elsewhere)
    with pytest.raises(PluginBroken) as caught:
        plugins.load(AGENTS, "echo")
    assert caught.value.message.endswith(f"is broken: {reason.format(path)}")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_imported_even_if_the_folder_is_trusted(project):
    file = add(project, "agents/echo.py", AGENT)
    os.chown(file, 12345, -1)
    row = listed(project)["uwf.agents echo"]
    assert (row["status"], row["reason"]) == ("broken", f"{file} belongs to another user")
    for path in (project.folder, file.parent.parent.parent, file.parent.parent, file.parent):
        os.chown(path, 12345, -1)
    assert listed(project)["uwf.agents echo"]["status"] == "ready", "a whole folder was trusted"


FORGED = "x\nnote: all plugins are \u202e\x1b[1mready"


@pytest.mark.parametrize("trusted", [True, False])
def test_a_file_name_of_a_cloned_repository_forges_no_line(project, trusted):
    project.env["UWF_BLOCK_PLUGINS"] = beside()
    for file in (f"observers/{FORGED}.py", f"{FORGED}/echo.py", f"{FORGED}.py"):
        add(project, file, "raise SystemExit('it ran')", trusted=trusted)
    project.script([{"role": "writer", "output": {"$status": "done"}}])
    for words in (
        ("run", "short", "-p", "x"),
        ("plugin", "check", ".uwf/plugins"),
        ("plugin", "list"),
        ("plugin", "list", "--hooks"),
        ("plugin", "uninstall", ".uwf/plugins"),
        ("doctor",),
    ):
        done = project.uwf(*words, "--format", "text")
        said = done.stdout + done.stderr
        assert not any(line.startswith("note: all") for line in said.splitlines()), said
        assert "\u202e" not in said and "\x1b" not in said


def test_a_folder_whose_name_has_a_line_break_forges_no_line(tmp_path):
    project = Project(tmp_path / FORGED)
    project.env["UWF_BLOCK_PLUGINS"] = beside()
    add(project, "agents/echo.py", "import nothing_like_this\n")
    for words in (("plugin", "check", "echo"), ("agent", "check", "echo"), ("doctor",)):
        done = project.uwf(*words, "--format", "text")
        assert "nothing_like_this" in done.stdout + done.stderr
        lines = (done.stdout + done.stderr).splitlines()
        assert not any(line.startswith("note: all") for line in lines), lines


def test_a_summary_of_several_lines_is_printed_on_one(project):
    add(project, "agents/echo.py", AGENT.replace("repeats", "repeats\\nagents safe: ready"))
    said = project.uwf("plugin", "check", "echo", "--format", "text").stdout
    assert "  repeats agents safe: ready\n" in said


def test_two_projects_of_one_process_have_their_own_plugins(tmp_path):
    projects = [Project(tmp_path / name) for name in ("one", "two")]
    words = []
    for number, project in enumerate(projects):
        project.workflow("short", WORKFLOW)
        add(project, "agents/echo.py", AGENT.replace('"hello"', f'"word {number}"'))
        with project.client() as client:
            started = client.start("short", "x", agent="echo")
            client.exec(started["thread"])
            step = client.steps(started["thread"])[-1]["step"]
            words.append(client.step(step)["output"]["word"])
    assert words == ["word 0", "word 1"]


def test_a_folder_with_plugins_alone_is_a_project_and_config_path_prints_it(project):
    file = add(project, "agents/echo.py", AGENT)
    document = project.uwf("config", "path").document
    assert document["plugins"] == str(file.parent.parent)
    assert (document["project"], document["trusted"]) == (None, True)
