"""The extractor of the house under the contract that every extractor is under."""

import pytest

from uwf_core.testing.extractor_contract import ExtractorContract
from uwf_core.testing.mock_script import frontmatter


class TestFrontmatter(ExtractorContract):
    @pytest.fixture
    def extractor(self):
        return "frontmatter"

    @pytest.fixture
    def write(self):
        return frontmatter
