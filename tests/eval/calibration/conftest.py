"""Lets the tests of this folder share `calibration_kit.py`."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from calibration_kit import Desk

from uwf_testing.model_server import ScriptedModel
from uwf_testing.model_server_script import ModelScript


@pytest.fixture
def desk(tmp_path, monkeypatch, capsys):
    """A task with a judge that asks a model, and the model that a test describes."""
    made = Desk(tmp_path, capsys)
    monkeypatch.setenv("UWF_HOME", str(made.home))
    monkeypatch.chdir(made.folder)
    script = ModelScript(turns=(made.answer,), repeat=True)
    with ScriptedModel(script=script) as model:
        made.configure(model.openai_url)
        yield made
