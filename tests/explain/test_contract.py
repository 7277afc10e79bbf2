"""The exporters of uwf-explain under the contract that every exporter is under."""

import pytest

from uwf_testing.exporter_contract import ExporterContract


class TestHtml(ExporterContract):
    @pytest.fixture
    def exporter(self):
        return "html"


class TestMarkdown(ExporterContract):
    @pytest.fixture
    def exporter(self):
        return "markdown"
