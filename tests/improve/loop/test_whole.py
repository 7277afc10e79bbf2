"""A whole improvement of the example, offline, with a scripted model: from recorded threads to the
applied patch, in one command that can be killed anywhere.
"""

import json
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.forms import form

from uwf_core.client import Client
from uwf_eval.store.results import Results
from uwf_improve.edit.catalog import Edits
from uwf_improve.sealed.catalog import Sets
from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelScript, ModelTurn

EXAMPLE = Path(__file__).parents[3] / "examples" / "improve"
LINE = "Name the source of each number."
EDIT = {
    "$status": "drafted",
    "edits": [{"place": "roles.writer.procedure", "text": f"1. Read the topic.\n2. {LINE}\n"}],
    "findings": [1],
    "why": "The reviewer sends notes back because they lack sources.",
}
KILLED = form(short=(), long=(31, 32, 33, 34, 35, 36))
"""The long form kills the example at random moments; README.md has the table."""


@pytest.fixture
def model(tmp_path: Path) -> Iterator[ScriptedModel]:
    """A model that drafts the edit whenever it is asked, in the configuration of the example."""
    turn = ModelTurn(text=f"---\n{json.dumps(EDIT)}\n---\n")
    with ScriptedModel(script=ModelScript(turns=(turn,), repeat=True)) as server:
        home = tmp_path / "place" / "home"
        home.mkdir(parents=True, mode=0o700)
        (home / "config.yaml").write_text(
            f"providers: {{mine: {{baseUrl: {server.openai_url}, apiKey: sk-key}}}}\n"
            "models: {large: {provider: mine, name: model-9}}\ndefaultModel: large\n"
        )
        yield server


def started(tmp_path: Path) -> "subprocess.Popen[str]":
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {"PATH": path, "HOME": str(tmp_path), "TOPICS": "13", "AGENT": "builtin"}
    command = ["sh", str(EXAMPLE / "run.sh"), str(tmp_path / "place")]
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        start_new_session=True,
    )  # fmt: skip


def check_applied(tmp_path: Path) -> None:
    """The patch is applied and nothing else is changed; it was tested once."""
    place = tmp_path / "place"
    old, new = (EXAMPLE / "note.yaml").read_text(), (place / "project" / "note.yaml").read_text()
    changed = [line for line in new.splitlines() if line not in old.splitlines()]
    assert len(changed) == 1 and LINE in changed[0]
    env = {"UWF_HOME": str(place / "home"), "HOME": str(tmp_path)}
    with Client.open(env=env, cwd=place / "project") as client:
        assert [state for _, state in Edits(client).all()] == ["applied"]
        record = Sets(client).read("notes")
        assert [(each.number, each.verdict) for each in record.tests] == [(1, "accepted")]
        runs = {each.name: each.trials for each in Results(client).runs()}
    assert runs.pop("notes.test.1") == 24 and list(runs.values()) == [2]


def test_one_command_improves_the_example_and_a_second_call_changes_nothing(tmp_path, model):
    for _ in range(2):
        process = started(tmp_path)
        said, _ = process.communicate()
        assert process.returncode == 0, said
        assert len(model.requests) == 1
    check_applied(tmp_path)


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", KILLED)
def test_the_command_can_be_killed_anywhere(tmp_path, model, seed):
    chance, kills = random.Random(seed), 0
    while True:
        process = started(tmp_path)
        try:
            said, _ = process.communicate(timeout=chance.uniform(0.5, 8))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            kills += 1
            continue
        assert process.returncode == 0, said
        break
    check_applied(tmp_path)
    env = {**os.environ, "UWF_HOME": str(tmp_path / "place" / "home")}
    verified = subprocess.run(
        [Path(sys.executable).with_name("uwf"), "cas", "verify"], env=env, capture_output=True
    )
    assert verified.returncode == 0, verified.stdout
    print(f"seed {seed}: {kills} kills")
