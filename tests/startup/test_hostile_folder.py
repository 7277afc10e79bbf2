"""A cloned repository runs nothing by being there: no command imports a module of its folder, or a
plugin in `.uwf/plugins/` before the user trusts it.
"""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from levels import CALLS
from startup_kit import Place

from uwf_core.cli.main import Root
from uwf_core.cli.session import Session

HOSTILE = (
    "uwf_core",
    "uwf_eval",
    "uwf_improve",
    "uwf_worker",
    "click",
    "sitecustomize",
    "usercustomize",
    "json",
    "typing",
)
PLUGINS = {
    "agents": ("mock", "human", "builtin", "evil"),
    "stores": ("sqlite", "evil"),
    "extractors": ("frontmatter", "llm", "evil"),
    "judges": ("command", "evil"),
    "tools": ("evil",),
    "observers": ("evil",),
    "commands": ("run", "eval", "evil"),
    "eval_tasks": ("evil",),
}
"""Plugins of the project: names of uwf, of installed distributions, and of nobody else."""
PROGRAMS = ("uwf", "uwf-eval", "uwf-builtin", "uwf-claude-code", "uwf-hermes")

FURTHER = (
    "thread exec {thread} --background --until-done",
    "thread resume {done} -p more --background",
    "run {workflow} -p task --background",
    "agent check builtin",
    "agent check claude-code",
    "agent check hermes",
    "plugin check builtin",
    "plugin check claude-code",
    "plugin check hermes",
    "plugin check eval",
    "plugin list --hooks",
    "doctor",
    "thread exec {thread} --agent evil",
    "step ask {step} -p why --agent evil",
    "thread compact {thread} --agent evil",
    "agent check evil",
    "plugin check evil",
    "plugin check .uwf/plugins",
    "config set agents.a {{use: evil}}",
    "config set extractors [evil]",
    "config set store evil:place",
    "evil",
    "evil --help",
    "help",
)
"""Further ways of the commands that start processes."""

EVAL = {
    "new": ("task",),
    "check": ("task",),
    "calibrate": ("tasks/quality", "--dry-run"),
    "run": ("task", "--repeat", "2", "--budget", "1trials", "--name", "first"),
    "resume": ("first", "--budget", "9trials"),
    "report": ("first",),
    "list": (),
    "show": ("first/1",),
    "compare": ("first", "first"),
    "export": ("first/1", "-o", "trial.tar"),
}
"""The commands of `uwf eval`, in an order that works."""


SESSION = Path(__file__).parents[1] / "improve/distill/sessions/hermes-fix.jsonl"
IMPROVE = {
    "reflect": ("pair",),
    "propose": ("pair.yaml", "--text", "graph.$START.new.prompt=Go on."),
    "seal": ("set", "tasks", "--sealed", "12", "--repeat", "1"),
    "try": ("@last", "--set", "set"),
    "decide": ("@last", "--set", "set", "--dry-run"),
    "open": ("set",),
    "list": (),
    "show": ("@last",),
    "report": ("@last", "--apply", "--untested"),
}
"""The commands of `uwf improve`, in an order that works."""
WORKER = {"start": (), "status": (), "drain": ("--all",), "migrate": ()}
"""The commands of `uwf worker`, which reject a store in a file."""
TASKS = {
    "version": 1,
    "name": "tasks",
    "workflow": "pair",
    "agent": "sh -c 'echo no reply'",
    "cases": [{"name": f"c{number}", "prompt": f"Go {number}."} for number in range(13)],
    "judges": [
        {"name": "form", "builtin": "frontmatter-compliance"},
        {"name": "quality", "builtin": "rubric", "weight": 0, "calibration": "set.yaml"},
    ],
}
LABELLED = {"items": [{"name": f"i{n}", "result": "r", "gold": n} for n in range(2)]}


def tree(command: click.Command, words: tuple[str, ...] = ()) -> set[str]:
    """Every command below one, as a user types it."""
    context = click.Context(command, info_name="uwf", obj=Session())
    if not isinstance(command, click.Group):
        return {" ".join(words)}
    found = ((name, command.get_command(context, name)) for name in command.list_commands(context))
    return {path for name, each in found if each for path in tree(each, (*words, name))}


@pytest.fixture
def executed(place, tmp_path) -> Path:
    """The project with modules and plugins that write in this file that they were executed."""
    file = tmp_path / "executed"
    plugins = [f".uwf/plugins/{group}/{name}" for group in PLUGINS for name in PLUGINS[group]]
    for name in (*HOSTILE, *plugins):
        code = f"with open({str(file)!r}, 'a') as file:\n    print({name!r}, file=file)\n"
        module = place.project / f"{name}.py"
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(code, encoding="utf-8")
    return file


