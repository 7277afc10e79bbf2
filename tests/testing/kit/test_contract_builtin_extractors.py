"""The extractor of the house under the contract that every extractor is under."""

import pytest

from uwf_core.testing.mock_script import frontmatter
from uwf_testing.extractor_contract import ExtractorContract


class TestFrontmatter(ExtractorContract):
    @pytest.fixture
    def extractor(self):
        return "frontmatter"

    @pytest.fixture
    def write(self):
        return frontmatter
