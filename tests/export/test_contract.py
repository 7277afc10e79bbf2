"""The exporters of uwf-export under the contract that every exporter is under."""

import pytest

from uwf_testing.exporter_contract import ExporterContract


class TestAtif(ExporterContract):
    @pytest.fixture
    def exporter(self):
        return "atif"


class TestOtlpJson(ExporterContract):
    @pytest.fixture
    def exporter(self):
        return "otlp-json"


class TestOtlpJsonContent(ExporterContract):
    @pytest.fixture
    def exporter(self):
        return "otlp-json-content"
