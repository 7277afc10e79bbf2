"""The contracts of every wrong extractor and judge; test_wrong_others.py runs it."""

import json
import os

import pytest
from folders import tmp_path
from kit_others.names import EXPORTERS, EXTRACTORS, IN_OWN_FORMAT, JUDGES, TOOLS
from short_form import shortened

from uwf_core.api import JudgeRequest
from uwf_testing.exporter_contract import ExporterContract
from uwf_testing.extractor_contract import ExtractorContract
from uwf_testing.judge_contract import JudgeContract
from uwf_testing.tool_contract import ToolContract

__all__ = ["tmp_path"]


class Extractors:
    seconds = 3.0  # a loaded machine needs half a second for a right one

    @pytest.fixture
    def extractor(self):
        return type(self).__name__.removeprefix("Test_")

    @pytest.fixture
    def write(self):
        return lambda output, body: f"{body}\n{json.dumps(output)}"


class InOwnFormat(Extractors):
    @pytest.fixture
    def write(self):
        return lambda output, body: f"{body}\n@@{json.dumps(output)}"


class Here:
    stop_seconds = seconds = 2.0

    @pytest.fixture(autouse=True)
    def here(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)


class Tools(Here):
    @pytest.fixture
    def tool(self):
        return type(self).__name__.removeprefix("Test_")

    @pytest.fixture
    def arguments(self):
        return {"path": "README.md"}

    @pytest.fixture
    def failing(self):
        return {"path": "none.md"}

    @pytest.fixture
    def slow(self):
        return {"path": "slow"}


class Exporters(Here):
    @pytest.fixture
    def exporter(self):
        return type(self).__name__.removeprefix("Test_")


class Judges(Here):
    @pytest.fixture
    def judge(self):
        return type(self).__name__.removeprefix("Test_")

    @pytest.fixture
    def worse(self, tmp_path):
        folder = tmp_path / "worse"
        folder.mkdir()
        return JudgeRequest(cwd=str(folder), thread="01JD0000000000000000000000", record={})

    @pytest.fixture
    def slow(self, tmp_path):
        folder = tmp_path / "takes long"
        folder.mkdir()
        (folder / "slow").touch()
        return JudgeRequest(cwd=str(folder), thread="01JD", record={})

    @pytest.fixture
    def hopeless(self, tmp_path):
        return JudgeRequest(cwd=str(tmp_path / "gone"), thread="01JD", record={})


def _contracts():
    for name, clause in EXTRACTORS.items():
        fixtures = InOwnFormat if name in IN_OWN_FORMAT else Extractors
        yield name, clause, fixtures, ExtractorContract
    kinds = (
        (JUDGES, Judges, JudgeContract),
        (TOOLS, Tools, ToolContract),
        (EXPORTERS, Exporters, ExporterContract),
    )
    for names, fixtures, contract in kinds:
        yield from ((*each, fixtures, contract) for each in names.items())


part, parts = map(int, os.environ.get("KIT_PART", "0/1").split("/"))
for name, clause, fixtures, contract in list(_contracts())[part::parts]:
    found = type(f"Test_{name}", (fixtures, contract), {})
    globals()[found.__name__] = shortened(found, (clause,) if clause else ())
