"""The walkthrough sees what it is there for; `nox -s walkthrough` runs it on the uwf as it is."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forms import form
from tests.walkthrough.__main__ import walk
from tests.walkthrough.outer import WORKFLOW
from tests.walkthrough.planted import DEFECTS, Defect
from tests.walkthrough.play import play
from tests.walkthrough.site import ROOT, installed_uwf, lay_out
from tests.walkthrough.table import PHASES, REPORT, all_commands, declared, gaps, not_called

from uwf_core.operations.rows import own_commands
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_record import ModelRequest
from uwf_testing.model_server_script import ModelTurn

COMMANDS = own_commands().rows

BY_NAME = {phase.name: phase for phase in PHASES}
QUICK = {"bootstrap", "configuration", "plugins", "store", "reading"}
PLANTED = form(short=[each for each in DEFECTS if each.phase in QUICK], long=DEFECTS)


def test_every_command_of_uwf_has_a_phase() -> None:
    """If this fails, add a check to a phase: README.md of this folder."""
    assert gaps(all_commands()) == []


def test_the_commands_are_those_of_the_table_and_of_plugins() -> None:
    commands = all_commands()
    assert {"run", "cas schema add", "eval compare"} <= commands
    assert COMMANDS.keys() - {command.split()[0] for command in commands} == set()


def test_a_command_without_a_phase_and_a_phase_without_its_command_are_named() -> None:
    commands = declared()
    assert gaps(commands | {"thread juggle"}) == ["no phase exercises `uwf thread juggle`"]
    assert gaps(commands - {"thread rm"}) == [
        "phase cleanup names an unknown command `uwf thread rm`"
    ]
    called = ["thread rm 01M836", "cas schema add"]
    assert not_called(called, {"thread rm", "cas schema add"}) == []
    assert not_called(called, {"thread r", "cas"}) == ["nothing called `uwf thread r`"]


def test_the_workflow_is_valid_and_has_a_role_for_each_phase_in_this_order(tmp_path: Path) -> None:
    def uwf(*words: str) -> "subprocess.CompletedProcess[str]":
        env = {"UWF_HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
        command = [str(installed_uwf()), *words]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=True)

    checked = json.loads(uwf("workflow", "check", str(WORKFLOW)).stdout)
    assert checked == {"valid": True, "problems": []}
    graph = uwf("workflow", "graph", str(WORKFLOW)).stdout
    names = [*BY_NAME, REPORT]
    numbers = [f'    n{number}["{name}"]' for number, name in enumerate(names, 1)]
    assert [line for line in graph.splitlines() if '["' in line] == numbers
    for number in range(1, len(names)):
        for status in ("passed", "failed"):
            assert f'    n{number} -->|"{status}"| n{number + 1}' in graph


def test_each_phase_has_a_planted_defect() -> None:
    assert [each.phase for each in DEFECTS] == list(BY_NAME)
    for each in DEFECTS:
        assert each.command in BY_NAME[each.phase].commands()


@pytest.mark.parametrize("defect", PLANTED, ids=lambda each: each.phase)
def test_a_planted_defect_fails_its_phase(defect: Defect, tmp_path: Path) -> None:
    """The checks of this command; `nox -s walkthrough -- --planted` runs whole walkthroughs."""
    phase = BY_NAME[defect.phase]
    broken = lay_out(tmp_path, {defect.command: defect.instead})
    findings = play(phase, broken, lambda line: None, [defect.command]).findings
    assert findings
    assert all(f"`uwf {defect.command}`" in each for each in findings), findings


def test_a_model_plays_the_phases_and_is_not_believed_where_it_called_nothing(
    tmp_path: Path,
) -> None:
    """The builtin agent plays all roles on a scripted model: it runs the checks of a phase with a
    broken command, says of the other phases that they passed, and writes the report.
    """
    shell = {
        "name": "run_command",
        "arguments": {"command": "./phase store walk", "timeout_seconds": 300},
    }
    report = {
        "name": "run_command",
        "arguments": {"command": "./phase report", "timeout_seconds": 300},
    }
    told = [f"---\n$status: passed\ncommands: []\nseconds: 0\n---\n{name}" for name in BY_NAME]
    place = list(BY_NAME).index("store")
    script = [*told[:place], {"toolCalls": [shell]}, delivers_json, *told[place + 1 :],
              {"toolCalls": [report]}, delivers_json]  # fmt: skip
    defect = DEFECTS[place]
    site = lay_out(tmp_path / "walk", {defect.command: defect.instead})
    with ScriptedModel(script) as model:
        thread = walk(site, "player", home_for(tmp_path / "home", model), subprocess.DEVNULL)
        assert model.turns_left == 0
    failed = [name for name, status in thread.results().items() if status != "passed"]
    assert failed == ["store", "report"]
    text = site.report.read_text()
    assert text.startswith("# Walkthrough: FAILED\n")
    assert "| store | failed |" in text
    assert "| cleanup | passed |" in text
    assert "- `uwf cas walk " in text
    assert "- nothing called `uwf thread start`" in text
    assert "nothing called `uwf cas walk`" not in text


def delivers_json(request: ModelRequest) -> ModelTurn:
    """The JSON that a command printed, as frontmatter."""
    content = request.messages[-1]["content"]
    printed = re.search(r"^\{.*^\}", content, re.DOTALL | re.MULTILINE)
    assert printed, content
    document = json.dumps(json.loads(printed[0]))
    return ModelTurn(text=f"---\n{document}\n---\n")


def home_for(home: Path, model: ScriptedModel) -> Path:
    """A home in which `player` is the builtin agent on this model."""
    home.mkdir()
    settings = {
        "providers": {"here": {"baseUrl": model.openai_url}},
        "models": {"scripted": {"provider": "here", "name": "scripted-model"}},
        "defaultModel": "scripted",
        "agents": {"player": {"use": "builtin", "options": {"allowShell": "workspace"}}},
    }
    (home / "config.yaml").write_text(json.dumps(settings))
    return home


def test_the_program_lists_the_phases_to_someone_who_names_none(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.walkthrough.play", "juggling"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "the phases: bootstrap, configuration" in done.stderr
