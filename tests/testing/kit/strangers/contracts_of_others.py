"""The contracts of every wrong extractor and judge; test_wrong_others.py runs it."""

import json

import pytest
from folders import tmp_path
from kit_others.names import EXTRACTORS, JUDGES

from uwf_core.api import JudgeRequest
from uwf_testing.extractor_contract import ExtractorContract
from uwf_testing.judge_contract import JudgeContract

__all__ = ["tmp_path"]


class Extractors:
    seconds = 0.5

    @pytest.fixture
    def extractor(self):
        return type(self).__name__.removeprefix("Test_")

    @pytest.fixture
    def write(self):
        return lambda output, body: f"{body}\n{json.dumps(output)}"


class Judges:
    @pytest.fixture
    def judge(self):
        return type(self).__name__.removeprefix("Test_")

    @pytest.fixture
    def worse(self, tmp_path):
        folder = tmp_path / "worse"
        folder.mkdir()
        return JudgeRequest(cwd=str(folder), thread="01JD0000000000000000000000", record={})

    @pytest.fixture
    def hopeless(self, tmp_path):
        return JudgeRequest(cwd=str(tmp_path / "gone"), thread="01JD", record={})


for name in EXTRACTORS:
    globals()[f"Test_{name}"] = type(f"Test_{name}", (Extractors, ExtractorContract), {})
for name in JUDGES:
    globals()[f"Test_{name}"] = type(f"Test_{name}", (Judges, JudgeContract), {})