def test_the_plugins_here_would_be_executed_in_a_trusted_folder(place: Place, executed):
    place.uwf("config", "trust", ".")
    for words in ("thread exec {thread} --agent evil", "evil"):
        place.uwf(*words.format(**place.words).split())
        assert executed.exists()
        executed.unlink()


def test_every_command_is_tried_here():
    tried = {call.command for call in CALLS} | {f"eval {name}" for name in EVAL} | {"acp", "web"}
    tried |= {"mcp"}
    tried |= {f"improve {name}" for name in IMPROVE} | {f"worker {name}" for name in WORKER}
    tried |= {"distill"}
    assert tree(Root()) - tried == set()


@pytest.mark.parametrize("words", [*dict.fromkeys([each.words for each in CALLS] + [*FURTHER])])
def test_no_command_executes_a_module_of_its_folder(words, place: Place, executed):
    done = place.uwf(*(word.format(**place.words) for word in words.split()))
    if "--background" in words:
        place.uwf("thread", "wait", "@last")
    assert not executed.exists(), f"{executed.read_text()}: {done.stderr}"


@pytest.mark.parametrize(
    ("group", "commands"),
    [("eval", EVAL), ("improve", IMPROVE), ("worker", WORKER)],
)
def test_no_command_of_a_group_executes_a_module_of_its_folder(
    group, commands, place: Place, executed
):
    (place.project / "tasks").mkdir()
    (place.project / "tasks" / "task.yaml").write_text(json.dumps(TASKS))
    (place.project / "tasks" / "set.yaml").write_text(json.dumps(LABELLED))
    for key, value in (
        ("providers.none", '{baseUrl: "http://127.0.0.1:9/v1"}'),
        ("models.none", "{provider: none, name: none}"),
        ("modelOverrides.judge", "none"),
    ):
        assert place.uwf("config", "set", key, value).returncode == 0
    for name, words in commands.items():
        done = place.uwf(group, name, *words)
        assert not executed.exists(), f"{name}: {executed.read_text()}"
        codes = (2,) if group == "worker" else (0, 5)
        assert done.returncode in codes, f"{name}: {done.stderr}"


def test_distilling_a_session_executes_no_module_of_its_folder(place: Place, executed):
    done = place.uwf("distill", str(SESSION), "-o", "draft")
    assert not executed.exists(), executed.read_text()
    assert done.returncode == 0, done.stderr


def test_the_pages_execute_no_module_of_their_folder(place: Place, executed):
    words = [Path(sys.executable).with_name("uwf"), "web", "--port", "0"]
    env, pipe = place.environment, subprocess.PIPE
    with subprocess.Popen(words, cwd=place.project, env=env, stdout=pipe) as web:
        assert web.stdout is not None
        assert web.stdout.readline()  # the link: everything is loaded
        stopped = place.uwf("web", "stop")
        assert stopped.returncode == 0, stopped.stderr
        web.stdout.read()
    assert not executed.exists(), executed.read_text()


def test_a_session_of_an_editor_executes_no_module_of_its_folder(place: Place, executed):
    uwf = Path(sys.executable).with_name("uwf")
    folder = {"cwd": str(place.project), "mcpServers": []}
    calls = ("initialize", {"protocolVersion": 1}), ("session/new", folder)
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + "\n"
        for id_, (method, params) in enumerate(calls)
    ]
    done = subprocess.run(
        [uwf, "acp"], cwd=place.project, env=place.environment, input="".join(lines),
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2, done.stdout
    assert not executed.exists(), executed.read_text()


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_program_executes_a_module_of_its_folder(program, place: Place, executed):
    run([str(Path(sys.executable).with_name(program)), "--help"], place)
    assert not executed.exists(), executed.read_text()


@pytest.mark.parametrize("module", ["uwf_core", "uwf_eval"])
def test_python_m_executes_nothing_but_a_module_of_that_very_name(module, place: Place, executed):
    """What comes first on the path of `python -m MODULE` is Python's choice; `-P` changes it."""
    run([sys.executable, "-P", "-m", module, "--help"], place)
    assert not executed.exists(), executed.read_text()
    (place.project / f"{module}.py").unlink()
    run([sys.executable, "-m", module, "--help"], place)
    assert not executed.exists(), executed.read_text()


def run(command: list[str], place: Place) -> None:
    done = subprocess.run(
        command, cwd=place.project, env=place.environment, stdin=subprocess.DEVNULL,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
